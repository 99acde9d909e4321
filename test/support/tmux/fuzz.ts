/** How long a property runs: `runs` examples, or as many as fit into `FUZZ_MS` milliseconds when that is set. */
import type { Parameters } from "fast-check";

const fuzzMs = Number(process.env["FUZZ_MS"] ?? 0);

export const fuzz = <T>(runs: number): Parameters<T> =>
  fuzzMs > 0
    ? { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: fuzzMs, markInterruptAsFailure: false }
    : { numRuns: runs };

/** vitest's limit for a test whose property may run for `FUZZ_MS`. */
export const FUZZ_TIMEOUT_MS = 120_000 + fuzzMs * 2;
