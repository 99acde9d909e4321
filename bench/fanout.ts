/**
 * What handing on costs: a pane prints 10 MB/s, and the daemon's share of a core is taken with 16 WebSocket readers, with
 * none, and with none but 16 plain connections to which the same bytes are written as they are: what the kernel takes is
 * the least that 16 readers can cost. All in turns within one run; every byte must have reached every reader.
 */
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { check, type Emit, figureOf } from "./figures.ts";
import type { Printed } from "./nativeDaemon.ts";
import { forkBench, nativeProcess, type NativeProcess } from "./nativeProcess.ts";

const BYTES_PER_SEC = 10_000_000;
/** What one read of a pseudo-terminal gives. */
const CHUNK_BYTES = 4_096;
const SECONDS = 2;
const ROUNDS = 4;
const READERS = 16;
/** As often as a stream is handed on while it floods (`daemon/panes/paneFeed.ts`). */
const RAW_EVERY_MS = 8;

export async function run(emit: Emit): Promise<void> {
  const with16: number[] = [];
  const without: number[] = [];
  const raw: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await using daemon = await nativeProcess();
    // A daemon lives for weeks: the seconds in which its code is compiled are no share of anything.
    await share(daemon, daemon.port);
    without.push(await share(daemon, undefined));
    with16.push(await share(daemon, daemon.port));
    // Last, because it goes on.
    const { port } = await daemon.ask<{ port: number }>({ ask: "raw", everyMs: RAW_EVERY_MS });
    await share(daemon, port, ["raw"]);
    raw.push(await share(daemon, port, ["raw"]));
  }
  const comparison = { bench: "fanout", figure: `10 MB/s to ${READERS} WebSockets`, unit: "% of a core" };
  emit(figureOf(comparison, with16, "no reader", without));
  emit(figureOf(comparison, with16, `${READERS} plain connections`, raw));
  emit(figureOf({ ...comparison, figure: `10 MB/s to ${READERS} plain connections` }, raw, "no reader", without));
}

/** @param port of the readers; undefined: there is none */
async function share(daemon: NativeProcess, port: number | undefined, ways: readonly string[] = []): Promise<number> {
  const request = { ask: "print", bytesPerSec: BYTES_PER_SEC, chunkBytes: CHUNK_BYTES, seconds: SECONDS };
  if (port === undefined) return (await daemon.ask<Printed>(request)).cpu * 100;
  const reader = forkBench("fanoutReader", [String(port), String(READERS), ...ways]);
  await once(reader, "message");
  const { cpu, bytes } = await daemon.ask<Printed>(request);
  const expected = bytes * READERS;
  let read = 0;
  // What is under way when the printing ends is still to be read.
  for (let tries = 0; tries < 250 && read < expected; tries += 1) {
    await delay(20);
    reader.send({});
    [{ bytes: read }] = (await once(reader, "message")) as [{ bytes: number }];
  }
  reader.disconnect();
  check(read === expected, `${read} of ${expected} bytes were read`);
  return cpu * 100;
}
