/**
 * The user's own server is the same before and after a hundred guests that do all that a dashboard does to it: watch every
 * pane and its readiness, look at processes, mark panes and take the marks away, type.
 */
import { expect, test } from "vitest";
import { procfs } from "../../daemon/host/procfs.ts";
import { paneRunsProgram } from "../../daemon/panes/paneProcesses.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { eventually } from "../support/clock/eventually.ts";
import {
  attached,
  guestFixture,
  ours,
  userClients,
  userSession,
  userState,
  watchAll,
} from "../support/tmux/guestFixture.ts";
import { text } from "../support/tmux/panePrograms.ts";
import { realReadiness } from "../support/agents/readinessWatch.ts";

const CYCLES = 100;

test(`${CYCLES} guests come, watch and read every pane and go`, async () => {
  await using fixture = await guestFixture((socket) => {
    for (const name of ["a", "b", "c"]) {
      userSession(socket, name);
      socket.tmux("split-window", "-d", "-t", `=${name}:`, "cat");
    }
    socket.tmux("link-window", "-d", "-s", "=a:0", "-t", "=b:7");
    socket.tmux("set-option", "-t", "=c:", "status", "off");
    socket.tmux("set-hook", "-g", "client-attached", "display-message hello");
  });
  const { server, socket } = fixture;
  await server.close();
  await eventually(() => attached(socket).length === 0);
  await using people = await userClients(socket, [
    ["a", { cols: 100, rows: 31 }],
    ["b", { cols: 70, rows: 20 }],
    ["b", { cols: 90, rows: 25 }],
  ]);
  expect(people.count).toBe(3);
  const before = userState(socket);
  const cycleMs: number[] = [];
  for (let cycle = 0; cycle < CYCLES; cycle += 1) {
    const startMs = performance.now();
    const guest = await fixture.another();
    await watchAll(guest);
    await doAsADashboard(guest);
    await guest.close();
    cycleMs.push(performance.now() - startMs);
    await eventually(() => ours(socket).length === 0);
    expect(userState(socket), `after ${cycle + 1} cycles`).toBe(before);
  }
  const median = cycleMs.sort((x, y) => x - y)[CYCLES / 2] ?? 0;
  console.log(JSON.stringify({ cycles: CYCLES, medianMs: Math.round(median) }));
});

async function doAsADashboard(guest: TmuxServer): Promise<void> {
  const readiness = realReadiness();
  const panes = guest.panes().map(({ id, pid }) => ({ id, pid, readiness: readiness.watch(guest, id) }));
  for (const { id, pid, readiness: watched } of panes) {
    await guest.setPaneUserOption(id, "agent", `${pid} #{pid}`);
    await guest.input(id, [text("x"), { kind: "keys", keys: ["BSpace"] }]);
    await watched.probe();
    expect(await paneRunsProgram(pid, new Set(["cat"]), procfs())).toBe(true);
  }
  const marks = await guest.paneUserOptions("agent");
  expect(marks.size).toBe(panes.length);
  for (const id of marks.keys()) await guest.setPaneUserOption(id, "agent", undefined);
  readiness.close();
}
