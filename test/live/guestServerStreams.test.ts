/** Output on a guest's server: each byte of a watched pane exactly once, whichever sessions show it. */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { openPtyTransport } from "../../daemon/host/clients/ptyTransport.ts";
import { type Clock, systemClock } from "../../daemon/time/clock.ts";
import type { OutputSource } from "../../daemon/tmux/outputSource.ts";
import { eventually } from "../support/clock/eventually.ts";
import { closing, nextState } from "../support/tmux/failureScenarios.ts";
import {
  ECHOING,
  attached,
  guestFixture,
  ours,
  paneOf,
  type UserClient,
  userClient,
  userSession,
  watchAll,
} from "../support/tmux/guestFixture.ts";
import { collectUntil, follow } from "../support/tmux/output.ts";
import { script, text } from "../support/tmux/panePrograms.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { MAX_GUEST_ATTACHING } from "../../protocol/limits.ts";

/** Its program runs, and its output flows. */
async function listening(server: TmuxServer, pane: PaneId): Promise<OutputSource> {
  await eventually(async () => (await server.capture(pane)).lines.join("").includes("ready;"));
  return server.output(pane);
}

const numbered = (mark: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_unused, at) => `${mark}${at};`);

test("several sessions at once: each pane's own bytes, one client for each session", async () => {
  await using fixture = await guestFixture((socket) => {
    for (const name of ["a", "b", "c"]) userSession(socket, name, ECHOING);
  });
  const { server, socket } = fixture;
  const panes = ["a", "b", "c"].map((name) => paneOf(server, name));
  const sources = await Promise.all(panes.map((pane) => listening(server, pane)));
  const starts = sources.map((source) => source.outputSeq);
  await Promise.all(
    panes.map(async (pane, at) => {
      for (const piece of numbered(`p${at}-`, 200)) await server.input(pane, [text(piece)]);
    }),
  );
  for (const [at, source] of sources.entries()) {
    const expected = numbered(`p${at}-`, 200).join("");
    const got = await collectUntil(source, starts[at]!, (bytes) => bytes.length >= expected.length);
    expect(got.toString()).toBe(expected);
  }
  expect(ours(socket)).toEqual(["a", "b", "c"]);
});

test("no client of ours holds another one's terminal: each is hung up when we close it", async () => {
  await using fixture = await guestFixture(
    (socket) => {
      for (const name of ["a", "b", "c"]) userSession(socket, name, ECHOING);
    },
    { transport: openPtyTransport },
  );
  const { server, socket } = fixture;
  await Promise.all(["a", "b", "c"].map((name) => listening(server, paneOf(server, name))));
  const ourClients = () => attached(socket).filter((client) => client.isOurs);
  // A stream begins before its client is listed.
  await eventually(() => ourClients().length === 3);
  const clients = ourClients();
  for (const { pid } of clients) {
    // Linux tells; elsewhere there is nothing to look at.
    const directory = `/proc/${pid}/fd`;
    const open = existsSync(directory) ? readdirSync(directory).map((fd) => readlinkSync(join(directory, fd))) : [];
    expect(open.filter((path) => path.endsWith("ptmx"))).toEqual([]);
  }
});

test("clients that could not be started for want of a pty keep no place from those that come after them", async () => {
  let isScarce = false;
  await using fixture = await guestFixture(
    (socket) => ["a", "b"].forEach((name) => userSession(socket, name, ECHOING)),
    {
      transport: (options) => {
        if (isScarce) throw new Error("forkpty(3) failed.");
        return openPtyTransport(options);
      },
    },
  );
  const { server, socket } = fixture;
  const [other] = ["a", "b"].filter((name) => !ours(socket).includes(name));
  const pane = paneOf(server, other!);
  isScarce = true;
  for (let tries = 0; tries < MAX_GUEST_ATTACHING; tries += 1) {
    await expect(server.input(pane, [text("x")])).rejects.toThrow("forkpty");
  }
  isScarce = false;
  await listening(server, pane);
  expect(ours(socket)).toEqual(["a", "b"]);
});

test("a window in two watched sessions: each byte once", async () => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "a", ECHOING);
    userSession(socket, "b", ECHOING);
    socket.tmux("link-window", "-d", "-s", "=a:0", "-t", "=b:5");
  });
  const { server, socket } = fixture;
  const pane = paneOf(server, "a");
  const other = paneOf(server, "b");
  await listening(server, other);
  const source = await listening(server, pane);
  // Both sessions are watched now, whichever of them carries the shared pane.
  const third = userSession(socket, "c", ECHOING);
  await eventually(() => server.findPane(third) !== undefined);
  await listening(server, third);
  socket.tmux("link-window", "-d", "-s", "=a:0", "-t", "=c:5");
  const from = source.outputSeq;
  let got = "";
  follow(source, from, (bytes) => (got += Buffer.from(bytes).toString()));
  const pieces = numbered("x", 300);
  for (const piece of pieces) await server.input(pane, [text(piece)]);
  await eventually(() => got.length >= pieces.join("").length);
  await server.capture(pane);
  expect(got).toBe(pieces.join(""));
  expect(server.output(pane)).toBe(source);
});

