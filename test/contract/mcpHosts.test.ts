/** MCP's tools on a server of another machine: as here, and none of it for a client that is limited to some panes. */
import { expect, test } from "vitest";
import { nearFixture } from "../support/daemon/farHost.ts";
import { fakeAgents } from "../support/agents/fakeAgents.ts";
import { mcpOverHttp } from "../support/daemon/mcpClient.ts";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";

async function scene() {
  const server = stubServer();
  await server.createSession({ name: "work" });
  const far = await nativeFixture(server, { agents: fakeAgents(server) });
  const near = await nearFixture(far.port);
  return {
    near,
    server,
    [Symbol.asyncDispose]: async () => {
      await near[Symbol.asyncDispose]();
      await far[Symbol.asyncDispose]();
    },
  };
}

const FAR = { server: "main@far" };
const TYPED = { ...FAR, pane: "work", parts: [{ kind: "text", text: "hello" }] };

test("the list has its panes and agents; a pane is typed into, read, searched and killed", async () => {
  await using opened = await scene();
  await using mcp = await mcpOverHttp(`${opened.near.url}/mcp`, "modern");
  const { servers } = (await mcp.call("list", {})) as { servers: { name: string; panes: object[] }[] };
  expect(servers.map(({ name, panes }) => [name, panes.length])).toEqual([
    ["main", 0],
    ["main@far", 1],
  ]);
  await mcp.call("send", TYPED);
  expect((await mcp.call("capture", { ...FAR, pane: "work" }))["output"]).toContain("hello");
  expect((await mcp.call("search", { ...FAR, pattern: { literal: "hello" } }))["searched"]).toEqual(["%0"]);
  const { agents } = (await mcp.call("list_agents", {})) as { agents: { name: string; server: string }[] };
  expect(agents).toContainEqual(expect.objectContaining({ name: "api@far", server: "main@far" }));
  const { contents } = await mcp.client.readResource({ uri: "tmuxwire://main%40far/pane/0" });
  expect(contents[0]).toMatchObject({ text: expect.stringContaining("hello") as string });
  await mcp.call("kill", { ...FAR, session: "work" });
  expect(opened.server.panes()).toEqual([]);
});

test("a machine that does not respond is named, and its servers are refused with what to do", async () => {
  await using opened = await scene();
  opened.near.link.cut();
  await using mcp = await mcpOverHttp(`${opened.near.url}/mcp`, "modern");
  const { content } = await mcp.raw("list", {});
  expect(JSON.stringify(content)).toContain("Host far could not be asked.");
});

test("a client that is limited to a server or to panes has no others", async () => {
  await using opened = await scene();
  await using one = await mcpOverHttp(`${opened.near.url}/mcp?server=main`, "modern");
  await expect(one.call("send", TYPED)).rejects.toThrow(/^FORBIDDEN: /);
  await using some = await mcpOverHttp(`${opened.near.url}/mcp?panes=work`, "modern");
  await expect(some.call("send", TYPED)).rejects.toThrow(/^FORBIDDEN: /);
  await expect(some.call("tell", { agent: "api@far", text: "go on" })).rejects.toThrow(/^FORBIDDEN: /);
  const { servers } = (await some.call("list", {})) as { servers: { name: string }[] };
  expect(servers.map(({ name }) => name)).toEqual(["main"]);
  const { agents } = (await some.call("list_agents", {})) as { agents: { server: string }[] };
  expect(agents.filter(({ server }) => server === "main@far")).toEqual([]);
});
