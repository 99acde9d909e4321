/** Figures of a load test, one JSON line each, past vitest's own reporter. */
import { writeSync } from "node:fs";

export function report(scenario: string, figures: Readonly<Record<string, unknown>>): void {
  writeSync(1, `${JSON.stringify({ scenario, ...figures })}\n`);
}

/** `[p50, p99, max]` of some durations, in milliseconds with two decimals. */
export function spread(durationsMs: readonly number[]): {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
} {
  const sorted = [...durationsMs].sort((a, b) => a - b);
  const at = (share: number): number =>
    Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 100) / 100;
  return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

/** Milliseconds since `startMs` of `performance.now()`, with one decimal. */
export const sinceMs = (startMs: number): number => Math.round((performance.now() - startMs) * 10) / 10;