test("a window that moves away ends the stream, and the next one begins where it is", async () => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "a", ECHOING);
    socket.tmux("new-window", "-d", "-t", "=a:", "cat");
    userSession(socket, "b");
  });
  const { server, socket } = fixture;
  const pane = paneOf(server, "a");
  const source = await listening(server, pane);
  const [closed, again] = [closing(source), nextState(server, "ready")];
  socket.tmux("move-window", "-d", "-s", "=a:0", "-t", "=b:7");
  expect(await closed).toMatchObject({ code: "CONNECTION_LOST" });
  await again;
  const next = server.output(pane);
  expect(next.epoch).not.toBe(source.epoch);
  const { position } = await server.input(pane, [text("there")]);
  expect(position.epoch).toBe(next.epoch);
  expect((await collectUntil(next, position.outputSeq, (bytes) => bytes.length >= 5)).toString()).toBe("there");
  // There and back at once: what was written in between did not reach us, so that is declared too.
  const closedAgain = closing(next);
  socket.tmux("move-window", "-d", "-s", "=b:7", "-t", "=a:7");
  socket.tmux("move-window", "-d", "-s", "=a:7", "-t", "=b:7");
  expect(await closedAgain).toMatchObject({ code: "CONNECTION_LOST" });
  const joined = server.output(pane);
  await server.capture(pane);
  const closedByJoin = closing(joined);
  socket.tmux("join-pane", "-d", "-s", pane, "-t", "=a:1");
  expect(await closedByJoin).toMatchObject({ code: "CONNECTION_LOST" });
  await eventually(() => server.findPane(pane)?.window !== undefined);
  await server.input(pane, [text("joined")]);
  await collectUntil(server.output(pane), 0, (bytes) => bytes.includes("joined"));
});

test.each(["on", "off"])("a session dies with detach-on-destroy %s: the others are not touched", async (detach) => {
  await using fixture = await guestFixture((socket) => {
    for (const name of ["a", "b", "c"]) userSession(socket, name, ECHOING);
    socket.tmux("set-option", "-g", "detach-on-destroy", detach);
  });
  const { server, socket } = fixture;
  const panes = ["a", "b", "c"].map((name) => paneOf(server, name));
  const sources = await Promise.all(panes.map((pane) => listening(server, pane)));
  // One after the other, so that the base connection's session is among them whichever it is.
  for (const [at, name] of ["a", "b"].entries()) {
    const closed = closing(sources[at]!);
    socket.tmux("kill-session", "-t", `=${name}`);
    expect((await closed).code).toMatch(/NOT_FOUND|CONNECTION_LOST/);
    await eventually(() => server.findPane(panes[at]!) === undefined && server.status().state === "ready");
    await eventually(() => attached(socket).every((client) => client.session === "c" || !client.isOurs || at === 0));
    const source = server.output(panes[2]!);
    const { position } = await server.input(panes[2]!, [text(`after ${name};`)]);
    const got = await collectUntil(source, position.outputSeq, (bytes) => bytes.includes(";"));
    expect(got.toString()).toBe(`after ${name};`);
  }
  await eventually(() => ours(socket).every((session) => session === "c"));
  expect(server.sessions().map(({ name }) => name)).toEqual(["c"]);
});

test("the client of an unused session is detached, and attached again when it is used", async () => {
  await using fixture = await guestFixture(
    (socket) => {
      userSession(socket, "a", ECHOING);
      userSession(socket, "b", ECHOING);
    },
    { idleMs: 150 },
  );
  const { server, socket } = fixture;
  const [base] = ours(socket);
  const pane = paneOf(server, base === "a" ? "b" : "a");
  const source = await listening(server, pane);
  const unsubscribe = follow(source, source.outputSeq, () => undefined);
  expect(ours(socket)).toEqual(["a", "b"]);
  unsubscribe();
  await eventually(() => ours(socket).length === 1);
  const again = await listening(server, pane);
  expect(again.epoch).not.toBe(source.epoch);
  expect(ours(socket)).toEqual(["a", "b"]);
});

test("output that is no longer wanted while tmux has some queued does not cost the connection", async () => {
  const flood = script(
    `const more = () => process.stdout.write("line " + "x".repeat(900) + "\\r\\n", () => setImmediate(more)); more();`,
  );
  await using fixture = await guestFixture((socket) => void userSession(socket, "main", flood), { idleMs: 20 });
  const { server, socket, log } = fixture;
  const pane = paneOf(server, "main");
  const client = (): string => socket.tmux("list-clients", "-F", "#{client_pid} #{client_flags}");
  const [pid] = client().split(" ");
  for (let round = 0; round < 12; round += 1) {
    const source = server.output(pane);
    let bytes = 0;
    const count = (each: Uint8Array): void => void (bytes += each.length);
    const unsubscribe = follow(source, source.outputSeq, count, () => undefined);
    await eventually(() => bytes > 50_000);
    unsubscribe();
    await eventually(() => client().includes("no-output"));
    // tmux still replies on it.
    expect((await server.capture(pane)).lines.length).toBeGreaterThan(0);
    await eventually(() => client().includes("no-output"));
  }
  expect(client().split(" ")[0]).toBe(pid);
  expect(log.filter(({ event }) => event.startsWith("connection"))).toEqual([]);
});

