/** `follow-events` with `after`: a WebSocket goes on after the event it names, as SSE does with `Last-Event-ID`. */
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import type { NativeAppOptions } from "../../adapters/native/nativeApp.ts";
import { eventually } from "../support/clock/eventually.ts";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";
import { RawSocket } from "../support/daemon/nativeSocket.ts";
import { realReadiness } from "../support/agents/readinessWatch.ts";

async function withSession(options: Partial<NativeAppOptions> = {}) {
  const server = stubServer();
  await server.createSession({ name: "work" });
  const fixture = await nativeFixture(server, options);
  return { ...fixture, server, client: createClient({ url: fixture.url }).server("main") };
}

interface Told {
  readonly eventId: string;
  readonly event: { readonly type: string; readonly [member: string]: unknown };
}
const told = (socket: RawSocket): Told[] =>
  socket.messages.filter(({ type }) => type === "server-event") as unknown as Told[];

async function follow(port: number, more: object): Promise<RawSocket> {
  const socket = await RawSocket.open(port);
  socket.send({ type: "follow-events", id: 1, server: "main", ...more });
  await socket.message("ack");
  return socket;
}

test("after a tree or any event, missed events come once, in order and unchanged", async () => {
  await using api = await withSession();
  const { id } = await api.client.tree();
  await using first = await follow(api.port, { after: id });
  for (const name of ["b", "c", "d"]) await api.client.layout.renameSession({ session: "$0", name });
  await eventually(() => told(first).length === 3);
  expect(told(first).map(({ event }) => event)).toEqual(
    ["b", "c", "d"].map((name) => ({ type: "session-renamed", session: "$0", name })),
  );
  const [, second] = told(first);
  await using again = await follow(api.port, { after: second!.eventId });
  await api.client.layout.renameSession({ session: "$0", name: "e" });
  await eventually(() => told(again).length === 2 && told(first).length === 4);
  expect(told(again)).toEqual(told(first).slice(2));
});

test("a connection that stopped following resumes where it was", async () => {
  await using api = await withSession();
  await using socket = await follow(api.port, {});
  await eventually(() => told(socket).length === 1);
  expect(told(socket)[0]?.event).toMatchObject({ type: "reset", reason: "start" });
  socket.send({ type: "unfollow-events", id: 2, server: "main" });
  await eventually(() => socket.messages.filter(({ type }) => type === "ack").length === 2);
  await api.client.layout.renameSession({ session: "$0", name: "b" });
  socket.send({ type: "follow-events", id: 3, server: "main", after: told(socket)[0]!.eventId });
  await eventually(() => told(socket).length === 2);
  expect(told(socket)[1]?.event).toMatchObject({ type: "session-renamed", name: "b" });
});

test("an id that is unknown, or not kept any more, gets the whole tree; one that is none is refused", async () => {
  await using api = await withSession({ eventBounds: { maxEvents: 2 } });
  const { id } = await api.client.tree();
  for (const name of ["b", "c", "d"]) await api.client.layout.renameSession({ session: "$0", name });
  for (const after of [id, "abcdefabcdef:1", `${id.split(":")[0]}:999`]) {
    await using socket = await follow(api.port, { after });
    await eventually(() => told(socket).length === 1);
    expect(told(socket)[0]?.event).toMatchObject({ type: "reset", reason: "unknown", sessions: [{ name: "d" }] });
  }
  await using socket = await RawSocket.open(api.port);
  socket.send({ type: "follow-events", id: 1, server: "main", after: "x\ny" });
  expect(await socket.message("error")).toMatchObject({ id: 1, code: "INVALID_ARGUMENT" });
});

test("readiness is sent only on request, and is not resumed over a time without a request", async () => {
  const readiness = realReadiness(Date.now);
  await using api = await withSession({ readiness });
  const pane = api.server.panes()[0]!.id;
  const say = (state: string) =>
    api.server.input(pane, [{ kind: "text", bytes: Buffer.from(`\u001b]7501;state=${state}\u0007`) }]);
  const { id } = await api.client.tree();
  const states = (socket: RawSocket) =>
    told(socket).flatMap(({ event }) =>
      event.type === "readiness" ? [(event["readiness"] as { readonly state: string }).state] : [],
    );
  await using without = await follow(api.port, { after: id });
  {
    await using socket = await follow(api.port, { after: id, readiness: true });
    await eventually(() => told(socket).length === 1);
    // Nobody watched since then: the tree, with what is known now.
    expect(told(socket)[0]?.event).toMatchObject({ type: "reset", reason: "unknown", readiness: { [pane]: {} } });
    await say("working");
    await eventually(() => states(socket).includes("busy"));
    const last = told(socket).at(-1)!;
    // Somebody is still watching: no event is missing after the last one.
    await using again = await follow(api.port, { after: last.eventId, readiness: true });
    await say("idle");
    await eventually(() => states(again).includes("idle") && states(socket).includes("idle"));
    expect(states(again)).not.toContain("busy");
    expect(told(again)[0]?.event.type).toBe("readiness");
  }
  await api.client.layout.renameSession({ session: "$0", name: "b" });
  await eventually(() => told(without).length === 1);
  expect(told(without)[0]?.event.type).toBe("session-renamed");
  readiness.close();
});
