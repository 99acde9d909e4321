/** Records each operation's duration and outcome, however it was called: in metrics, and in the log at `debug`. */
import type { Log } from "../../daemon/ops/log.ts";
import type { Metrics } from "../../daemon/ops/metrics.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { toAppError } from "../../protocol/errors.ts";
import { wholeMicros } from "./outputs.ts";

/** @param requestId the caller's id for the request; generated if absent */
export type Measure = <Result>(
  operation: string,
  work: () => Result | Promise<Result>,
  requestId?: string,
) => Promise<Result>;

interface MeasureOptions {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Pick<Log, "debug" | "writes">;
  readonly nextId: () => string;
}

/** `work` begins in this turn. Adds its metric families to the registry: call it once per registry. */
export function createMeasure({ metrics, clock, log, nextId }: MeasureOptions): Measure {
  const seconds = metrics.histogram(
    "tmuxwire_operation_seconds",
    "Time to respond to a request, by operation and outcome.",
  );
  const errors = metrics.counter(
    "tmuxwire_operation_errors_total",
    "Requests that ended in an error, by operation and code.",
  );
  // Cached, so that the text of a metric's labels is built only once.
  const known = new Map<string, { readonly ok: object; readonly failed: object }>();
  const labelsOf = (operation: string) => {
    const labels = known.get(operation) ?? {
      ok: { operation, outcome: "ok" },
      failed: { operation, outcome: "error" },
    };
    known.set(operation, labels);
    return labels;
  };
  return (operation, work, requestId) => {
    const labels = labelsOf(operation);
    const startedMs = clock.nowMs();
    const ended = (ofOutcome: object, outcome: string): void => {
      const elapsedMs = clock.nowMs() - startedMs;
      seconds.observe(elapsedMs / 1_000, ofOutcome as Readonly<Record<string, string>>);
      if (!log.writes("debug")) return;
      const request = requestId ?? nextId();
      log.debug("operation.done", { request, operation, ms: wholeMicros(elapsedMs), outcome });
    };
    const failed = (error: unknown): void => {
      const { code } = toAppError(error);
      errors.add(1, { operation, code });
      ended(labels.failed, code);
    };
    // Not `async`: each promise between a request and its response costs a microtask turn.
    const passOn = <Result>(result: Result): Result => {
      ended(labels.ok, "ok");
      return result;
    };
    let result: ReturnType<typeof work>;
    try {
      result = work();
    } catch (error) {
      failed(error);
      return Promise.reject(error);
    }
    if (!(result instanceof Promise)) return Promise.resolve(passOn(result));
    const throwAgain = (error: unknown): never => {
      failed(error);
      throw error;
    };
    return result.then(passOn, throwAgain);
  };
}
