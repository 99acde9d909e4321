/** Watching a pane's readiness in tests: every state with the time at which it was told, and a wait for one. */
import { ReadinessEngine } from "../../../daemon/readiness/engine.ts";
import type { PaneReadiness, Readiness, ReadinessOptions } from "../../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { PROFILES } from "./agentCatalogue.ts";

interface SeenReadiness {
  readonly atUnixMs: number;
  readonly readiness: Readiness;
}

export interface WatchedPane extends Disposable {
  readonly engine: ReadinessEngine;
  readonly pane: PaneReadiness;
  /** Everything that was told, the state at the beginning first. */
  readonly seen: readonly SeenReadiness[];
  /** The first that fits at or after the `from`th, now or when it comes. The test's own time-out ends a vain wait. */
  until(fits: (readiness: Readiness) => boolean, from?: number): Promise<SeenReadiness>;
}

const preciseUnixMs = (): number => performance.timeOrigin + performance.now();

/** An error that only the log would show fails the test. */
export function realReadiness(nowUnixMs = preciseUnixMs): ReadinessEngine {
  return new ReadinessEngine({
    profiles: PROFILES,
    clock: systemClock,
    nowUnixMs,
    onError: (error) => {
      throw error;
    },
  });
}

export function watchPane(
  server: TmuxServer,
  id: PaneId,
  options: ReadinessOptions = {},
  engine = realReadiness(),
): WatchedPane {
  const pane = engine.watch(server, id, options);
  const seen: SeenReadiness[] = [{ atUnixMs: preciseUnixMs(), readiness: pane.current }];
  const waiting = new Set<() => void>();
  pane.subscribe((readiness) => {
    seen.push({ atUnixMs: preciseUnixMs(), readiness });
    for (const probe of waiting) probe();
  });
  return {
    engine,
    pane,
    seen,
    until: (fits, from = 0) =>
      new Promise((resolve) => {
        const probe = (): void => {
          const found = seen.slice(from).find(({ readiness }) => fits(readiness));
          if (found === undefined) return;
          waiting.delete(probe);
          resolve(found);
        };
        waiting.add(probe);
        probe();
      }),
    [Symbol.dispose]: () => {
      pane[Symbol.dispose]();
      engine.close();
    },
  };
}
