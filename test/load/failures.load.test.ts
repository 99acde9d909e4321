/** How fast callers are told when tmux dies, and what a stopped tmux costs. */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { callEverything, nextState, ownHub, tmuxPid } from "../support/tmux/failureScenarios.ts";
import { ownedFixture, type OwnedFixture } from "../support/tmux/ownedFixture.ts";
import { ByteSink } from "../support/tmux/panePrograms.ts";
import { report, sinceMs, spread } from "../support/daemon/loadReport.ts";

const blows: Record<string, (fixture: OwnedFixture) => void> = {
  "kill -9": ({ socket }) => process.kill(tmuxPid(socket), "SIGKILL"),
  "kill-server": ({ socket }) => void socket.tmux("kill-server"),
  "detach-client": ({ socket }) => void socket.tmux("detach-client", "-t", ownHub(socket).client),
  "kill the hub": ({ socket }) => void socket.tmux("kill-session", "-t", `=${ownHub(socket).hub}`),
};

test.each(Object.entries(blows))("%s, 20 times", async (blow, strike) => {
  const settledMs: number[] = [];
  const readyMs: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    await using fixture = await ownedFixture();
    const sink = await ByteSink.start(fixture.server, fixture.socket.directory, "sink");
    const ready = nextState(fixture.server, "ready");
    // The blow is struck by a process of its own, which stops this one meanwhile: the clock starts after it.
    const calls = callEverything(fixture.server, sink.pane, "mark");
    strike(fixture);
    const struckMs = performance.now();
    const settled = await calls;
    settledMs.push(performance.now() - struckMs);
    for (const { error } of settled) expect(error?.code ?? "CONNECTION_LOST").toBe("CONNECTION_LOST");
    await ready;
    readyMs.push(performance.now() - struckMs);
  }
  report("blow", { blow, settled: spread(settledMs), ready: spread(readyMs) });
  expect(Math.max(...settledMs)).toBeLessThan(1_000);
});

test.each([5_000, 13_000])("stopped for %i ms", async (stoppedMs) => {
  await using fixture = await ownedFixture();
  const { server, socket } = fixture;
  const sink = await ByteSink.start(server, socket.directory, "sink");
  const pid = tmuxPid(socket);
  const degraded = nextState(server, "degraded");
  process.kill(pid, "SIGSTOP");
  const calls = callEverything(server, sink.pane, "mark");
  await delay(stoppedMs);
  const state = server.status().state;
  const continuedMs = performance.now();
  const ready = state === "degraded" ? nextState(server, "ready") : Promise.resolve(0);
  process.kill(pid, "SIGCONT");
  await ready;
  const recoveredMs = sinceMs(continuedMs);
  const settled = await calls;
  const typed = await sink.received("mark;".length);
  report("stopped", {
    stoppedMs,
    state,
    degradedAfterMs: state === "degraded" ? Math.round(await degraded) : undefined,
    recoveredMs,
    calls: settled.map(
      ({ call, error }) => `${call} ${error?.code ?? "ok"} ${JSON.stringify(error?.details?.["delivery"]) ?? ""}`,
    ),
    typed: typed.toString("latin1").split("mark;").length - 1,
  });
  expect(state).toBe(stoppedMs > 12_000 ? "degraded" : "ready");
  expect(typed.toString("latin1").split("mark;")).toHaveLength(2);
  expect(recoveredMs).toBeLessThan(1_000);
});
