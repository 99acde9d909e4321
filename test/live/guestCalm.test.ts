/** A guest whose clients can only be of tmux's own program: before 3.7 they wait until the server is calm (docs/tmuxFacts.md 50). */
import { expect, test } from "vitest";
import { openPtyTransport } from "../../daemon/host/clients/ptyTransport.ts";
import type { OpenTransport } from "../../daemon/host/clients/transport.ts";
import { introductionTo } from "../../daemon/servers/introduction.ts";
import { createClient, type PaneEvent } from "../../adapters/client/client.ts";
import { nativeServer } from "../../adapters/operations/outputs.ts";
import type { ServerEvent } from "../../daemon/tmux/inventory.ts";
import { eventually } from "../support/clock/eventually.ts";
import { FakeClock } from "../support/clock/fakeClock.ts";
import { inProcessCli } from "../support/daemon/cliOutput.ts";
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

/** A guest's clock that goes on by itself, four times as fast as others, and hardly while `holding`: what is not calm stays so. */
function steadyClock(): { readonly clock: FakeClock; holding: boolean } & Disposable {
  const clock = new FakeClock();
  const timer = setInterval(() => clock.advanceMs(held.holding ? TICK_MS / 500 : 4 * TICK_MS), TICK_MS);
  const held = { clock, holding: false, [Symbol.dispose]: () => clearInterval(timer) };
  return held;
}
const TICK_MS = 5;

/** A session comes: nothing attaches until the clock goes on. */
async function disturb({ socket, events }: { socket: PrivateSocket; events: readonly ServerEvent[] }): Promise<void> {
  socket.tmux("new-session", "-d", "-s", "passing", "cat");
  await eventually(() => events.some(({ kind }) => kind === "session-created"));
}

const twoSessions = (socket: PrivateSocket): void => {
  userSession(socket, "base");
  userSession(socket, "other", ECHOING_LINES);
};
test("the state shows that clients wait and since when, while sessions or clients change", async () => {
  using held = steadyClock();
  await using fixture = await guestFixture(twoSessions, { transport: openPtyTransport, clock: held.clock });
  const { server, socket } = fixture;
  if (!mustBeCalm(socket)) return;
  const beganUnixMs = Date.now();
  const panes = server.panes().map(({ id }) => id);
  held.holding = true;
  await disturb(fixture);
  for (const pane of panes) server.output(pane);
  expect(server.status()).toMatchObject({ state: "ready", waiting: { for: "calm" } });
  expect(server.status().waiting!.sinceUnixMs).toBeGreaterThanOrEqual(beganUnixMs - 1);
  expect(nativeServer("user", server).waiting).toEqual(server.status().waiting);
  held.holding = false;
  await eventually(() => server.status().waiting === undefined);
  expect(nativeServer("user", server)).not.toHaveProperty("waiting");
});

test("meanwhile panes are captured over the base connection, and streams begin with a declared gap", async () => {
  using held = steadyClock();
  await using fixture = await guestFixture(twoSessions, { transport: openPtyTransport, clock: held.clock });
  const { server, socket } = fixture;
  if (!mustBeCalm(socket)) return;
  const panes = server.panes().map(({ id }) => id);
  const gaps = new Map<string, object[]>();
  const ignore = (): void => undefined;
  held.holding = true;
  await disturb(fixture);
  for (const pane of panes) {
    gaps.set(pane, []);
    const gap = (one: object): void => void gaps.get(pane)!.push(one);
    server.output(pane).subscribe({ advanced: ignore, gap, exited: ignore, closed: ignore });
  }
  const { activePane: other } = server.findSession("other")!;
  socket.tmux("send-keys", "-t", other!, "late", "Enter");
  await eventually(async () => (await server.capture(other!)).lines.includes("<late>"));
  expect((await server.snapshot(other!)).position.outputSeq).toBe(0);
  expect(server.status().waiting).toBeDefined();
  expect([...gaps.values()].flat()).toEqual([]);
  held.holding = false;
  await eventually(() => server.status().waiting === undefined);
  await eventually(() => [...gaps.values()].flat().length === 1);
  expect([...gaps.values()].flat()).toMatchObject([{ reason: "paused", from: 0, to: 1 }]);
});

test("whoever looks is told what is waited for and since when, those who follow events when it begins and ends", async () => {
  using held = steadyClock();
  await using fixture = await guestFixture(twoSessions, { transport: openPtyTransport, clock: held.clock });
  const { server, socket } = fixture;
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
  held.holding = true;
  await disturb(fixture);
  const streamed: PaneEvent[] = [];
  const streaming = (async () => {
    for await (const event of client.pane(other!).follow({ signal: over.signal })) streamed.push(event);
  })().catch(() => undefined);
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
  {
    await using late = await RawSocket.open(native.port);
    late.send({ type: "follow-events", id: 1, server: "main" });
    late.send({ type: "subscribe", id: 2, server: "main", pane: other });
    expect(await late.message("server-event")).toMatchObject({ event: { type: "reset", waiting } });
    expect(await late.message("subscribed")).toMatchObject({ pane: other, waiting });
  }
  const cli = (...words: string[]) =>
    inProcessCli([...words, "--url", native.url, "--token-file", "/nonexistent/token"]);
  const said = `waiting until the server is calm since `;
  expect((await cli("ls")).out).toMatch(new RegExp(`^${said}`));
  expect((await cli("servers")).out).toContain(`ready, ${said}`);
  expect((await cli("show", other!)).out).toMatch(/^waiting: +until the server is calm since /m);
  held.holding = false;
  await cards.next(({ event, data }) => event === "server_waiting" && data["waiting"] === null);
  await eventually(() => states.length === 3 && streamed.some(({ kind }) => kind === "gap"));
  expect(states[2]).toEqual({ type: "server-state", state: "ready" });
  expect((await dashboard.call("GET", "/api/agents")).json).not.toHaveProperty("waiting");
  expect(await client.tree()).not.toHaveProperty("waiting");
  over.abort();
  await Promise.all([following, streaming]);
});

test("the client brings no variable but the one that finds tmux: each is a message in which the server could end", async () => {
  const given: string[][] = [];
  const transport: OpenTransport = (options) => {
    given.push(Object.keys(options.env));
    return openPtyTransport(options);
  };
  await using fixture = await guestFixture(twoSessions, { transport });
  const { server } = fixture;
  await Promise.all(server.panes().map(({ id }) => server.capture(id)));
  expect(given).toEqual([["PATH"], ["PATH"]]);
});
