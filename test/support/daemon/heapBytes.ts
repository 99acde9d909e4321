import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes in use after a full collection. */
export function heapBytes(): number {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
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
