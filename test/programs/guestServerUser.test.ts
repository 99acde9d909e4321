/** What the user notices of a guest: that somebody is attached, and nothing else (docs/tmuxFacts.md 31, 32). */
import { spawnSync, spawn } from "node:child_process";
import { expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import {
  ECHOING,
  attached,
  guestFixture,
  ours,
  paneOf,
  userClient,
  userClients,
  userSession,
  userState,
  watchAll,
} from "../support/tmux/guestFixture.ts";
import { collectUntil } from "../support/tmux/output.ts";
import { text } from "../support/tmux/panePrograms.ts";
import { guestEngine } from "../support/daemon/cliBuild.ts";

/** Runs until it is killed; resolves once it watches this pane. */
async function guestDaemon(socketPath: string, pane: string): Promise<{ kill(signal: NodeJS.Signals): void }> {
  const body = `
    const { startGuestServer, systemClock } = await import(${JSON.stringify(guestEngine())});
    const server = await startGuestServer({
      socketPath: ${JSON.stringify(socketPath)}, env: process.env, clock: systemClock,
    });
    const ignore = () => undefined;
    server.output(${JSON.stringify(pane)}).subscribe({ advanced: ignore, gap: ignore, exited: ignore, closed: ignore });
    await server.capture(${JSON.stringify(pane)});
    console.log("watching");
    setInterval(ignore, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", body], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`the guest ended with ${code}`)));
  });
  return { kill: (signal) => void child.kill(signal) };
}

test("everything is as before after guests have come, watched every pane and gone", async () => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "a");
    userSession(socket, "b");
    socket.tmux("split-window", "-d", "-h", "-t", "=a:", "cat");
    socket.tmux("new-window", "-d", "-t", "=b:", "cat");
    socket.tmux("link-window", "-d", "-s", "=a:0", "-t", "=b:7");
    socket.tmux("set-hook", "-g", "window-linked", "display-message linked");
    socket.tmux("set-environment", "-t", "=a:", "SSH_AUTH_SOCK", "/kept");
  });
  const { server, socket } = fixture;
  await server.close();
  await eventually(() => attached(socket).length === 0);
  await using people = await userClients(socket, [
    ["a", { cols: 100, rows: 31 }],
    ["a", { cols: 70, rows: 20 }],
  ]);
  expect(people.count).toBe(2);
  const before = userState(socket);
  for (let cycle = 0; cycle < 5; cycle += 1) {
    const guest = await fixture.another();
    await watchAll(guest);
    await guest.close();
    await eventually(() => ours(socket).length === 0);
  }
  expect(userState(socket)).toBe(before);
});

test("a daemon that is killed leaves nothing behind", async () => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "a");
    userSession(socket, "b");
  });
  const { server, socket } = fixture;
  await server.close();
  await eventually(() => attached(socket).length === 0);
  const before = userState(socket);
  for (const session of server.sessions()) {
    const daemon = await guestDaemon(socket.socketPath, session.activePane!);
    expect(ours(socket).length).toBeGreaterThan(0);
    daemon.kill("SIGKILL");
    await eventually(() => attached(socket).length === 0);
  }
  expect(userState(socket)).toBe(before);
});

test("what a daemon that was killed while pasting left behind is removed, and nothing else", async () => {
  const gone = spawnSync("true").pid;
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "main");
    for (const name of [`tmuxwire-${gone}-abc-1`, `tmuxwire-${process.pid}-abc-1`, "tmuxwire-mine", "mine"]) {
      socket.tmux("set-buffer", "-b", name, "text");
    }
  });
  const { server, socket } = fixture;
  await server.capture(paneOf(server, "main"));
  const names = socket.tmux("list-buffers", "-F", "#{buffer_name}").trim().split("\n").sort();
  expect(names).toEqual([`tmuxwire-${process.pid}-abc-1`, "tmuxwire-mine", "mine"].sort());
});

test("a person and the guest type at once: both arrive whole, and no size changes", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "main", ECHOING));
  const { server, socket } = fixture;
  const pane = paneOf(server, "main");
  await using person = await userClient(socket, "main", { cols: 90, rows: 28 });
  await eventually(() => server.findPane(pane)?.cols === 90);
  const source = server.output(pane);
  await eventually(async () => (await server.capture(pane)).lines.join("").includes("ready;"));
  const from = source.outputSeq;
  const jobs = Array.from({ length: 50 }, (_unused, at) => `[job ${at} ${"x".repeat(40)}]`);
  const typed = "the person types this sentence, letter by letter.";
  const sizes = new Set<string>();
  const typing = (async () => {
    for (const letter of typed) {
      person.type(letter);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  await Promise.all([...jobs.map((job) => server.input(pane, [text(job)])), typing]);
  const length = jobs.join("").length + typed.length;
  const all = (await collectUntil(source, from, (bytes) => bytes.length >= length)).toString();
  sizes.add(socket.tmux("display-message", "-p", "-t", pane, "#{window_width}x#{window_height}").trim());
  for (const job of jobs) expect(all).toContain(job);
  let rest = all;
  for (const job of jobs) rest = rest.replace(job, "");
  expect(rest).toBe(typed);
  expect([...sizes]).toEqual(["90x27"]);
});

test("a window follows its user's terminal and never ours", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "main"));
  const { server, socket } = fixture;
  const pane = paneOf(server, "main");
  const size = (): string =>
    socket.tmux("display-message", "-p", "-t", pane, "#{window_width}x#{window_height}").trim();
  await server.capture(pane);
  expect(size()).toBe("100x30");
  await using person = await userClient(socket, "main", { cols: 61, rows: 21 });
  await eventually(() => size() === "61x20");
  person.resize(72, 25);
  await eventually(() => server.findPane(pane)?.cols === 72);
  expect(size()).toBe("72x24");
  await person.leave();
  await eventually(() => attached(socket).every((client) => client.isOurs));
  await server.capture(pane);
  expect(size()).toBe("72x24");
});

test("a session that ends with its last user ends, and so does such a server", async () => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "kept");
    userSession(socket, "passing");
  });
  const { server, socket } = fixture;
  const pane = paneOf(server, "passing");
  await using person = await userClient(socket, "passing");
  socket.tmux("set-option", "-t", "=passing:", "destroy-unattached", "on");
  const source = server.output(pane);
  await server.input(pane, [text("x")]);
  await collectUntil(source, 0, (bytes) => bytes.includes("x"));
  await person.leave();
  await eventually(() => server.findSession("passing") === undefined);
  expect(server.findSession("kept")).toBeDefined();
  await using last = await userClient(socket, "kept");
  socket.tmux("set-option", "-s", "exit-unattached", "on");
  await server.capture(paneOf(server, "kept"));
  await last.leave();
  await eventually(() => server.status().state === "connecting" && server.sessions().length === 0);
  expect(() => socket.tmux("has-session")).toThrow(/no server running|error connecting/);
});

test("the base connection makes way for the user's next attach", async () => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "older");
    userSession(socket, "recent");
  });
  const { server, socket } = fixture;
  const person = await userClient(socket, "recent");
  await server.close();
  const guest = await fixture.another();
  expect(ours(socket)).toEqual(["recent"]);
  await person.leave();
  await eventually(() => ours(socket).join() === "older");
  expect(guest.status().state).toBe("ready");
  await guest.close();
});
