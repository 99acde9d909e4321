/** Arms the predicates of a wait, and finds where they begin to read. */
import { AppError } from "../../protocol/errors.ts";
import { gapWithin, type StreamGap } from "../../protocol/position.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import { trackerOf } from "../panes/vt/vtTracker.ts";
import type { ActiveWait } from "./activeWait.ts";
import { EchoMask } from "./echo/echoMask.ts";
import { EchoWatch } from "./watches/echoWatch.ts";
import type { Prepared } from "./prepared.ts";
import { type ScreenPattern, ScreenWatch } from "./screen/screenWatch.ts";
import { tailStart } from "../panes/tailStart.ts";
import type { WaitLimits } from "./waitLimits.ts";
import { type ArmMoment, WaitContext } from "./waitContext.ts";
import type { WaitFrom } from "./waitTypes.ts";

export interface WaitStart {
  readonly start: number;
  readonly missed: StreamGap | undefined;
}

/** How much of the row before the typing is read: prompts are shorter, colours included. */
const MAX_ROW_BYTES = 1_024;
/** A prompt of several rows, and a line that is being edited below it. */
const MAX_PROMPT_BYTES = 4_096;
const LF = 0x0a;
const CR = 0x0d;
const NOTHING = new Uint8Array(0);
const ENDS = new Set([LF, CR, 0x03, 0x04, 0x1a, 0x1c]);

/**
 * Arms the predicates, which fill `wait.watches` and `wait.screen`; returns what hides the echo from them, when something is
 * typed. @throws AppError
 */
export function armWait(wait: ActiveWait, prepared: Prepared, moment: ArmMoment): EchoWatch | undefined {
  const { engine, limits } = wait.target.host;
  const { screen: view, excludeEcho: typed, sends = typed } = prepared.request;
  const patterns: ScreenPattern[] = [];
  for (const set of wait.sets) {
    set.arm(new WaitContext(wait, set, prepared, moment, patterns), prepared.predicates);
  }
  if (view !== undefined && patterns.length > 0) {
    wait.screen = new ScreenWatch({ view, patterns, typed, engine, maxMatchBytes: limits.maxMatchBytes });
  }
  const echo = echoOf(wait, { typed, sends }, limits, moment);
  if (wait.screen !== undefined) wait.screen.echo = echo;
  return echo;
}

/** Where a request begins to read, and what it has missed before that. @throws AppError INVALID_ARGUMENT */
export function startOf(source: OutputSource, from: WaitFrom, head: number): WaitStart {
  switch (from.kind) {
    case "now":
      return { start: head, missed: undefined };
    case "tail":
      return { start: tailStart(source, from.lines), missed: undefined };
    case "position": {
      const { epoch, outputSeq } = from.position;
      if (epoch !== source.epoch) {
        // This whole epoch is later than that position; the output in between is lost.
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
  { typed = NOTHING, sends = NOTHING }: { typed?: Uint8Array | undefined; sends?: Uint8Array | undefined },
  limits: WaitLimits,
  { head, isShell }: ArmMoment,
): EchoWatch | undefined {
  if (sends.length === 0 || wait.watches.size === 0) return undefined;
  const { source } = wait.target;
  const before = bytesBefore(source, head);
  const row = before.subarray(before.lastIndexOf(LF) + 1);
  const { bracketedPaste, bracketedPasteSeq, lineFeedSeq } = trackerOf(source).readOn();
  const isLineEditor = bracketedPaste === true;
  // A program that was killed may have left it on: a shell that announces its editor does so before each prompt.
  const isAnnounced = isLineEditor && lineFeedSeq <= bracketedPasteSeq + MAX_PROMPT_BYTES;
  const isShellEditor = isShell && isAnnounced && (isEntered(sends) || isTyped(wait, sends));
  if (typed.length === 0 && !isShellEditor) return undefined;
  const { echoWindowBytes: windowBytes } = limits;
  const mask = new EchoMask({ typed, start: head, row, isLineEditor, isShellEditor, windowBytes });
  return mask.isOver ? undefined : new EchoWatch(mask, [...wait.watches]);
}

/** One Enter at least, and before the first nothing else that ends a line editor: C-c, C-d, C-z, C-\. */
function isEntered(sends: Uint8Array): boolean {
  const end = sends.findIndex((byte) => ENDS.has(byte));
  return end > 0 && (sends[end] === CR || sends[end] === LF);
}

/** It stays in the editor, and all that is waited for stands in it. */
function isTyped({ watches }: ActiveWait, sends: Uint8Array): boolean {
  if (sends.some((byte) => ENDS.has(byte))) return false;
  return [...watches].every(({ kind, watch }) => kind === "literal" && Buffer.from(sends).includes(watch.bytes));
}

function bytesBefore(source: OutputSource, head: number): Uint8Array {
  const from = Math.max(source.tailSeq, head - MAX_ROW_BYTES);
  const slice = source.read(from, head - from);
  return slice.kind === "bytes" ? slice.bytes : new Uint8Array(0);
}
