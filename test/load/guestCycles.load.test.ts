/** The user's own server is the same before and after a hundred guests (issue 6, last row). */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import {
  attached,
  guestFixture,
  ours,
  userClients,
  userSession,
  userState,
  watchAll,
} from "../support/guestFixture.ts";
import { text } from "../support/panePrograms.ts";

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
    for (const { id } of guest.panes()) await guest.input(id, [text("x"), { kind: "keys", keys: ["BSpace"] }]);
    await guest.close();
    cycleMs.push(performance.now() - startMs);
    await eventually(() => ours(socket).length === 0);
    expect(userState(socket), `after ${cycle + 1} cycles`).toBe(before);
  }
  const median = cycleMs.sort((x, y) => x - y)[CYCLES / 2] ?? 0;
  console.log(JSON.stringify({ cycles: CYCLES, medianMs: Math.round(median) }));
});
