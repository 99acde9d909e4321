/** Ends that the daemon asks for in one turn of tmux's loop: no version of tmux may crash of them (docs/tmuxFacts.md 64). */
import { expect, test } from "vitest";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
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
