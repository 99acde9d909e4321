/**
 * A timer for signs of life. In a worker, because a browser throttles a background page's timers to one a minute, and the
 * device would go offline.
 */
import { systemClock, type Timer } from "../../../../daemon/time/clock.ts";

let timer: Timer | undefined;

function heartbeat(everyMs: number): void {
  timer = systemClock.callAt(systemClock.nowMs() + everyMs, () => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker's page has none
    postMessage(undefined);
    heartbeat(everyMs);
  });
}

/** The interval in milliseconds; 0 stops it. */
addEventListener("message", ({ data }: MessageEvent<number>) => {
  timer?.cancel();
  if (data > 0) heartbeat(data);
});
