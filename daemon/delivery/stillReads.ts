/**
 * Whether an agent still reads from its terminal. One that is told to end stays in the foreground for up to a second and more
 * without reading, and takes its question or its box off the screen as if it had taken what was typed: so nothing is typed
 * once its end has begun, and what its screen shows is believed when it is seen to go on.
 */
import type { PaneId } from "../../protocol/ids.ts";
import type { Profile } from "../readiness/profile.ts";
import type { Clock } from "../time/clock.ts";
import { endsNow } from "./addressee.ts";
import { ENDING_PROBE_MS, ENDS_WITHIN_MS, STAYS_MS, WAITS_WITHIN_MS } from "./deliveryLimits.ts";

/** What is asked here of a `PaneWatch` about its addressee. */
interface ReaderWatch {
  readonly clock: Clock;
  readonly pane: PaneId;
  readonly version: number;
  readonly hasEnded: boolean;
  readonly isLost: boolean;
  readonly isAddresseeGone: boolean;
  readonly isAddresseeRunning: boolean;
  readonly isEnding: boolean;
  readonly isToldToEnd: boolean;
  readonly hasLeftTerminal: boolean;
  readonly typedDetails: Readonly<Record<string, unknown>>;
  requireThere(): void;
  requireAddressee(): void;
  noteGoingOn(): void;
  next(version: number, untilMs: number): Promise<void>;
}

/** Before something is typed: until it reads again. @throws AppError WRONG_STATE: it does not */
export async function untilReads(watch: ReaderWatch): Promise<void> {
  const untilMs = watch.clock.nowMs() + ENDS_WITHIN_MS;
  while (watch.isEnding) {
    watch.requireThere();
    watch.requireAddressee();
    if (watch.clock.nowMs() >= untilMs) break;
    await watch.next(watch.version, Math.min(untilMs, watch.clock.nowMs() + ENDING_PROBE_MS));
  }
  if (!watch.isEnding || isGoingOn(watch)) return;
  throw endsNow(watch.pane, watch.typedDetails);
}

/** It would have ended by now, so it only handles its signals in its own way. */
function isGoingOn(watch: ReaderWatch): boolean {
  if (watch.hasLeftTerminal) return false;
  watch.noteGoingOn();
  return !watch.isToldToEnd;
}

/**
 * After something was seen that speaks for what was typed: whether the program goes on. Nothing tells of its end for a
 * moment, and it has come to whatever it was sent meanwhile, a signal or a person's key: it waits for input again.
 */
export async function goesOnAfter(
  watch: ReaderWatch,
  profile: Profile,
  read: { readonly wasRead: boolean },
): Promise<boolean> {
  const seenMs = watch.clock.nowMs();
  // A line editor restores the terminal's modes while a command runs.
  const keepsTerminal = profile.screen.promptBox !== undefined;
  for (;;) {
    const { version } = watch;
    if (watch.hasEnded || watch.isLost || watch.isAddresseeGone) return false;
    const nowMs = watch.clock.nowMs();
    const isOpen = watch.isToldToEnd || (keepsTerminal && watch.hasLeftTerminal) || !read.wasRead;
    const mayEnd = isOpen || nowMs < seenMs + STAYS_MS;
    // Some are never idle.
    const isAtIt = !mayEnd && nowMs < seenMs + WAITS_WITHIN_MS && watch.isAddresseeRunning;
    if (!mayEnd && !isAtIt) return true;
    if (nowMs >= seenMs + ENDS_WITHIN_MS) return read.wasRead && isGoingOn(watch);
    await watch.next(version, isOpen || isAtIt ? nowMs + ENDING_PROBE_MS : seenMs + STAYS_MS);
  }
}
