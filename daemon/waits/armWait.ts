/** Arms the predicates of a wait, and finds where they begin to look. */
import { AppError } from "../../protocol/errors.ts";
import { gapWithin, type StreamGap } from "../../protocol/position.ts";
import type { OutputSource } from "../panes/outputSource.ts";
import { trackerOf } from "../panes/vt/vtTracker.ts";
import type { Scheduler } from "../time/scheduler.ts";
import type { ActiveWait } from "./activeWait.ts";
import type { CompiledRegex } from "./compiledRegex.ts";
import { EchoMask } from "./echoMask.ts";
import { EchoWatch } from "./echoWatch.ts";
import type { PredicateSet, PreparedPredicates } from "./predicateSet.ts";
import type { ArmContext, ArmMoment } from "./predicates/predicate.ts";
import type { RegexEngine } from "./regexEngine.ts";
import { type ScreenPattern, ScreenWatch } from "./screenWatch.ts";
import { tailStart } from "./tailStart.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { CheckedRequest } from "./waitRequest.ts";
import type { WaitFrom } from "./waitTypes.ts";

export interface WaitStart {
  readonly start: number;
  readonly missed: StreamGap | undefined;
}

/** Of the row before the typing so much is looked at: prompts are shorter, colours and all. */
const MAX_ROW_BYTES = 1_024;
const LF = 0x0a;

export interface ArmOptions {
  readonly source: OutputSource;
  readonly request: CheckedRequest;
  /** In the order of `request.regexes`. */
  readonly regexes: readonly CompiledRegex[];
  readonly prepared: PreparedPredicates;
  readonly scheduler: Scheduler;
  readonly nowMs: () => number;
  readonly engine: RegexEngine;
  readonly limits: WaitLimits;
  readonly moment: ArmMoment;
}

/**
 * Arms the predicates, which fill `wait.watches` and `wait.screen`; returns what hides the echo from them, when something is
 * typed. @throws AppError
 */
export function armWait(wait: ActiveWait, options: ArmOptions): EchoWatch | undefined {
  const { source, request, engine, limits, moment } = options;
  const patterns: ScreenPattern[] = [];
  for (const set of wait.sets) set.arm(contextOf(wait, set, patterns, options), options.prepared);
  if (request.screen !== undefined && patterns.length > 0) {
    const { screen: view, excludeEcho: typed } = request;
    wait.screen = new ScreenWatch({ view, patterns, typed, engine, maxMatchBytes: limits.maxMatchBytes });
  }
  return echoOf(wait, source, request.excludeEcho, limits, moment.head);
}

function contextOf(wait: ActiveWait, set: PredicateSet, patterns: ScreenPattern[], options: ArmOptions): ArmContext {
  const { source, request, regexes, scheduler, engine, limits, moment } = options;
  return {
    source,
    limits,
    scheduler,
    engine,
    moment,
    pane: request.pane,
    nowMs: options.nowMs,
    isWith: (name) => set.asksFor(name),
    compiled: (analysis) => {
      const regex = regexes[request.regexes.indexOf(analysis)];
      if (regex === undefined) throw new AppError("INTERNAL_ERROR", "a regex was not compiled");
      return regex;
    },
    readText: (watch) => void wait.watches.add(watch),
    readScreen: (pattern) => void patterns.push(pattern),
    owner: (take) => ({
      found: (found) => wait.found(() => take(found)),
      missed: (gap) => wait.onMissed(gapWithin(source.epoch, gap)),
      failed: (error) => wait.fail(error),
    }),
    changed: () => wait.check(),
    fail: (error) => wait.fail(error),
    onEnd: (cleanUp) => wait.onEnd(cleanUp),
  };
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

function echoOf(
  wait: ActiveWait,
  source: OutputSource,
  typed: Uint8Array | undefined,
  limits: WaitLimits,
  head: number,
): EchoWatch | undefined {
  if (typed === undefined || typed.length === 0 || wait.watches.size === 0) return undefined;
  const before = bytesBefore(source, head);
  const row = before.subarray(before.lastIndexOf(LF) + 1);
  const isLineEditor = trackerOf(source).readOn().bracketedPaste === true;
  const mask = new EchoMask({ typed, start: head, row, isLineEditor, windowBytes: limits.echoWindowBytes });
  return mask.isOver ? undefined : new EchoWatch(mask, [...wait.watches]);
}

function bytesBefore(source: OutputSource, head: number): Uint8Array {
  const from = Math.max(source.tailSeq, head - MAX_ROW_BYTES);
  const slice = source.read(from, head - from);
  return slice.kind === "bytes" ? slice.bytes : new Uint8Array(0);
}
