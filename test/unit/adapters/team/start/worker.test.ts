/** How a program ended is known from tmux, a moment after the host. */
import { describe, expect, test } from "vitest";
import { untilExitReported } from "../../../../../adapters/team/start/worker.ts";
import type { PaneInfo, ServerEvent } from "../../../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../../../daemon/tmux/tmuxServer.ts";
import { paneIdOf } from "../../../../../protocol/ids.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

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
