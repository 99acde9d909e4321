/** Readiness over the native API: details, lists, waits, both streams and the typed client, on the stub. */
import * as v from "valibot";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { createClient, type PaneEvent } from "../../adapters/client/client.ts";
import * as answers from "../../protocol/api/native/nativeResponses.ts";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";
import { realReadiness } from "../support/agents/readinessWatch.ts";

const WORKING = "\u001b]7501;state=working\u0007";
const IDLE = "\u001b]7501;state=idle\u0007";
const BLOCKED = "\u001b]7501;state=blocked:kind=permission\u0007";

async function withReadiness() {
  const server = stubServer();
  const engine = realReadiness(Date.now);
  const session = await server.createSession({ name: "work" });
  const api = await nativeFixture(server, { readiness: engine });
  const pane = session.activePane!;
  return {
    ...api,
    engine,
    client: createClient({ url: api.url }),
    path: `/v1/servers/main/panes/${pane.slice(1)}`,
    say: (text: string) => server.input(pane, [{ kind: "text", bytes: Buffer.from(text) }]),
    [Symbol.asyncDispose]: async () => {
      await api[Symbol.asyncDispose]();
      engine.close();
      await server.close();
    },
  };
}

async function until(events: AsyncGenerator<PaneEvent, void, void>, state: string): Promise<PaneEvent[]> {
  const seen: PaneEvent[] = [];
  for (;;) {
    const { value } = await events.next();
    if (value === undefined) throw new Error("the stream has ended");
    seen.push(value);
    if (value.kind === "readiness" && value.state === state) return seen;
  }
}

test("pane details capture the screen; a list reports what is known", async () => {
  await using api = await withReadiness();
  await api.say(WORKING);
  const unwatched = v.parse(answers.panesSchema, (await api.call("GET", "/v1/servers/main/panes")).json);
  expect(unwatched.panes[0]?.readiness).toBeNull();
  const details = v.parse(answers.paneDetailsSchema, (await api.call("GET", api.path)).json);
  expect(details.readiness).toMatchObject({ state: "busy", source: "osc7501", profile: "generic" });
  expect(api.engine.watchedCount).toBe(0);
  const [server] = api.servers.values();
  using watched = api.engine.watch(server!, server!.panes()[0]!.id);
  await watched.probe();
  const known = v.parse(answers.panesSchema, (await api.call("GET", "/v1/servers/main/panes")).json);
  expect(known.panes[0]?.readiness).toMatchObject({ state: "busy" });
});

test("a wait for a state ends with it, and one that holds ends at once", async () => {
  await using api = await withReadiness();
  const pane = api.client.server("main").pane("work");
  const waiting = pane.wait({ ready: "asking", timeoutMs: 5_000 });
  await expect.poll(() => api.engine.watchedCount).toBe(1);
  await api.say(BLOCKED);
  expect((await waiting).matched).toEqual([{ predicate: "ready" }]);
  expect((await pane.wait({ ready: "asking", timeoutMs: 5_000 })).matched).toEqual([{ predicate: "ready" }]);
  await expect(pane.wait({ ready: true, timeoutMs: 60 })).rejects.toMatchObject({
    code: "TIMEOUT",
    details: { predicates: { ready: false } },
  });
  expect(api.engine.watchedCount).toBe(0);
});

test("after typing, a state counts only if it began afterwards", async () => {
  await using api = await withReadiness();
  const pane = api.client.server("main").pane("work");
  await api.say(IDLE);
  const send = (text: string) => ({ parts: [{ kind: "text" as const, text }] });
  await expect(pane.wait({ ready: true, send: send("x"), timeoutMs: 80 })).rejects.toMatchObject({ code: "TIMEOUT" });
  const again = await pane.wait({ ready: true, send: send(`${WORKING}${IDLE}`), timeoutMs: 5_000 });
  expect(again.matched).toEqual([{ predicate: "ready" }]);
  const asking = await pane.wait({ ready: "asking", send: send(BLOCKED), timeoutMs: 5_000 });
  expect(asking.matched).toEqual([{ predicate: "ready" }]);
});

test.each([{ ready: "sleepy" }, { ready: false }, { ready: "" }])("refuses %j", async (body) => {
  await using api = await withReadiness();
  const answer = await api.call("POST", `${api.path}/wait`, { timeoutMs: 10_000, ...body });
  expect([answer.status, answer.json]).toMatchObject([400, { error: { code: "INVALID_ARGUMENT" } }]);
});

test("an event stream tells the state at the beginning and every change, to those who ask", async () => {
  await using api = await withReadiness();
  await api.say(WORKING);
  const pane = api.client.server("main").pane("work");
  const events = pane.follow({ readiness: true });
  const first = await until(events, "busy");
  expect(first[0]?.kind).toBe("open");
  await api.say(BLOCKED);
  const next = await until(events, "asking");
  expect(next.at(-1)).toMatchObject({
    source: "osc7501",
    profile: "generic",
    position: expect.stringMatching(/^\w+:\d+$/) as string,
  });
  const plain = pane.follow({ from: "tail:10" });
  expect([(await plain.next()).value?.kind, (await plain.next()).value?.kind]).toEqual(["open", "output"]);
  await plain.return();
  await events.return();
  await expect.poll(() => api.engine.watchedCount).toBe(0);
});

test("the socket does the same on each channel", async () => {
  await using api = await withReadiness();
  const socket = api.client.openSocket({ WebSocket });
  const events = socket.follow("main", "work", { readiness: true });
  await until(events, "unknown");
  await api.say(WORKING);
  await until(events, "busy");
  socket.close();
  await expect.poll(() => api.engine.watchedCount).toBe(0);
});

test("requests for readiness are refused if the daemon does not report it", async () => {
  const server = stubServer();
  await server.createSession({ name: "work" });
  await using api = await nativeFixture(server);
  const stream = await api.call("GET", "/v1/servers/main/panes/work/stream?readiness=true");
  expect([stream.status, stream.json]).toMatchObject([400, { error: { code: "INVALID_ARGUMENT" } }]);
  expect((await api.call("GET", "/v1/servers/main/panes/work")).json["readiness"]).toBeNull();
});
