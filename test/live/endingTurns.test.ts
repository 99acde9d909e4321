/** Ends that the daemon asks for in one turn of tmux's loop: no version of tmux may crash of them (docs/tmuxFacts.md 64). */
import { expect, test } from "vitest";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { eventually } from "../support/clock/eventually.ts";
import { tmuxPid } from "../support/tmux/failureScenarios.ts";
import { guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";

const CAT = ["cat"];

type Ends = (server: TmuxServer, session: Awaited<ReturnType<typeof twoWindows>>) => readonly Promise<unknown>[];

/** The first one is its current window. */
async function twoWindows(server: TmuxServer) {
  const { id, windows, activePane } = await server.createSession({ name: "two", command: CAT });
  const second = await server.layout.run({ kind: "new-window", session: id, command: CAT, detached: true });
  return { id, windows: [windows[0]!, second.window!], panes: [activePane!, second.pane!] } as const;
}

const ENDS: readonly (readonly [string, Ends])[] = [
  ["its windows", ({ layout }, { windows }) => windows.map((window) => layout.run({ kind: "kill-window", window }))],
  ["its panes", ({ layout }, { panes }) => panes.map((pane) => layout.run({ kind: "kill-pane", pane }))],
  [
    "a window and then itself",
    (server, { id, windows }) => [
      server.layout.run({ kind: "kill-window", window: windows[0] }),
      server.killSession(id),
    ],
  ],
  [
    "another window is selected, and it is ended",
    (server, { id, windows }) => [
      server.layout.run({ kind: "select-window", session: id, window: windows[1] }),
      server.killSession(id),
    ],
  ],
  [
    "its panes move elsewhere",
    (server, { panes }) =>
      panes.map((pane) =>
        server.layout.run({
          kind: "move-pane",
          pane,
          to: server.findSession("other")!.activePane!,
          direction: "vertical",
        }),
      ),
  ],
];

test.each(ENDS.flatMap(([name, ends]) => [["owned", name, ends] as const, ["guest", name, ends] as const]))(
  "%s: a session whose end is asked for at once: %s",
  async (kind, _name, ends) => {
    await using fixture = await (kind === "owned"
      ? ownedFixture()
      : guestFixture((socket) => void userSession(socket, "first")));
    const { server, socket } = fixture;
    await server.createSession({ name: "other", command: CAT });
    const session = await twoWindows(server);
    const pid = tmuxPid(socket);
    // Several may close what one of them has closed already.
    await Promise.allSettled(ends(server, session));
    expect(tmuxPid(socket)).toBe(pid);
    expect(server.findSession("two")).toBeUndefined();
    expect(server.findSession("other")).toBeDefined();
  },
);

/** With tmux 3.4, such ends can be the server's (docs/tmuxFacts.md 65). */
test.each(["owned", "guest"] as const)("%s: zoomed windows and their sessions are ended", async (kind) => {
  await using fixture = await (kind === "owned"
    ? ownedFixture()
    : guestFixture((socket) => void userSession(socket, "first")));
  const { server, socket } = fixture;
  await server.createSession({ name: "other", command: CAT });
  const pid = tmuxPid(socket);
  for (let round = 0; round < 8; round += 1) {
    const { id, windows, panes } = await twoWindows(server);
    for (const pane of panes) {
      await server.layout.run({ kind: "split-window", pane, command: CAT, direction: "vertical" });
      await server.layout.run({ kind: "resize-pane", pane, zoom: true });
    }
    await server.layout.run({ kind: "kill-window", window: windows[1] });
    // On an owned server its windows stay in the hub, and we end them.
    if (round % 2 === 0 || kind === "guest") await server.killSession(id);
    else socket.tmux("kill-session", "-t", id);
    await eventually(() => server.findSession("two") === undefined);
  }
  expect(tmuxPid(socket)).toBe(pid);
});
