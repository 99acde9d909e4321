/** A guest whose clients can only be of tmux's own program: before 3.7 they wait until the server is calm (docs/tmuxFacts.md 50). */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { openPtyTransport } from "../../daemon/host/ptyTransport.ts";
import { introductionTo } from "../../daemon/servers/guest/guestProbe.ts";
import { createClient, type PaneEvent } from "../../adapters/client/client.ts";
import { nativeServer } from "../../adapters/operations/outputs.ts";
import type { ServerEvent } from "../../daemon/tmux/inventory.ts";
import { eventually } from "../support/clock/eventually.ts";
import { dashboardFixture } from "../support/daemon/dashboardFixture.ts";
import { nativeFixture } from "../support/daemon/nativeServer.ts";
import { RawSocket } from "../support/daemon/nativeSocket.ts";
import { ECHOING_LINES, guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import type { PrivateSocket } from "../support/tmux/ownedFixture.ts";

function mustBeCalm(socket: PrivateSocket): boolean {
  const version = socket.tmux("display-message", "-p", "#{version}").trim();
  if (introductionTo(version, false) === "calm") return true;
  console.log(`tmux ${version} takes clients at any time: nothing is tried`);
  return false;
}

/** Sessions come and go until the returned function is called: nothing attaches meanwhile. */
function restless(socket: PrivateSocket): () => Promise<void> {
  const over = new AbortController();
  const going = (async () => {
    while (!over.signal.aborted) {
      socket.tmux("new-session", "-d", "-s", "passing", "cat");
      await delay(50);
      socket.tmux("kill-session", "-t", "=passing");
      await delay(50);
    }
  })();
  return async () => {
    over.abort();
    await going;
  };
}

const twoSessions = (socket: PrivateSocket): void => {
  userSession(socket, "base");
  userSession(socket, "other", ECHOING_LINES);
};
const isMet = (events: readonly ServerEvent[]): boolean => events.some(({ kind }) => kind === "session-created");

test("while the server is not calm its state says so and since when, and then no more", async () => {
  await using fixture = await guestFixture(twoSessions, { transport: openPtyTransport });
  const { server, socket, events } = fixture;
  if (!mustBeCalm(socket)) return;
  const beganUnixMs = Date.now();
  const panes = server.panes().map(({ id }) => id);
  const rest = restless(socket);
  try {
    await eventually(() => isMet(events));
    for (const pane of panes) server.output(pane);
    await eventually(() => server.status().waiting !== undefined);
    expect(server.status()).toMatchObject({ state: "ready", waiting: { for: "calm" } });
    expect(server.status().waiting!.sinceUnixMs).toBeGreaterThanOrEqual(beganUnixMs - 1);
    expect(nativeServer("user", server).waiting).toEqual(server.status().waiting);
  } finally {
    await rest();
  }
  await eventually(() => server.status().waiting === undefined);
  expect(nativeServer("user", server)).not.toHaveProperty("waiting");
});

test("meanwhile panes are captured over the base connection, and streams begin with a declared hole", async () => {
  await using fixture = await guestFixture(twoSessions, { transport: openPtyTransport });
  const { server, socket, events } = fixture;
  if (!mustBeCalm(socket)) return;
  const panes = server.panes().map(({ id }) => id);
  const gaps = new Map<string, object[]>();
  const ignore = (): void => undefined;
  const rest = restless(socket);
  try {
    await eventually(() => isMet(events));
    for (const pane of panes) {
      gaps.set(pane, []);
      const gap = (one: object): void => void gaps.get(pane)!.push(one);
      server.output(pane).subscribe({ advanced: ignore, gap, exited: ignore, closed: ignore });
    }
    await eventually(() => server.status().waiting !== undefined);
    const { activePane: other } = server.findSession("other")!;
    socket.tmux("send-keys", "-t", other!, "late", "Enter");
    await eventually(async () => (await server.capture(other!)).lines.includes("<late>"));
    expect((await server.snapshot(other!)).position.outputSeq).toBe(0);
    expect(server.status().waiting).toBeDefined();
    expect([...gaps.values()].flat()).toEqual([]);
  } finally {
    await rest();
  }
  await eventually(() => server.status().waiting === undefined);
  await eventually(() => [...gaps.values()].flat().length === 1);
  expect([...gaps.values()].flat()).toMatchObject([{ reason: "paused", from: 0, to: 1 }]);
});

test("whoever looks is told what is waited for and since when, those who follow events when it begins and ends", async () => {
  await using fixture = await guestFixture(twoSessions, { transport: openPtyTransport });
  const { server, socket, events } = fixture;
  if (!mustBeCalm(socket)) return;
  await using native = await nativeFixture(server);
  await using dashboard = await dashboardFixture(server);
  const client = createClient({ url: native.url }).server("main");
  const { activePane: other } = server.findSession("other")!;
  const states: object[] = [];
  const over = new AbortController();
  const following = (async () => {
    for await (const { event } of client.events({ signal: over.signal }))
      if (event.type === "reset" || event.type === "server-state") states.push(event);
  })().catch(() => undefined);
  const cards = await dashboard.events();
  await eventually(() => states.length === 1);
  expect(states[0]).not.toHaveProperty("waiting");
  const rest = restless(socket);
  const streamed: PaneEvent[] = [];
  const streaming = (): Promise<void> =>
    (async () => {
      for await (const event of client.pane(other!).follow({ signal: over.signal })) streamed.push(event);
    })().catch(() => undefined);
  try {
    await eventually(() => isMet(events));
    void streaming();
    const began = await cards.next("server_waiting");
    const { waiting } = server.status();
    expect(waiting).toMatchObject({ for: "calm" });
    expect(began.data).toMatchObject({ waiting: { for: "calm", since_unix_ms: waiting!.sinceUnixMs } });
    expect((await dashboard.call("GET", "/api/agents")).json["waiting"]).toEqual(began.data["waiting"]);
    expect(await client.tree()).toMatchObject({ waiting });
    expect(await client.pane(other!).info()).toMatchObject({ id: other, waiting });
    await eventually(() => states.length === 2 && streamed.length === 1);
    expect(states[1]).toMatchObject({ type: "server-state", state: "ready", waiting });
    expect(streamed).toMatchObject([{ kind: "open", pane: other, waiting }]);
    await using late = await RawSocket.open(native.port);
    late.send({ type: "follow-events", id: 1, server: "main" });
    late.send({ type: "subscribe", id: 2, server: "main", pane: other });
    expect(await late.message("server-event")).toMatchObject({ event: { type: "reset", waiting } });
    expect(await late.message("subscribed")).toMatchObject({ pane: other, waiting });
  } finally {
    await rest();
  }
  await cards.next(({ event, data }) => event === "server_waiting" && data["waiting"] === null);
  await eventually(() => states.length === 3 && streamed.some(({ kind }) => kind === "gap"));
  expect(states[2]).toEqual({ type: "server-state", state: "ready" });
  expect((await dashboard.call("GET", "/api/agents")).json).not.toHaveProperty("waiting");
  expect(await client.tree()).not.toHaveProperty("waiting");
  over.abort();
  await following;
});
