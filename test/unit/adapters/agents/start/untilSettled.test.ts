/** When a program that was started is ready: at once by its hook's word, by its screen once the hook has had its time. */
import { expect, test } from "vitest";
import { HOOK_GRACE_MS, untilSettled } from "../../../../../adapters/agents/start/untilSettled.ts";
import type {
  PaneReadiness,
  Readiness,
  ReadinessSource,
  ReadinessState,
} from "../../../../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../../../../daemon/tmux/tmuxServer.ts";
import { type PaneId, paneIdOf } from "../../../../../protocol/ids.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

const PANE = paneIdOf(1);
const DIALOG = { text: "Trust?", options: [], multi: false, id: "d" } as const;

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

  becomes(state: ReadinessState, source: ReadinessSource, more: Partial<Readiness> = {}): void {
    this.current = { ...this.current, state, source, ...more };
    this.#listener?.(this.current);
  }

  report(): void {}
  probe = (): Promise<Readiness> => Promise.resolve(this.current);
  [Symbol.dispose](): void {}
}

function waiting(hooked: boolean | undefined) {
  const clock = new FakeClock();
  const pane = new FakePane();
  const outcomes: string[] = [];
  const heard = new Set<() => void>();
  const subscribe = (listener: () => void) => {
    heard.add(listener);
    return () => heard.delete(listener);
  };
  const panes = new Set([PANE]);
  const server = { findPane: (id: PaneId) => (panes.has(id) ? {} : undefined), subscribe } as unknown as TmuxServer;
  const agents = { inPane: () => undefined, subscribe: () => () => undefined };
  const options = { agents, clock, timeoutMs: 10_000, profile: "pi", hooked };
  const done = untilSettled(server, PANE, pane, options).then((out) => outcomes.push(out));
  const tell = (): void => heard.forEach((listener) => listener());
  return { clock, pane, done, outcomes, panes, heard, tell };
}

test("the hook's word is enough, at once", async () => {
  const { clock, pane, done, outcomes } = waiting(true);
  pane.becomes("idle", "osc7501");
  await done;
  expect([outcomes, clock.pendingTimers, pane.isHeard]).toEqual([["ready"], 0, false]);
});

test("a screen that looks ready counts once the hook has had its time", async () => {
  const { clock, pane, done, outcomes, tell } = waiting(true);
  pane.becomes("idle", "screen");
  clock.advanceMs(HOOK_GRACE_MS - 1);
  // What happens elsewhere is no reason to wait longer.
  tell();
  await Promise.resolve();
  expect(outcomes).toEqual([]);
  pane.becomes("busy", "screen");
  clock.advanceMs(5_000);
  await Promise.resolve();
  expect(outcomes).toEqual([]);
  pane.becomes("idle", "screen");
  clock.advanceMs(1);
  tell();
  clock.advanceMs(HOOK_GRACE_MS - 1);
  await done;
  expect([outcomes, clock.pendingTimers]).toEqual([["ready"], 0]);
});

test("without a hook the screen is all there is", async () => {
  const { pane, done, outcomes } = waiting(false);
  pane.becomes("idle", "screen");
  await done;
  expect(outcomes).toEqual(["ready"]);
});

test("a program that ended, whose pane or whose shell came back, and one that never says anything", async () => {
  const dead = waiting(true);
  dead.pane.becomes("dead", "exit");
  const gone = waiting(true);
  gone.panes.clear();
  gone.tell();
  const shell = waiting(undefined);
  shell.pane.becomes("idle", "osc133", { profile: "shell" });
  for (const { done, outcomes } of [dead, gone, shell]) {
    await done;
    expect(outcomes).toEqual(["ended"]);
  }
  const late = waiting(true);
  late.pane.becomes("idle", "screen", { profile: "claude" });
  late.clock.advanceMs(10_000);
  await late.done;
  expect([late.outcomes, late.clock.pendingTimers, late.pane.isHeard, late.heard.size]).toEqual([
    ["late"],
    0,
    false,
    0,
  ]);
});

test("a question counts at once, for what may have a hook later, and for what has one never", async () => {
  const asked = waiting(undefined);
  asked.pane.becomes("asking", "screen");
  await Promise.resolve();
  expect(asked.outcomes).toEqual([]);
  asked.pane.becomes("asking", "screen", { dialog: DIALOG });
  await asked.done;
  const [without, hooked] = [waiting(false), waiting(true)];
  for (const { pane, clock } of [without, hooked]) {
    pane.becomes("asking", "screen", { dialog: DIALOG });
    clock.advanceMs(HOOK_GRACE_MS);
  }
  await without.done;
  expect([asked.outcomes, without.outcomes, hooked.outcomes]).toEqual([["asking"], ["asking"], []]);
});
