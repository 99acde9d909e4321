/** How long each operation took and how it ended, whichever way it was called. */
import type { Metrics } from "../../daemon/ops/metrics.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { toAppError } from "../../protocol/errors.ts";

export type Measure = <Result>(operation: string, work: () => Result | Promise<Result>) => Promise<Result>;

/** `work` begins in this turn. Adds its families to the registry: once for each registry. */
export function createMeasure(metrics: Metrics, clock: Clock): Measure {
  const seconds = metrics.histogram(
    "tmuxwire_operation_seconds",
    "Time to answer a request, by operation and outcome.",
  );
  const errors = metrics.counter(
    "tmuxwire_operation_errors_total",
    "Requests answered with an error, by operation and code.",
  );
  // Made once: what labels look like in a metric's name is then worked out once too.
  const known = new Map<string, { readonly ok: object; readonly failed: object }>();
  const labelsOf = (operation: string) => {
    const labels = known.get(operation) ?? {
      ok: { operation, outcome: "ok" },
      failed: { operation, outcome: "error" },
    };
    known.set(operation, labels);
    return labels;
  };
  return async (operation, work) => {
    const { ok, failed } = labelsOf(operation);
    const startedMs = clock.nowMs();
    let labels = ok;
    try {
      return await work();
    } catch (error) {
      labels = failed;
      errors.add(1, { operation, code: toAppError(error).code });
      throw error;
    } finally {
      seconds.observe((clock.nowMs() - startedMs) / 1_000, labels as Readonly<Record<string, string>>);
    }
  };
}
