/**
 * What handing on costs: a pane prints 10 MB/s, and the daemon's share of a core is taken with 16 WebSocket readers and
 * with none. Both in turns within one run; every byte must have reached every reader.
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

export async function run(emit: Emit): Promise<void> {
  const with16: number[] = [];
  const without: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await using daemon = await nativeProcess();
    // A daemon lives for weeks: the seconds in which its code is compiled are no share of anything.
    await share(daemon, READERS);
    without.push(await share(daemon, 0));
    with16.push(await share(daemon, READERS));
  }
  const comparison = { bench: "fanout", figure: `10 MB/s to ${READERS} WebSockets`, unit: "% of a core" };
  emit(figureOf(comparison, with16, "no reader", without));
}

async function share(daemon: NativeProcess, readers: number): Promise<number> {
  const request = { ask: "print", bytesPerSec: BYTES_PER_SEC, chunkBytes: CHUNK_BYTES, seconds: SECONDS };
  if (readers === 0) return (await daemon.ask<Printed>(request)).cpu * 100;
  const reader = forkBench("fanoutReader", [String(daemon.port), String(readers)]);
  await once(reader, "message");
  const { cpu, bytes } = await daemon.ask<Printed>(request);
  let read = 0;
  // What is under way when the printing ends is still to be read.
  for (let tries = 0; tries < 250 && read < bytes * readers; tries += 1) {
    await delay(20);
    reader.send({});
    [{ bytes: read }] = (await once(reader, "message")) as [{ bytes: number }];
  }
  reader.disconnect();
  check(read === bytes * readers, `${read} of ${bytes * readers} bytes were read`);
  return cpu * 100;
}
