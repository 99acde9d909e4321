/** Agents in the native API (docs/contracts/native.md, "Agents"): listed, shown, and named where a pane is. */
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { fakeAgents } from "../support/agents/fakeAgents.ts";
import { eventually } from "../support/clock/eventually.ts";
import { inProcessCli } from "../support/daemon/cliOutput.ts";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";
import { RawSocket } from "../support/daemon/nativeSocket.ts";

async function scene(serverName = "main") {
  const [main, other] = [stubServer(), stubServer()];
  await main.createSession({ name: "work" });
  await other.createSession({ name: "its" });
  const server = serverName === "main" ? main : other;
  const agents = fakeAgents(server, serverName);
  const api = await nativeFixture(main, { agents });
  api.servers.set("other", other);
  return { api, agents, server };
}

test("the list, by server and by state; one by name or id", async () => {
  const { api: opened } = await scene();
  await using api = opened;
  const list = async (query = ""): Promise<readonly string[]> =>
    ((await api.call("GET", `/v1/agents${query}`)).json["agents"] as { name: string }[]).map(({ name }) => name);
  expect([await list(), await list("?state=ready"), await list("?state=busy")]).toEqual([["api"], ["api"], []]);
  expect([await list("?server=main"), await list("?server=other")]).toEqual([["api"], []]);
  expect((await api.call("GET", "/v1/agents?server=none")).json["error"]).toMatchObject({ code: "NOT_FOUND" });
  expect((await api.call("GET", "/v1/agents?state=odd")).status).toBe(400);
  const shown = await api.call("GET", "/v1/agents/api");
  expect(shown.json).toMatchObject({ id: "agent-3f9c21ab04de", state: "ready", why: "its screen says so", pane: "%0" });
  expect((await api.call("GET", "/v1/agents/agent-3f9c21ab04de")).json).toEqual(shown.json);
  expect((await api.call("GET", "/v1/agents/who")).status).toBe(404);
});

test("of those whose screens show a text, with the row; a screen that cannot be read is counted", async () => {
  const { api: opened, server } = await scene();
  await using api = opened;
  const pane = server.panes()[0]!.id;
  await server.input(pane, [{ kind: "text", bytes: new TextEncoder().encode("a PRICE (5)") }]);
  const found = async (text: string) => (await api.call("GET", `/v1/agents?text=${encodeURIComponent(text)}`)).json;
  expect(await found("price (")).toMatchObject({ agents: [{ name: "api", onScreen: "a PRICE (5)" }] });
  expect(await found("price.")).toEqual({ agents: [] });
  expect((await api.call("GET", "/v1/agents?text=p")).status).toBe(400);
  const cliOf = (...args: readonly string[]) =>
    inProcessCli(["agents", ...args, "--text", "price", "--url", api.url, "--token-file", "/nonexistent/token"]);
  const cli = await cliOf();
  expect([cli.code, cli.out]).toMatchObject([0, expect.stringMatching(/ON ITS SCREEN\n.*a PRICE \(5\)/)]);
  const watched = await cliOf("-w");
  expect([watched.code, watched.err.includes("looks once")]).toEqual([2, true]);
  server.capture = () => Promise.reject(new Error("gone"));
  expect(await found("price")).toEqual({ agents: [], unread: 1 });
});

test.each(["main", "other"])("an agent on %s can stand for its pane, whichever server the path names", async (name) => {
  const { api: opened, server } = await scene(name);
  await using api = opened;
  const typed = await api.call("POST", "/v1/servers/main/panes/api/input", {
    parts: [{ kind: "text", text: "for it" }],
  });
  expect([typed.status, (await server.capture(server.panes()[0]!.id)).lines[0]]).toEqual([200, "for it"]);
  await using socket = await RawSocket.open(api.port);
  socket.send({ type: "subscribe", id: 1, server: "main", pane: "api", from: "now" });
  expect(await socket.next()).toMatchObject({ type: "subscribed", id: 1 });
  const named = await api.call("POST", "/v1/servers/main/layout/set-pane-option", {
    pane: "api",
    option: "remain-on-exit",
    value: "on",
  });
  expect(named.status).toBe(200);
  expect((await api.call("GET", "/v1/servers/none/panes/who")).json["error"]).toMatchObject({ code: "NOT_FOUND" });
  const near = await api.call("GET", "/v1/servers/main/panes/apo");
  expect(near.json["error"]).toMatchObject({ details: { nearest: "api" } });
});

test("events of agents come to those who ask, in order with the others; the reset has those that run", async () => {
  const { api: opened, agents, server } = await scene();
  await using api = opened;
  const types: Record<"asking" | "plain", string[]> = { asking: [], plain: [] };
  const stop = new AbortController();
  const follow = async (name: keyof typeof types): Promise<unknown> => {
    const events = createClient({ url: api.url })
      .server("main")
      .events({ signal: stop.signal, ...(name === "asking" ? { agents: true } : {}) });
    let named: unknown;
    for await (const { event } of events) {
      types[name].push(event.type);
      if (event.type === "reset") named = event.agents?.map((agent) => agent.name);
      if (event.type === "session-closed") break;
    }
    return named;
  };
  await using socket = await RawSocket.open(api.port);
  const both = [follow("asking"), follow("plain")];
  await eventually(() => types.asking.length + types.plain.length === 2);
  socket.send({ type: "follow-events", id: 1, server: "main", agents: true });
  expect(await socket.message("server-event")).toMatchObject({ event: { type: "reset", agents: [{ name: "api" }] } });
  agents.tell("changed");
  agents.tell("ended");
  await server.killSession(server.sessions()[0]!.id);
  expect(await Promise.all(both)).toEqual([["api"], undefined]);
  expect(types.plain.filter((type) => type.startsWith("agent-"))).toEqual([]);
  expect(types.asking.slice(0, 3)).toEqual(["reset", "agent-changed", "agent-ended"]);
  expect(types.asking.slice(3)).toEqual(types.plain.slice(1));
  await eventually(() => socket.messages.some(({ event }) => (event as { type?: string })?.type === "agent-ended"));
  stop.abort();
});

test("`agents -w` prints the list again when it has changed", async () => {
  const { api: opened, agents } = await scene();
  await using api = opened;
  const stop = new AbortController();
  const printed: string[] = [];
  const args = ["agents", "-w", "--json", "--url", api.url, "--token-file", "/nonexistent/token"];
  const out = async (data: string | Uint8Array): Promise<void> => void printed.push(String(data));
  const done = inProcessCli(args, { signal: stop.signal, out });
  const names = (): readonly (readonly string[])[] =>
    printed.map((line) => (JSON.parse(line) as { agents: { name: string }[] }).agents.map(({ name }) => name));
  await eventually(() => names().length === 1);
  await api.call("POST", "/v1/agents/api/rename", { name: "web" });
  // Until both servers are followed, a change is seen with the first event of each.
  await eventually(() => {
    agents.tell("changed");
    return names().length === 2;
  });
  agents.tell("ended");
  await eventually(() => names().length === 3);
  expect(names()).toEqual([["api"], ["web"], []]);
  stop.abort();
  await done;
});

test("a session of an agent's name comes first; an agent that has ended stands for nothing", async () => {
  const { api: opened, agents } = await scene("other");
  await using api = opened;
  agents.tell("ended");
  expect((await api.call("GET", "/v1/servers/main/panes/api")).status).toBe(404);
  await using again = (await scene("other")).api;
  const session = await again.call("POST", "/v1/servers/main/sessions", { name: "api" });
  expect((await again.call("GET", "/v1/servers/main/panes/api")).json["id"]).toBe(session.json["activePane"]);
});
