/**
 * What is typed in a pane acts on the pane's session, also where our hub is newer than it: after the connection was made
 * anew, and after another daemon has taken over (docs/tmuxFacts.md 54).
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { ownHub } from "../support/tmux/failureScenarios.ts";
import { eventually } from "../support/clock/eventually.ts";
import { breakConnection, ownedFixture, type OwnedFixture, type PrivateSocket } from "../support/tmux/ownedFixture.ts";
import { script, text } from "../support/tmux/panePrograms.ts";

const SHELL = ["env", "ENV=", "PS1=$ ", "sh"];
/** Asks for focus events and shows what it is given. */
const FOCUSED = script(
  'process.stdin.setRawMode(true); process.stdout.write("\\x1b[?1004hasked;"); process.stdin.on("data", (bytes) => console.log("got " + JSON.stringify(String(bytes))));',
);

const paneOf = (server: TmuxServer, name: string): PaneId => server.findSession(name)!.activePane!;

let typed = 0;
async function type(server: TmuxServer, socket: PrivateSocket, pane: PaneId, line: string): Promise<string> {
  const mark = join(socket.directory, `done${(typed += 1)}`);
  await server.input(pane, [text(`{ ${line}; } >${mark}.out 2>&1; : >${mark}\n`)]);
  await eventually(() => existsSync(mark));
  return readFileSync(`${mark}.out`, "utf8").trim();
}

const screen = (socket: PrivateSocket, session: string): string =>
  socket.tmux("capture-pane", "-p", "-t", `=${session}:`);

async function sessions({ server, socket }: OwnedFixture): Promise<void> {
  for (const name of ["first", "second"]) await server.createSession({ name, command: SHELL });
  await server.createSession({ name: "focused", command: FOCUSED });
  await eventually(() => screen(socket, "focused").includes("asked;"));
}

/** Each line acts on the session of the pane it is typed in; nothing else has changed. */
async function expectOwnSession(server: TmuxServer, socket: PrivateSocket): Promise<void> {
  for (const name of ["first", "second"]) {
    const pane = paneOf(server, name);
    const type1 = (line: string): Promise<string> => type(server, socket, pane, line);
    expect(await type1("tmux display-message -p '#S'")).toBe(name);
    const windows = (): string[] =>
      socket.tmux("list-windows", "-t", `=${name}:`, "-F", "#{window_name}").trim().split("\n");
    const before = windows().length;
    await type1(`tmux new-window -d -n made cat`);
    expect(windows()).toHaveLength(before + 1);
    await type1(`tmux rename-window renamed; tmux split-window -d cat`);
    expect(windows()).toContain("renamed");
    expect(socket.tmux("display-message", "-p", "-t", `=${name}:renamed`, "#{window_panes}").trim()).toBe("2");
    await type1("tmux kill-pane -a; tmux kill-window -t made");
    await type1(`tmux rename-session ${name}-new; tmux rename-session ${name}`);
    await eventually(() => server.findSession(name)?.windows.length === before);
  }
  expect(screen(socket, "focused")).not.toContain("got");
}

describe("a hub that is newer than the sessions", () => {
  test("after the connection was made anew", async () => {
    await using fixture = await ownedFixture();
    const { server, socket } = fixture;
    await sessions(fixture);
    await expectOwnSession(server, socket);
    const order = (): string =>
      socket.tmux("list-sessions", "-F", "#{session_name} #{session_windows}").replace(/^__.*\n/m, "");
    const before = order();
    for (let round = 0; round < 3; round += 1) {
      await breakConnection(fixture);
      await expectOwnSession(server, socket);
    }
    expect(order()).toBe(before);
    // Nobody but our client is attached anywhere.
    expect(socket.tmux("list-clients", "-F", "#{m:__*,#{session_name}}")).toBe("1\n");
    // The one of which it went last is the one that was used last.
    await type(server, socket, paneOf(server, "first"), "tmux new-session -d -s last cat");
    await breakConnection(fixture);
    expect(socket.tmux("display-message", "-p", "#S").trim()).toBe("last");
  });

  test("after another daemon has taken over", async () => {
    await using fixture = await ownedFixture();
    const { server, socket } = fixture;
    await sessions(fixture);
    await server.close();
    await using next = {
      server: await startOwnedServer({
        socketPath: socket.socketPath,
        env: paneEnvironment(process.env),
        clock: systemClock,
      }),
      async [Symbol.asyncDispose]() {
        await this.server.close();
      },
    };
    await expectOwnSession(next.server, socket);
    expect(next.server.status().state).toBe("ready");
  });

  test("a window that is made in the hub is given to the session that was used last, with its program", async () => {
    await using fixture = await ownedFixture();
    const { server, socket } = fixture;
    const { hub } = ownHub(socket);
    socket.tmux("new-window", "-d", "-t", `=${hub}:`, "-n", "early", "cat");
    const windows = (name: string): string => socket.tmux("list-windows", "-t", `=${name}:`, "-F", "#{window_name}");
    for (const name of ["first", "second"]) await server.createSession({ name, command: ["cat"] });
    // There was no session when it was made.
    await eventually(() => windows("first").includes("early") || windows("second").includes("early"));
    const made = (name: string): string =>
      socket.tmux("new-window", "-d", "-P", "-F", "#{pane_id} #{pane_pid}", "-t", `=${hub}:`, "-n", name, "cat").trim();
    const [pane = "", pid] = made("kept").split(" ");
    await eventually(() => windows("second").includes("kept"));
    await eventually(() => server.findPane(pane as PaneId) !== undefined);
    expect(socket.tmux("display-message", "-p", "-t", pane, "#{pane_pid}").trim()).toBe(pid);
    expect(windows(hub)).toContain("kept");
    // Now it is the session's like any other, and ends with it.
    socket.tmux("kill-session", "-t", "=second");
    await eventually(() => !windows(hub).includes("kept"));
    expect(server.findSession("first")).toBeDefined();
  });
});
