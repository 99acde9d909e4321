import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes in use after a full collection. */
export function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  // The memory of buffers is freed on another thread, which may not get to it on a busy machine; the next collection waits for it.
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Bytes that are in use afterwards and were not before. */
export function heldBy(run: () => void): number {
  const before = heapBytes();
  run();
  return heapBytes() - before;
}
