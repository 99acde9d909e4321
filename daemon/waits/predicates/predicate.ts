/**
 * A predicate is one row of `PREDICATES` (`predicateTable.ts`), from which the types of a request, the schema of the
 * native API with its OpenAPI description, the flags of the command line, and the text of results and timeouts derive.
 *
 * A predicate is stateless. Its state within one wait is what `arm` returns; it changes that as it learns something and
 * then calls `reading.changed()`.
 */
import * as v from "valibot";
import type { FoundText, Latch } from "../text/textWatch.ts";
import type { WaitLimits } from "../waitLimits.ts";
import type { WaitPane, WaitReading } from "../waitReading.ts";
import type { CheckedPattern, WaitPattern } from "../waitPattern.ts";
import { AppError } from "../../../protocol/errors.ts";

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
  Prepared extends Partial<Disposable> | undefined = Partial<Disposable> | undefined,
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
  /** When the request is checked. Undefined: not asked for. @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
  check(value: v.InferOutput<Schema>, context: CheckContext): Checked | undefined;
  /** What must be known before anything is typed; disposed of when the wait is over. @throws AppError (rejects) */
  prepare?(checked: Checked, pane: WaitPane): Promise<Prepared>;
  /** In the turn in which the wait begins, with what `prepare` returned. @throws AppError */
  arm(checked: Checked, reading: WaitReading, prepared: Prepared): Armed;
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
  Prepared extends Partial<Disposable> | undefined = Partial<Disposable> | undefined,
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

export interface CheckContext {
  readonly limits: WaitLimits;
  /** A regex of it is compiled before the wait is armed. @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
  checkPattern(pattern: WaitPattern): CheckedPattern;
  /** Undefined for a source that is not a pane's. */
  readonly pane: WaitPane | undefined;
  /** By field, all that must hold together. */
  readonly set: Readonly<Record<string, unknown>>;
}

/** For a predicate that latches: what it makes of its latch. */
export const latched = {
  dueMs: ({ match }: Latch, { nowMs }: TargetState) => (match === undefined ? undefined : nowMs),
  progress: ({ match }: Latch) => match !== undefined,
  found: ({ match }: Latch) => match,
};

/** A row that is asked for or not: its name, field and flag are one word. */
export const switched = <const Name extends string>(name: Name, says: string, flagSays: string) => ({
  name,
  field: name,
  schema: v.pipe(v.boolean(), v.description(says)),
  flags: [{ name, type: "flag", description: flagSays }] as const,
  asked: (given: GivenFlags) => (given.flag(name) ? [true] : []),
  check: (isAsked: boolean) => (isAsked ? isAsked : undefined),
});

/** A request that asks for more than a limit allows. */
export const tooMuch = (what: string, value: number, max: number): AppError =>
  new AppError("RESOURCE_LIMIT", `${what}: ${value} is above the limit of ${max}`, {
    details: { limit: what, value, max },
  });
