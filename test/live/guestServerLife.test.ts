/** A guest's server that dies, stops and comes back; and programs that end in its panes (docs/tmuxFacts.md 5, 8). */
import { expect, test } from "vitest";
import { openPtyTransport } from "../../daemon/host/clients/ptyTransport.ts";
import type { Transport, TransportOptions } from "../../daemon/host/clients/transport.ts";
import { type Clock, systemClock } from "../../daemon/time/clock.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { eventually } from "../support/clock/eventually.ts";
import { closing, nextState, tmuxPid } from "../support/tmux/failureScenarios.ts";
import { ECHOING_LINES, guestFixture, ours, paneOf, userSession, watchAll } from "../support/tmux/guestFixture.ts";
import { seen } from "../support/tmux/output.ts";
import { keys, text } from "../support/tmux/panePrograms.ts";

test("when the base's session ends, attach clients are asked meanwhile and no loss is reported", async () => {
  const homes: string[] = [];
  let mayReturn: () => void = () => undefined;
  const returning = new Promise<void>((resolve) => (mayReturn = resolve));
  await using fixture = await guestFixture(
    (socket) => {
      for (const name of ["a", "b", "c"]) userSession(socket, name);
    },
    {
      transport: (options) => {
        const { args } = options;
        if (!args.some((flags) => flags.includes("no-output"))) return openPtyTransport(options);
        homes.push(args[args.indexOf("-t") + 1] ?? "");
        return homes.length === 1 ? openPtyTransport(options) : openedAfter(returning, options);
      },
    },
  );
  const { server, socket } = fixture;
  await watchAll(server);
  await eventually(() => ours(socket).length === 3);
  const states: string[] = [];
  const closed: string[] = [];
  server.subscribe((event) => {
    if (event.kind === "state") states.push(event.state);
    if (event.kind === "pane-closed") closed.push(event.pane);
  });
  const home = server.sessions().find(({ id }) => id === homes[0]);
  const other = server.sessions().find(({ id }) => id !== homes[0]);
  socket.tmux("kill-session", "-t", `=${home?.name}:`);
  await eventually(() => closed.length > 0);
  expect(closed).toEqual([home?.activePane]);
  expect(await server.describePane(other!.activePane!)).toMatchObject({ command: "cat" });
  expect(await server.createSession({ name: "new", command: ["cat"] })).toMatchObject({ name: "new" });
  expect(server.status().state).toBe("ready");
  mayReturn();
  await eventually(() => homes.length === 2 && ours(socket).length === 3);
  expect(states.filter((state) => state !== "ready")).toEqual([]);
});

/** A client that is slow to start; nothing is written to one that has not said anything. */
function openedAfter(started: Promise<void>, options: TransportOptions): Transport {
  let transport: Transport | undefined;
  void started.then(() => (transport = openPtyTransport(options)));
  return { pid: -1, write: (line) => transport?.write(line), close: () => transport?.close() };
}

test.each(["kill-server", "kill -9"])("%s and a new server: all ids are new and none is mixed up", async (how) => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "old", ECHOING_LINES);
    userSession(socket, "old-2", ECHOING_LINES);
  });
  const { server, socket, events } = fixture;
  const pane = paneOf(server, "old");
  const sources = server.panes().map(({ id }) => server.output(id));
  await Promise.all(server.panes().map(({ id }) => server.capture(id)));
  const closed = Promise.all(sources.map(closing));
  const waiting = server.input(pane, [text("y".repeat(200_000))]).catch((error: unknown) => error);
  if (how === "kill-server") socket.tmux("kill-server");
  else process.kill(tmuxPid(socket), "SIGKILL");
  for (const error of await closed) expect(error).toMatchObject({ code: "CONNECTION_LOST" });
  await waiting;
  await eventually(() => server.sessions().length === 0);
  expect(server.status().state).toBe("connecting");
  expect(server.panes()).toEqual([]);
  expect(events.filter((event) => event.kind === "pane-closed")).toHaveLength(2);
  const ready = nextState(server, "ready");
  await eventually(() => {
    try {
      userSession(socket, "new", ECHOING_LINES);
      return true;
    } catch {
      // The old one is not gone yet.
      return false;
    }
  });
  await ready;
  await eventually(() => server.findSession("new") !== undefined);
  expect(server.sessions().map(({ name }) => name)).toEqual(["new"]);
  const source = server.output(pane);
  const { position } = await server.input(pane, [text("hello"), keys("Enter")]);
  await seen(source, position.outputSeq, "<hello>");
});

test("callers get an error while the server is stopped, and it works again afterwards", async () => {
  // Silence that is tolerated for twelve seconds, in three.
  const clock: Clock = {
    nowMs: () => systemClock.nowMs() * 4,
    callAt: (atMs, callback) => systemClock.callAt(atMs / 4, callback),
  };
  await using fixture = await guestFixture((socket) => void userSession(socket, "main", ECHOING_LINES), { clock });
  const { server, socket } = fixture;
  const pane = paneOf(server, "main");
  const source = server.output(pane);
  await server.capture(pane);
  const pid = tmuxPid(socket);
  const [degraded, capture] = [nextState(server, "degraded"), server.capture(pane)];
  capture.catch(() => undefined);
  process.kill(pid, "SIGSTOP");
  const late = server.capture(pane).catch((error: unknown) => error);
  await degraded;
  expect(await late).toMatchObject({ code: "CONNECTION_LOST" });
  await expect(server.input(pane, [text("x")])).rejects.toMatchObject({ code: "CONNECTION_LOST" });
  const ready = nextState(server, "ready");
  process.kill(pid, "SIGCONT");
  await ready;
  const { position } = await server.input(pane, [text("hello"), keys("Enter")]);
  await seen(source, position.outputSeq, "<hello>");
});

test.each(["on", "off"])("the end of a program is reported in any session, with remain-on-exit %s", async (keep) => {
  await using fixture = await guestFixture((socket) => {
    userSession(socket, "a");
    userSession(socket, "b");
    socket.tmux("set-option", "-g", "remain-on-exit", keep);
    for (const name of ["a", "b"]) {
      socket.tmux("split-window", "-d", "-t", `=${name}:`, "sh -c 'read x; exit 3'");
      socket.tmux("new-window", "-d", "-t", `=${name}:`, "sh -c 'read x; exit 3'");
    }
  });
  const { server, socket, events } = fixture;
  const mortal = server.panes().filter(({ id }) => !server.sessions().some(({ activePane }) => activePane === id));
  expect(mortal).toHaveLength(4);
  // Half of them are watched, the others only known.
  const watched = mortal.slice(0, 2).map(({ id }) => server.output(id));
  const unfollowed = server.output(mortal[2]!.id, { unfollowed: true });
  for (const { id } of mortal) socket.tmux("send-keys", "-t", id, "Enter");
  const kind = keep === "on" ? "pane-exited" : "pane-closed";
  await eventually(() => events.filter((event) => event.kind === kind).length === 4);
  if (keep === "off") {
    for (const { id } of mortal) expect(server.findPane(id)).toBeUndefined();
    return;
  }
  for (const { id } of mortal) expect(server.findPane(id)?.exit).toEqual({ exitCode: 3, signal: undefined });
  for (const source of [...watched, unfollowed]) expect(source.exit).toEqual({ exitCode: 3, signal: undefined });
  for (const source of [watched[0]!, unfollowed]) {
    const id = source.id as PaneId;
    socket.tmux("respawn-pane", "-t", id, "cat");
    await eventually(() => server.findPane(id)?.exit === undefined);
    expect(source.exit).toBeUndefined();
  }
});
