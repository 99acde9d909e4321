/** The readiness and delivery engines as the daemon joins them, for tests with agent programs. */
import { DeliveryEngine, type DeliveryOptions } from "../../../daemon/delivery/deliveryEngine.ts";
import { ReadinessEngine } from "../../../daemon/readiness/engine.ts";
import type { PaneReadiness, Readiness, ReadinessState } from "../../../daemon/readiness/readiness.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { unixMs } from "./agentPrograms.ts";
import { PROFILES } from "./agentCatalogue.ts";

export interface Engines extends Disposable {
  readonly readiness: ReadinessEngine;
  readonly delivery: DeliveryEngine;
  /** What they reported as errors of their own. */
  readonly errors: readonly unknown[];
}

export function engines({ nowUnixMs = unixMs, ...options }: Partial<DeliveryOptions> = {}): Engines {
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const common = { clock: systemClock, nowUnixMs, onError };
  const readiness = new ReadinessEngine({ ...common, profiles: PROFILES });
  const delivery = new DeliveryEngine({ ...common, readiness, ...options });
  return {
    readiness,
    delivery,
    errors,
    [Symbol.dispose]: () => {
      delivery.close();
      readiness.close();
    },
  };
}

/** Resolves when the state holds, now or later. The test's own time-out ends a vain wait. */
export function untilState(pane: PaneReadiness, state: ReadinessState): Promise<void> {
  return new Promise((resolve) => {
    let unsubscribe = (): void => undefined;
    const probe = (current: Readiness): void => {
      if (current.state !== state) return;
      unsubscribe();
      resolve();
    };
    unsubscribe = pane.subscribe(probe);
    probe(pane.current);
  });
}

/** Reproducible randomness between 0 and 1: the same seed gives the same run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