test("a subscriber detached by the user is told and can subscribe again", async () => {
  await using fixture = await guestFixture((socket) => void userSession(socket, "main", ECHOING));
  const { server, socket } = fixture;
  const pane = paneOf(server, "main");
  const source = await listening(server, pane);
  const [closed, ready] = [closing(source), nextState(server, "ready")];
  socket.tmux("detach-client", "-s", "=main");
  expect(await closed).toMatchObject({ code: "CONNECTION_LOST" });
  await ready;
  const { position } = await server.input(pane, [text("again")]);
  const got = await collectUntil(server.output(pane), position.outputSeq, (bytes) => bytes.length >= 5);
  expect(got.toString()).toBe("again");
});

test("a stream that is opened while the base connection leaves the pane's session gets the pane's output", async () => {
  let release: (() => void) | undefined;
  let person: UserClient | undefined;
  await using fixture = await guestFixture(
    async (socket) => {
      for (const name of ["other", "desk"]) userSession(socket, name, ECHOING);
      person = await userClient(socket, "desk");
    },
    {
      transport: (options) => {
        const transport = openPtyTransport(options);
        let held: string[] | undefined;
        return {
          pid: transport.pid,
          close: () => transport.close(),
          // Leaving, and what is asked after it, takes until the test says so: tmux replies in order.
          write: (line) => {
            if (line.startsWith("switch-clien ")) {
              const late: string[] = (held = []);
              release = () => {
                held = undefined;
                for (const each of late) transport.write(each);
              };
            }
            if (held === undefined) transport.write(line);
            else held.push(line);
          },
        };
      },
    },
  );
  const { server, socket } = fixture;
  expect(ours(socket)).toEqual(["desk"]);
  await person?.leave();
  await eventually(() => release !== undefined);
  const pane = paneOf(server, "desk");
  let got = "";
  const source = server.output(pane);
  follow(source, source.outputSeq, (bytes) => (got += Buffer.from(bytes).toString()));
  release?.();
  await eventually(() => ours(socket).includes("other"));
  await server.input(pane, [text("hello;")]);
  await eventually(() => got.includes("hello;"));
  expect(ours(socket)).toEqual(["desk", "other"]);
});

/** Where a tmux with utempter (as Debian builds it) has the helper for which it waits at each new and each ended pane. */
const HELPER = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/libexec"]
  .map((directory) => `${directory}/utempter/utempter`)
  .find((path) => existsSync(path));
const hasHelper = spawnSync("sh", ["-c", 'ldd "$(command -v tmux)"']).stdout.toString().includes("utempter");
const mayMount = process.getuid?.() === 0 && spawnSync("unshare", ["--mount", "true"]).status === 0;
const cannotWait = HELPER === undefined || !hasHelper || !mayMount;
if (cannotWait)
  process.stderr.write("guestServerStreams.test.ts: one skipped, needs tmux with utempter, and root for a mount\n");

test.skipIf(cannotWait)("a tmux that waits for its helper is not taken for one that has forgotten us", async () => {
  /** `ClientReports` looks for the next report so long after one, and nothing else takes as long. */
  const REPORT_MS = 1_150;
  let reports = 0;
  const clock: Clock = {
    ...systemClock,
    callAt: (deadlineMs, call) => {
      if (Math.abs(deadlineMs - systemClock.nowMs() - REPORT_MS) < 5) reports += 1;
      return systemClock.callAt(deadlineMs, call);
    },
  };
  await using fixture = await guestFixture(
    (socket) => {
      const slow = join(socket.directory, "slow");
      writeFileSync(slow, `#!/bin/sh\n[ "$1" = del ] || { echo "$1" >"${slow}.asked"; sleep 2.5; }\n`, { mode: 0o755 });
      // Its own session is made with the quick one.
      const user = 'tmux -u -S "$0" -f /dev/null new-session -d -s desk cat; exec mount --bind "$1" "$2"';
      const args = ["--mount", "sh", "-c", user, socket.socketPath, slow, HELPER!];
      // The server would keep our pipes open.
      execFileSync("unshare", args, { stdio: "ignore" });
    },
    { clock },
  );
  const { server, socket, log } = fixture;
  await watchAll(server);
  const { epoch } = server.output(paneOf(server, "desk"));
  await eventually(() => reports > 0);
  const made = promisify(execFile)("tmux", ["-S", socket.socketPath, "split-window", "-d", "-t", "=desk:", "cat"]);
  await eventually(() => existsSync(join(socket.directory, "slow.asked")));
  // It says nothing for longer than a report may take, and owes a reply.
  await made;
  await server.capture(paneOf(server, "desk"));
  expect(server.output(paneOf(server, "desk")).epoch).toBe(epoch);
  expect(log.filter(({ event }) => event === "connection.lost")).toEqual([]);
});
