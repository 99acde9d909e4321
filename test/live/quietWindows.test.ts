/**
 * A window that was written to by a pane that is not there any more, or not yet, is no silent one: no hole is declared where
 * nothing is missing (`outputWatch.ts`).
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";
import { DEAF } from "../support/tmux/output.ts";

const HEARTBEAT_MS = 40;
const ROUNDS = 6;

/** Milliseconds to wait, or a command. */
type Step = number | readonly string[];
const WRITING = ["echo one; exec cat"];

/** Another pane writes in the window of `pane` and is not there any more at once. */
const CROSSINGS: readonly (readonly [name: string, steps: (pane: string, other: string) => readonly Step[]])[] = [
  ["ended", (pane) => [["split-window", "-d", "-t", pane, "echo one"]]],
  // Long after its window has changed; what it writes last is lost (docs/tmuxFacts.md 15).
  [
    "dead and kept",
    (pane) => [
      ["set-option", "-w", "-t", pane, "remain-on-exit", "on", ";", "split-window", "-t", pane, "read x; echo one"],
      1_100,
      ["send-keys", "-t", "=one:", "Enter"],
      500,
      ["kill-pane", "-a", "-t", pane],
    ],
  ],
  ["killed", (pane) => [["split-window", "-t", pane, ...WRITING], 100, ["kill-pane", "-a", "-t", pane]]],
  [
    "moved away",
    (pane, other) => [
      ["split-window", "-t", pane, ...WRITING],
      100,
      ["join-pane", "-d", "-s", "=one:", "-t", other, ";", "kill-pane", "-a", "-t", other],
    ],
  ],
];

const IS_KEEPING = keepsPanes();

test.concurrent.each(
  CROSSINGS.filter(([name]) => IS_KEEPING || name !== "dead and kept").flatMap(([name, steps]) => [
    ["owned", name, steps] as const,
    ["guest", name, steps] as const,
  ]),
)("%s: a pane that is %s leaves no hole in the others", async (kind, _name, steps) => {
  await using fixture =
    kind === "owned"
      ? await ownedFixture({ heartbeatMs: HEARTBEAT_MS })
      : await guestFixture((socket) => ["one", "two"].forEach((name) => userSession(socket, name)), {
          heartbeatMs: HEARTBEAT_MS,
        });
  const { server, socket } = fixture;
  if (kind === "owned") for (const name of ["one", "two"]) await server.createSession({ name, command: ["cat"] });
  // At this pace of heartbeats a slow machine may need a second connection before anything is listed.
  await eventually(() => ["one", "two"].every((name) => server.findSession(name)?.activePane !== undefined));
  const [pane, other] = ["one", "two"].map((name) => server.findSession(name)!.activePane!);
  const holes: unknown[] = [];
  for (const id of [pane!, other!])
    server.output(id).subscribe({ ...DEAF, gap: (gap) => holes.push(gap), closed: (error) => holes.push(error) });
  await server.capture(pane!);
  await server.capture(other!);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const step of steps(pane!, other!)) {
      if (typeof step === "number") await delay(step);
      else socket.tmux(...step);
    }
    // Some beats, at another place in tmux's second each time.
    await delay(3 * HEARTBEAT_MS + 37);
  }
  expect([...holes]).toEqual([]);
});
