/**
 * What the wait benches share: a pane in memory with the daemon's own ring, output at a steady rate, and what a stretch of
 * it costs. 10 MB/s is a flood: tmux itself delivers 8 to 17 (docs/performanceFacts.md, "Throughput").
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setImmediate as nextTurn } from "node:timers/promises";
import { PaneStream } from "../daemon/panes/paneStream.ts";
import { systemClock } from "../daemon/time/clock.ts";
import type { WaitLimits } from "../daemon/waits/waitLimits.ts";
import { WaitManager } from "../daemon/waits/waitManager.ts";
import { DEFAULT_RING_BYTES } from "../protocol/limits.ts";

export const FLOOD_BYTES_PER_SEC = 10_000_000;
/** What one read of a pty brings at most. */
const CHUNK_BYTES = 8_192;

/** Build output with colours, numbers and a few words of other scripts. */
const OUTPUT = Buffer.from(
  Array.from({ length: 2_000 }, (_, at) => {
    const line = `\x1b[32m[${at}]\x1b[0m compiling module ${(at * 7_919) % 1_000}: the quick brown fox jumps over the lazy dog`;
    return `${line}${at % 20 === 0 ? " \u2713 gotowe, \u5b8c\u4e86" : ""} in ${at % 97} ms\r\n`;
  }).join(""),
  "utf8",
);

export const manager = (limits: Partial<WaitLimits> = {}): WaitManager =>
  new WaitManager({
    clock: systemClock,
    limits: { maxGlobal: 200_000, maxPerTarget: 200_000, maxRegexPerTarget: 200_000, ...limits },
  });

export const pane = (name = "%1"): PaneStream =>
  new PaneStream({
    id: name,
    epoch: "bench",
    retainBytes: DEFAULT_RING_BYTES,
    onListenerError: (error) => {
      throw error;
    },
  });

interface FloodCost {
  readonly bytes: number;
  readonly elapsedMs: number;
  /** Of all threads of the process. */
  readonly cpuMs: number;
  /** Delivered to a subscriber that was there before the waits. */
  readonly delivered: number;
  /** 99th percentile of how late the event loop was, in milliseconds, and its worst. */
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
}

/** Prints at a steady rate for so long, to one subscriber and to whoever waits. */
export async function flood(
  stream: PaneStream,
  durationMs: number,
  bytesPerSec = FLOOD_BYTES_PER_SEC,
): Promise<FloodCost> {
  let delivered = 0;
  const unsubscribe = stream.subscribe({
    advanced: (from, to) => (delivered += to - from),
    gap: () => undefined,
    exited: () => undefined,
    closed: () => undefined,
  });
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  let bytes = 0;
  for (let elapsedMs = 0; elapsedMs < durationMs; elapsedMs = performance.now() - startMs) {
    // As many chunks as are due, at most what one read of the connection takes in.
    for (let burst = 0; burst < 8 && bytes < (elapsedMs / 1_000) * bytesPerSec; burst++) {
      const at = bytes % (OUTPUT.length - CHUNK_BYTES);
      stream.take(OUTPUT.subarray(at, at + CHUNK_BYTES));
      stream.announce();
      bytes += CHUNK_BYTES;
    }
    await nextTurn();
  }
  const used = process.cpuUsage(cpu);
  delay.disable();
  unsubscribe();
  return {
    bytes,
    elapsedMs: performance.now() - startMs,
    cpuMs: (used.user + used.system) / 1_000,
    delivered,
    delayP99Ms: delay.percentile(99) / 1e6,
    delayMaxMs: delay.max / 1e6,
  };
}

/** CPU milliseconds per megabyte of taking output in, as fast as it goes, every byte evaluated. */
export async function costPerMb(stream: PaneStream, megabytes: number): Promise<number> {
  const cpu = process.cpuUsage();
  for (let bytes = 0; bytes < megabytes * 1e6; bytes += CHUNK_BYTES) {
    const at = bytes % (OUTPUT.length - CHUNK_BYTES);
    stream.take(OUTPUT.subarray(at, at + CHUNK_BYTES));
    stream.announce();
    // Evaluation runs in microtasks while it keeps within its budget, which one chunk does.
    await Promise.resolve();
    if ((bytes / CHUNK_BYTES) % 4 === 0) await nextTurn();
  }
  const used = process.cpuUsage(cpu);
  return (used.user + used.system) / 1_000 / megabytes;
}
