/**
 * Says every so often that it is time for a sign of life. In a worker, because a browser slows the timers of a page that nobody
 * looks at to one a minute, and the device would be offline.
 */
import { systemClock, type Timer } from "../../../../daemon/time/clock.ts";

let timer: Timer | undefined;

function beat(everyMs: number): void {
  timer = systemClock.callAt(systemClock.nowMs() + everyMs, () => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's page has none
    postMessage(undefined);
    beat(everyMs);
  });
}

/** Milliseconds from one to the next; 0 ends them. */
addEventListener("message", ({ data }: MessageEvent<number>) => {
  timer?.cancel();
  if (data > 0) beat(data);
});
