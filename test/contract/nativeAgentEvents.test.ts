/** All agents of a daemon in one stream (docs/contracts/native.md §14): of this machine alone, so not through another one. */
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { fakeAgents } from "../support/agents/fakeAgents.ts";
import { EventReader } from "../support/daemon/dashboardFixture.ts";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";

test("one stream has the agents of all servers, then each that changes, and begins anew when it is opened again", async () => {
  const [main, other] = [stubServer(), stubServer()];
  await other.createSession({ name: "its" });
  const agents = fakeAgents(other, "other");
  await using api = await nativeFixture(main, { agents });
  const reader = await EventReader.open(`${api.url}/v1/agent-events`);
  expect(reader.headers.get("content-type")).toContain("text/event-stream");
  const first = await reader.next("agents");
  expect(first.data).toMatchObject({ type: "agents", agents: [{ name: "api", server: "other" }], messages: [] });
  agents.tell("changed");
  expect((await reader.next("agent")).data).toMatchObject({ type: "agent", agent: { name: "api", state: "ready" } });
  agents.tell("ended");
  expect((await reader.next("agent", 2)).data).toMatchObject({ agent: { name: "api", state: "ended" } });
  reader.close();
  const again = await EventReader.open(`${api.url}/v1/agent-events`);
  expect((await again.next("agents")).data).toMatchObject({ agents: [] });
  again.close();
});

test("the typed client follows them, and begins anew after a lost connection", async () => {
  const server = stubServer();
  await server.createSession({ name: "its" });
  const agents = fakeAgents(server, "main");
  const api = await nativeFixture(server, { agents });
  const { url } = api;
  const abort = new AbortController();
  const events = createClient({ url }).agentEvents({ signal: abort.signal });
  try {
    expect((await events.next()).value).toMatchObject({ type: "agents", agents: [{ name: "api" }], messages: [] });
    const next = events.next();
    agents.tell("changed");
    expect((await next).value).toMatchObject({ type: "agent", agent: { name: "api", state: "ready" } });
    const lost = events.next();
    abort.abort(new Error("enough"));
    await expect(lost).rejects.toThrow("enough");
    const once = createClient({ url }).agentEvents({ resume: false });
    expect((await once.next()).value).toMatchObject({ type: "agents" });
    const ended = once.next().catch((error: unknown) => error);
    await api[Symbol.asyncDispose]();
    expect(await ended).toMatchObject({
      code: expect.stringMatching(/^(?:SHUTTING_DOWN|DAEMON_UNREACHABLE)$/) as string,
    });
  } finally {
    await api[Symbol.asyncDispose]();
  }
});
