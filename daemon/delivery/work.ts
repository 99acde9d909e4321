/** One delivery under way: the pane, its deadlines, and its progress. */
import type { Position } from "../../protocol/position.ts";
import type { DeliveryOutcome, SubmitResult } from "./delivery.ts";
import type { WhileFree } from "./paneMutex.ts";
import type { PaneKeys } from "./pane/paneKeys.ts";
import type { PaneReader } from "./pane/paneReader.ts";
import type { PaneWatch } from "./pane/paneWatch.ts";

export interface Work {
  readonly watch: PaneWatch;
  /** The program it is for, and what is typed for it. */
  readonly reader: PaneReader;
  readonly keys: PaneKeys;
  readonly startedMs: number;
  readonly deadlineMs: number;
  /** Aborts when nobody waits for it any more: then nothing is begun. */
  readonly leaving: AbortSignal;
  /** In the turn of the first write. @throws AppError: then nothing is written */
  readonly beforeFirstWrite: () => void;
  /** In the turn in which Enter is written. @throws AppError: then it is not pressed */
  readonly beforeEnter: () => void;
  readonly progress: Progress;
  /** Waits while others may type into the pane: what was seen before it no longer counts. @throws AppError TIMEOUT */
  readonly whileFree: WhileFree;
}

/** Reported whatever happens. */
export class Progress {
  position: Position | undefined;
  firstByteMs: number | undefined;
  enterMs: number | undefined;
  enterPresses = 0;
  /** What somebody has typed is off its line until it is typed again. */
  isProbing = false;
  /** Something has been written. */
  hasWritten = false;
}

/** To be called in the turn of every write: the first one counts. */
export function noteWrite({ watch, startedMs, beforeFirstWrite, progress }: Work): void {
  if (progress.firstByteMs !== undefined) return;
  beforeFirstWrite();
  progress.firstByteMs = watch.clock.nowMs() - startedMs;
  const { epoch, outputSeq } = watch.source;
  progress.position = { epoch, outputSeq };
}

/** In the turn in which Enter, or another key that decides, is written. */
export function noteEnter(work: Work): void {
  noteWrite(work);
  work.beforeEnter();
  work.progress.enterMs = work.watch.clock.nowMs() - work.startedMs;
}

export function resultOf(
  work: Work,
  outcome: DeliveryOutcome,
  by?: SubmitResult["confirmedBy"],
  details?: SubmitResult["details"],
): SubmitResult {
  const { position, firstByteMs, enterMs, enterPresses } = work.progress;
  return {
    outcome,
    position,
    latencyMs: work.watch.clock.nowMs() - work.startedMs,
    firstByteMs,
    enterMs,
    enterPresses,
    ...(by === undefined ? {} : { confirmedBy: by }),
    ...(details === undefined ? {} : { details }),
  };
}
