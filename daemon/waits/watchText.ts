/** Turns the text predicates of a wait into watches of the stream and the screen, and finds where they begin to look. */
import { AppError } from "../../protocol/errors.ts";
import { gapWithin, type StreamGap } from "../../protocol/position.ts";
import type { OutputSource } from "../panes/outputSource.ts";
import type { ActiveWait } from "./activeWait.ts";
import { EchoMask } from "./echoMask.ts";
import { EchoWatch } from "./echoWatch.ts";
import { LiteralWatch } from "./literalWatch.ts";
import type { WatchOwner } from "./patternWatch.ts";
import type { PredicateSet } from "./predicateSet.ts";
import { PromptWatch } from "./promptWatch.ts";
import type { CompiledRegex } from "./compiledRegex.ts";
import type { RegexEngine } from "./regexEngine.ts";
import { RegexWatch } from "./regexMatcher.ts";
import { type ScreenPattern, ScreenWatch } from "./screenWatch.ts";
import { tailStart } from "./tailStart.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { CheckedRequest } from "./waitRequest.ts";
import type { WaitFrom } from "./waitTypes.ts";

export interface WaitStart {
  readonly start: number;
  readonly missed: StreamGap | undefined;
}

export interface ArmMoment {
  /** Something is typed after this. */
  readonly isForSend: boolean;
  /** The source position at which the wait is armed. */
  readonly head: number;
  /** Where its patterns begin to look. */
  readonly start: number;
}

/** `?2004h` before typing is searched so far back: a shell says it with each prompt. */
const MODE_SEARCH_BYTES = 65_536;
/** Of the row before the typing so much is looked at: prompts are shorter, colours and all. */
const MAX_ROW_BYTES = 1_024;
const EDITOR_ON = "\x1b[?2004h";
const EDITOR_OFF = "\x1b[?2004l";
const LF = 0x0a;

/** Fills `wait.watches` and `wait.screen`; returns what hides the echo from them, when something is typed. */
export function watchText(
  wait: ActiveWait,
  source: OutputSource,
  request: CheckedRequest,
  regexes: readonly CompiledRegex[],
  engine: RegexEngine,
  limits: WaitLimits,
  moment: ArmMoment,
): EchoWatch | undefined {
  const { start } = moment;
  const needsOutput = moment.isForSend || request.excludeEcho !== undefined;
  let nextRegex = 0;
  const onScreen: ScreenPattern[] = [];
  const alsoOnScreen = (set: PredicateSet, literal: Buffer | undefined, regex: CompiledRegex | undefined): void => {
    const isFound = (): boolean => set.pattern !== undefined;
    onScreen.push({ literal, regex, isFound, found: (match) => wait.onFound(set, "pattern", match) });
  };
  for (const set of wait.sets) {
    const { pattern } = set.checked;
    if (pattern?.kind === "literal") {
      const watch = new LiteralWatch(owner(wait, set, "pattern", source), pattern.bytes, start, limits.maxMatchBytes);
      wait.watches.add({ kind: "literal", watch });
      alsoOnScreen(set, pattern.bytes, undefined);
    } else if (pattern?.kind === "regex") {
      const regex = regexes[nextRegex++];
      if (regex === undefined) throw new AppError("INTERNAL_ERROR", "a regex was not compiled");
      wait.watches.add({ kind: "regex", watch: new RegexWatch(owner(wait, set, "pattern", source), start), regex });
      alsoOnScreen(set, undefined, regex);
    }
    if (set.checked.prompt) {
      // The prompt that counts is the one at the end of the output: it never looks back.
      const watch = new PromptWatch(owner(wait, set, "prompt", source), moment.head, needsOutput, limits.maxMatchBytes);
      wait.watches.add({ kind: "prompt", watch });
    }
  }
  if (request.screen !== undefined && onScreen.length > 0) {
    const { screen: view, excludeEcho: typed } = request;
    wait.screen = new ScreenWatch({ view, patterns: onScreen, typed, engine, maxMatchBytes: limits.maxMatchBytes });
  }
  return echoOf(wait, source, request.excludeEcho, limits, moment.head);
}

/** Where a request begins to look, and what it has missed before that. @throws AppError INVALID_ARGUMENT */
export function startOf(source: OutputSource, from: WaitFrom, head: number): WaitStart {
  switch (from.kind) {
    case "now":
      return { start: head, missed: undefined };
    case "tail":
      return { start: tailStart(source, from.lines), missed: undefined };
    case "position": {
      const { epoch, outputSeq } = from.position;
      if (epoch !== source.epoch) {
        // Everything of this epoch is later than that position; what lies between the two nobody has.
        const to = { epoch: source.epoch, outputSeq: source.tailSeq };
        return { start: source.tailSeq, missed: { from: from.position, to, reason: "epoch" } };
      }
      if (outputSeq <= source.outputSeq) {
        const slice = source.read(outputSeq, 1);
        if (slice.kind !== "gap") return { start: outputSeq, missed: undefined };
        return { start: slice.gap.to, missed: gapWithin(epoch, slice.gap) };
      }
      throw new AppError(
        "INVALID_ARGUMENT",
        "the position is ahead of the output; use one that a capture or a wait gave",
        {
          details: { position: outputSeq, head: source.outputSeq },
        },
      );
    }
  }
}

const owner = (
  wait: ActiveWait,
  set: PredicateSet,
  kind: "pattern" | "prompt",
  { epoch }: OutputSource,
): WatchOwner => ({
  found: (found) => wait.onFound(set, kind, found),
  missed: (gap) => wait.onMissed(gapWithin(epoch, gap)),
  failed: (error) => wait.fail(error),
});

function echoOf(
  wait: ActiveWait,
  source: OutputSource,
  typed: Uint8Array | undefined,
  limits: WaitLimits,
  head: number,
): EchoWatch | undefined {
  if (typed === undefined || typed.length === 0 || wait.watches.size === 0) return undefined;
  const before = bytesBefore(source, head);
  const row = before.subarray(Math.max(before.lastIndexOf(LF) + 1, before.length - MAX_ROW_BYTES));
  const isLineEditor = before.lastIndexOf(EDITOR_ON) > before.lastIndexOf(EDITOR_OFF);
  const mask = new EchoMask({ typed, start: head, row, isLineEditor, windowBytes: limits.echoWindowBytes });
  return mask.isOver ? undefined : new EchoWatch(mask, [...wait.watches]);
}

/** What was printed last, as far as it is needed: a shell switches bracketed paste with each prompt. */
function bytesBefore(source: OutputSource, head: number): Buffer {
  const from = Math.max(source.tailSeq, head - MODE_SEARCH_BYTES);
  const slice = source.read(from, head - from);
  if (slice.kind !== "bytes") return Buffer.alloc(0);
  return Buffer.from(slice.bytes.buffer, slice.bytes.byteOffset, slice.bytes.length);
}
