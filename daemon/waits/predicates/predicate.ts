/**
 * A predicate is one row of `PREDICATES` (`predicateTable.ts`), from which the types of a request, the schema of the
 * native API with its OpenAPI description, the flags of the command line, and the text of results and timeouts derive.
 *
 * A predicate is stateless. Its state within one wait is what `arm` returns; it changes that as it learns something and
 * then calls `context.changed()`. Its file imports types and schemas only: the command line loads all of them for the
 * flags.
 */
import type * as v from "valibot";
import type { AppError } from "../../../protocol/errors.ts";
import type { OutputSource } from "../../tmux/outputSource.ts";
import type { MarkHandlers } from "../../panes/vt/streamMarks.ts";
import type { Clock } from "../../time/clock.ts";
import type { Scheduler } from "../../time/scheduler.ts";
import type { FoundText, WatchOwner } from "../text/patternWatch.ts";
import type { RegexAnalysis } from "../regex/regexAnalysis.ts";
import type { WaitLimits } from "../waitLimits.ts";
import type { WaitPane } from "../waitPane.ts";
import type { CheckedPattern, WaitPattern } from "../waitPattern.ts";

/** What a predicate must know of its target. */
export interface TargetState {
  readonly nowMs: number;
  readonly registeredMs: number;
  /** -Infinity before the first output. */
  readonly lastOutputMs: number;
  /** When the program ended; undefined while it runs. */
  readonly exitedMs: number | undefined;
  readonly isGone: boolean;
}

export interface Predicate<
  Field extends string = string,
  Schema extends v.GenericSchema = v.GenericSchema,
  Checked = unknown,
  Armed = unknown,
  Prepared extends Partial<Disposable> = Partial<Disposable>,
> {
  /** In results and progress. */
  readonly name: string;
  /** In requests. */
  readonly field: Field;
  /** From what a client sends to what a request holds; described for OpenAPI. */
  readonly schema: Schema;
  /** On the command line, in the order of the help. */
  readonly flags: readonly PredicateFlag[];
  /** What these flags ask for, as a client sends it; more than one can only be alternatives. */
  asked(given: GivenFlags): readonly v.InferInput<Schema>[];
  /** At the door. Undefined: not asked for. @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
  check(value: v.InferOutput<Schema>, door: Door): Checked | undefined;
  /** What must be compiled before the wait is armed. */
  regexes?(checked: Checked): readonly RegexAnalysis[];
  /** What must be known before anything is typed; disposed of when the wait is over. @throws AppError (rejects) */
  prepare?(checked: Checked, pane: WaitPane): Promise<Prepared>;
  /** In the turn in which the wait begins. `prepared` is undefined when the caller could not wait for it. @throws AppError */
  arm(checked: Checked, context: ArmContext, prepared: Prepared | undefined): Armed;
  /** When it will hold if nothing more happens: `nowMs` or earlier when it holds, undefined when something is missing. */
  dueMs(armed: Armed, state: TargetState): number | undefined;
  /** For `details.predicates` of a TIMEOUT: whether it holds, or an object with `satisfied`. */
  progress(armed: Armed, state: TargetState): unknown;
  /** The text or place that satisfied it. */
  found?(armed: Armed): FoundText | undefined;
}

/** Infers the types of a row, and hides its private ones. */
export const predicate = <
  const Field extends string,
  Schema extends v.GenericSchema,
  Checked,
  Armed,
  Prepared extends Partial<Disposable> = Partial<Disposable>,
>(
  row: Predicate<Field, Schema, Checked, Armed, Prepared>,
): Predicate<Field, Schema> => row;

/** An option of a command. */
interface PredicateFlag {
  readonly name: string;
  readonly short?: string | undefined;
  readonly type: "flag" | "text" | "number";
  readonly value?: string | undefined;
  readonly description: string;
  readonly implied?: string | undefined;
  readonly choices?: readonly string[] | undefined;
  /** For `number`: both ends included. */
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** Asks for nothing by itself. */
  readonly isModifier?: boolean | undefined;
}

interface GivenFlags {
  flag(name: string): boolean;
  text(name: string): string | undefined;
  number(name: string): number | undefined;
}

export interface Door {
  readonly limits: WaitLimits;
  /** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
  checkPattern(pattern: WaitPattern): CheckedPattern;
  /** Undefined for a source that is not a pane's. */
  readonly pane: WaitPane | undefined;
}

export interface ArmMoment {
  /** Something is typed after this: what holds now does not count. */
  readonly isForSend: boolean;
  /** The source position at which the wait is armed. */
  readonly head: number;
  /** Where its patterns begin to read. */
  readonly start: number;
}

export interface ArmContext {
  readonly source: OutputSource;
  readonly limits: WaitLimits;
  readonly scheduler: Scheduler;
  readonly moment: ArmMoment;
  readonly pane: WaitPane | undefined;
  readonly clock: Clock;
  /** Whether this predicate must hold together with ours. */
  isWith(name: string): boolean;
  /**
   * Looks for it in the plain text of the output, the echo of what is typed left out, and on the screen if the request asks
   * for that, until it is found.
   */
  readPattern(pattern: CheckedPattern, owner: WatchOwner, isFound: () => boolean): void;
  /** Looks for a prompt at the end of the output. */
  readPrompt(owner: WatchOwner): void;
  /** Looks for it in a text; calls back with what matched, in this turn or once RE2 has judged. */
  search(pattern: CheckedPattern, text: string, found: (match: string) => void): void;
  /** Reads what is retained from the wait's start on, then what comes, until the wait is over. */
  hear(handlers: MarkHandlers, owner: WatchOwner): void;
  /** Whom a watch tells; `take` keeps what was found. */
  owner(take: (found: FoundText) => void): WatchOwner;
  /** Something that `dueMs` depends on has changed. */
  changed(): void;
  /** Ends the wait. */
  fail(error: AppError): void;
  /** Called once, when the wait is over. */
  onEnd(cleanUp: () => void): void;
}
