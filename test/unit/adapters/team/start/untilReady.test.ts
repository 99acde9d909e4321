import { describe, expect, test } from "vitest";
import { HOOK_GRACE_MS } from "../../../../../adapters/team/teamLimits.ts";
import { untilExitReported, untilReady } from "../../../../../adapters/team/start/untilReady.ts";
import type {
  PaneReadiness,
  Readiness,
  ReadinessSource,
  ReadinessState,
} from "../../../../../daemon/readiness/readiness.ts";
import type { PaneInfo, ServerEvent } from "../../../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../../../daemon/tmux/tmuxServer.ts";
import { paneIdOf } from "../../../../../protocol/ids.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

class FakePane implements PaneReadiness {
  #listener: ((readiness: Readiness) => void) | undefined;
  current: Readiness = { state: "unknown", source: "none", sinceUnixMs: 0, position: undefined, profile: "pi" };

  get isHeard(): boolean {
    return this.#listener !== undefined;
  }

  subscribe(listener: (readiness: Readiness) => void): () => void {
    this.#listener = listener;
    return () => (this.#listener = undefined);
  }

  becomes(state: ReadinessState, source: ReadinessSource): void {
    this.current = { ...this.current, state, source };
    this.#listener?.(this.current);
  }

  report(): void {}
  probe = (): Promise<Readiness> => Promise.resolve(this.current);
  [Symbol.dispose](): void {}
}

function waiting(hooked: boolean) {
  const clock = new FakeClock();
  const pane = new FakePane();
  const outcomes: string[] = [];
  const done = untilReady(pane, { clock, timeoutMs: 10_000, hooked }).then((out) => outcomes.push(out));
  return { clock, pane, done, outcomes };
}

test("the hook's word is enough, at once", async () => {
  const { clock, pane, done, outcomes } = waiting(true);
  pane.becomes("idle", "osc7501");
  await done;
  expect([outcomes, clock.pendingTimers, pane.isHeard]).toEqual([["ready"], 0, false]);
});

test("a screen that looks ready counts once the hook has had its time", async () => {
  const { clock, pane, done, outcomes } = waiting(true);
  pane.becomes("idle", "screen");
  clock.advanceMs(HOOK_GRACE_MS - 1);
  await Promise.resolve();
  expect(outcomes).toEqual([]);
  pane.becomes("busy", "screen");
  clock.advanceMs(5_000);
  await Promise.resolve();
  expect(outcomes).toEqual([]);
  pane.becomes("idle", "screen");
  clock.advanceMs(HOOK_GRACE_MS);
  await done;
  expect([outcomes, clock.pendingTimers]).toEqual([["ready"], 0]);
});

test("without a hook the screen is all there is", async () => {
  const { pane, done, outcomes } = waiting(false);
  pane.becomes("idle", "screen");
  await done;
  expect(outcomes).toEqual(["ready"]);
});

test("a worker that ended, and one that never says anything", async () => {
  const dead = waiting(true);
  dead.pane.becomes("dead", "exit");
  await dead.done;
  expect(dead.outcomes).toEqual(["dead"]);
  const late = waiting(true);
  late.clock.advanceMs(10_000);
  await late.done;
  expect([late.outcomes, late.clock.pendingTimers, late.pane.isHeard]).toEqual([["late"], 0, false]);
});

describe("how a program ended", () => {
  const pane = paneIdOf(1);

  function server(exit: PaneInfo["exit"]) {
    const listeners = new Set<(event: ServerEvent) => void>();
    const state: { exit: PaneInfo["exit"]; isThere: boolean } = { exit, isThere: true };
    const fake = {
      findPane: () => (state.isThere ? { exit: state.exit } : undefined),
      subscribe: (listener: (event: ServerEvent) => void) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    } as unknown as TmuxServer;
    const tell = (event: ServerEvent): void => listeners.forEach((listener) => listener(event));
    return { fake, state, listeners, tell };
  }

  test.each([
    ["is told by tmux a moment after the system", { kind: "pane-exited", pane, status: { exitCode: 7 } }, true],
    ["is not told of a pane that goes", { kind: "pane-closed", pane }, false],
  ] as const)("%s", async (_name, event, isThere) => {
    const { fake, state, listeners, tell } = server(undefined);
    const clock = new FakeClock();
    let isDone = false;
    const done = untilExitReported(fake, pane, clock).then(() => (isDone = true));
    tell({ kind: "state", state: "ready" });
    await Promise.resolve();
    expect(isDone).toBe(false);
    Object.assign(state, { exit: isThere ? { exitCode: 7 } : undefined, isThere });
    tell(event);
    await done;
    expect([clock.pendingTimers, listeners.size]).toEqual([0, 0]);
  });

  test("is known already, or is not told in time", async () => {
    const clock = new FakeClock();
    await untilExitReported(server({ exitCode: 7 }).fake, pane, clock);
    const { fake, listeners } = server(undefined);
    const late = untilExitReported(fake, pane, clock);
    clock.advanceMs(10_000);
    await late;
    expect([clock.pendingTimers, listeners.size]).toEqual([0, 0]);
  });
});
