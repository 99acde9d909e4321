/** A control client that is no process: it is one to tmux in all that matters, and its coming and going ends no server (docs/tmuxFacts.md 50). */
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { directClients } from "../../daemon/host/clients/directTransport.ts";
import type { Transport } from "../../daemon/host/clients/transport.ts";
import { attachCommand } from "../../daemon/servers/guest/guestProbe.ts";
import { introductionTo } from "../../daemon/servers/introduction.ts";
import type { SessionId } from "../../protocol/ids.ts";
import { eventually } from "../support/clock/eventually.ts";
import { tmuxPid } from "../support/tmux/failureScenarios.ts";
import { attached, guestFixture, userSession, watchAll } from "../support/tmux/guestFixture.ts";
import { type PrivateSocket, privateSocket } from "../support/tmux/ownedFixture.ts";

/** In a process of its own, which does not hold up ours; a session that has ended meanwhile is no fault. */
const later = (socket: PrivateSocket, ...args: readonly string[]): Promise<void> =>
  new Promise((resolve) => execFile("tmux", ["-u", "-S", socket.socketPath, ...args], () => resolve()));

const versionOf = (socket: PrivateSocket): string => socket.tmux("display-message", "-p", "#{version}").trim();

function isDirect(socket: PrivateSocket): boolean {
  const version = versionOf(socket);
  if (introductionTo(version, directClients() !== undefined) === "direct") return true;
  console.log(`tmux ${version} gets clients of its own program: a direct one is not tried`);
  return false;
}

interface Client {
  readonly transport: Transport;
  readonly said: () => string;
  readonly isClosed: () => boolean;
}

function directClient(socket: PrivateSocket, session: string, version: string): Client {
  let [said, isClosed] = ["", false];
  const transport = directClients()!({
    socketPath: socket.socketPath,
    command: attachCommand(session as SessionId),
    messages: /^3\.[2-5]/.test(version) ? "old" : "new",
    env: {},
    cwd: "/",
    onData: (chunk) => (said += Buffer.from(chunk).toString("utf8")),
    onClose: () => (isClosed = true),
  });
  return { transport, said: () => said, isClosed: () => isClosed };
}

test("it attaches, gets output, has its commands run, and is gone when it is closed", async () => {
  await using socket = privateSocket();
  userSession(socket, "a", ["sh", "-c", "printf 'gr\\303\\274n'; exec cat"]);
  if (!isDirect(socket)) return;
  const { transport, said, isClosed } = directClient(socket, "$0", versionOf(socket));
  await eventually(() => /%session-changed \$0 a/.test(said()));
  expect(attached(socket)).toMatchObject([{ pid: process.pid, session: "a", isOurs: true }]);
  transport.write("send-keys -t %0 hello Enter\n");
  await eventually(() => /%extended-output %0 .*hello/.test(said()));
  transport.write("capture-pane -p\n");
  await eventually(() => said().includes("grün"));
  transport.close();
  transport.close();
  await eventually(() => isClosed() && attached(socket).length === 0);
  expect(said()).not.toContain("%exit");
});

test.each([
  ["is gone", "gone"],
  ["is too long for a socket", "d".repeat(70)],
])("it attaches, and leaves no file, where the directory for temporary files %s", async (_what, name) => {
  await using socket = privateSocket();
  userSession(socket, "a", ["cat"]);
  if (!isDirect(socket)) return;
  const directory = join(socket.directory, name);
  if (name !== "gone") mkdirSync(directory);
  const files = readdirSync(socket.directory, { recursive: true });
  vi.stubEnv("TMPDIR", directory);
  const { transport, said } = directClient(socket, "$0", versionOf(socket));
  await eventually(() => /%session-changed|error/.test(said()));
  expect(said()).toContain("%session-changed $0 a");
  expect(readdirSync(socket.directory, { recursive: true })).toEqual(files);
  transport.close();
});

test.each([
  ["detach-client", "%exit\n"],
  ["kill-server", "%exit\n"],
  ["kill -9", "%exit server exited unexpectedly\n"],
])("%s ends it, and it says so as tmux's own client does", async (how, end) => {
  await using socket = privateSocket();
  userSession(socket, "a");
  if (!isDirect(socket)) return;
  const { said, isClosed } = directClient(socket, "$0", versionOf(socket));
  await eventually(() => /%session-changed/.test(said()));
  if (how === "kill -9") process.kill(tmuxPid(socket), "SIGKILL");
  else socket.tmux(how, ...(how === "detach-client" ? ["-s", "a"] : []));
  await eventually(isClosed);
  expect(said().endsWith(end)).toBe(true);
});

test("without a server it says what is missing, and it leaves nothing behind", async () => {
  const open = directClients();
  if (open === undefined) return console.log("this Node cannot pass descriptors: nothing is tried");
  await using socket = privateSocket();
  vi.stubEnv("TMPDIR", socket.directory);
  const said: string[] = [];
  await new Promise<void>((onClose) => {
    const onData = (chunk: Uint8Array): void => void said.push(Buffer.from(chunk).toString());
    open({ socketPath: socket.socketPath, command: ["x"], messages: "old", env: {}, cwd: "/", onData, onClose });
  });
  expect(said).toEqual([`error connecting to ${socket.socketPath} (ENOENT)\n`]);
  expect(readdirSync(socket.directory)).toEqual([]);
});

test("closed at any moment of its introduction, it ends no server", async () => {
  await using socket = privateSocket();
  userSession(socket, "a");
  if (!isDirect(socket)) return;
  const [version, pid] = [versionOf(socket), tmuxPid(socket)];
  for (let turns = 0; turns < 40; turns += 1) {
    const { transport, isClosed } = directClient(socket, "$0", version);
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    transport.close();
    await eventually(isClosed);
  }
  await eventually(() => attached(socket).length === 0);
  expect(tmuxPid(socket)).toBe(pid);
});

test("a user's server lives while its sessions come and go in bursts beside a guest that watches them all", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "desk"));
  const { server, socket } = fixture;
  const pid = tmuxPid(socket);
  const ignore = (): void => undefined;
  server.subscribe((event) => {
    if (event.kind !== "session-created") return;
    const pane = server.sessions().find(({ id }) => id === event.session)?.activePane;
    try {
      if (pane !== undefined)
        server.output(pane).subscribe({ advanced: ignore, gap: ignore, exited: ignore, closed: ignore });
    } catch {
      // Lost: the server's process tells.
    }
  });
  const asked: Promise<void>[] = [];
  for (let made = 0; made < 80; made += 1) {
    asked.push(later(socket, "new-session", "-d", "-s", `s${made}`, "exec cat"));
    if (made % 4 === 3) asked.push(later(socket, "kill-session", "-t", `=s${made - 2}`));
    await delay(made % 16 === 15 ? 125 : (made * 37) % 70);
  }
  await Promise.all(asked);
  expect(tmuxPid(socket)).toBe(pid);
  // On a busy machine an end can come before its session: tmux says which are left.
  const left = socket.tmux("list-sessions").trim().split("\n").length;
  expect(left).toBeLessThan(81);
  // The panes of a session that has ended leave the inventory with the listing after it.
  await eventually(async () => {
    const isListed = server.sessions().length === left && server.panes().length === left;
    return isListed && (await watchAll(server).then(() => true, ignore)) === true;
  });
});
