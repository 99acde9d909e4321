/**
 * A window that was written to by a pane that is not there any more, or not yet, is no silent one: no hole is declared where
 * nothing is missing (`outputWatch.ts`).
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { guestFixture, userSession } from "../support/guestFixture.ts";
import { ownedFixture } from "../support/ownedFixture.ts";

const HEARTBEAT_MS = 40;
const ROUNDS = 6;

const WRITING = ["echo one; exec cat", ";", "run-shell", "sleep 0.1", ";"];

/** Another pane writes in the window of `pane` and is not there any more at once. */
const CROSSINGS: readonly (readonly [name: string, command: (pane: string, other: string) => readonly string[]])[] = [
  ["ended", (pane) => ["split-window", "-d", "-t", pane, "echo one"]],
  ["killed", (pane) => ["split-window", "-t", pane, ...WRITING, "kill-pane"]],
  [
    "moved away",
    (pane, other) => {
      const move = ["join-pane", "-d", "-t", other, ";", "kill-pane", "-a", "-t", other];
      return ["split-window", "-t", pane, ...WRITING, ...move];
    },
  ],
];

test.concurrent.each(
  CROSSINGS.flatMap(([name, command]) => [["owned", name, command] as const, ["guest", name, command] as const]),
)("%s: a pane that is %s leaves no hole in the others", async (kind, _name, command) => {
  await using fixture =
    kind === "owned"
      ? await ownedFixture({ heartbeatMs: HEARTBEAT_MS })
      : await guestFixture((socket) => ["one", "two"].forEach((name) => userSession(socket, name)), {
          heartbeatMs: HEARTBEAT_MS,
        });
  const { server, socket } = fixture;
  if (kind === "owned") for (const name of ["one", "two"]) await server.createSession({ name, command: ["cat"] });
  const [pane, other] = ["one", "two"].map((name) => server.findSession(name)!.activePane!);
  const holes: unknown[] = [];
  for (const id of [pane!, other!])
    server.output(id).subscribe({
      advanced: () => undefined,
      gap: (gap) => holes.push(gap),
      exited: () => undefined,
      closed: (error) => holes.push(error),
    });
  await server.capture(pane!);
  await server.capture(other!);
  for (let round = 0; round < ROUNDS; round += 1) {
    socket.tmux(...command(pane!, other!));
    // Some beats, at another place in tmux's second each time.
    await delay(3 * HEARTBEAT_MS + 37);
  }
  expect([...holes]).toEqual([]);
});
