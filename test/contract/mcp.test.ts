/** MCP over HTTP against the stub, through the SDK's client: tools, tiers, errors, sessions, what cannot be seen. */
import { describe, expect, test } from "vitest";
import { mcpOverHttp } from "../support/daemon/mcpClient.ts";
import { type NativeFixture, nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";

const ERAS = ["legacy", "modern"] as const;
const ALL = ["capture", "choose", "create", "interrupt", "kill", "list", "run", "send", "split", "submit", "wait"];

async function withSession(options: Parameters<typeof nativeFixture>[1] = {}) {
  const server = stubServer();
  await server.createSession({ name: "work" });
  const fixture: NativeFixture = await nativeFixture(server, options);
  return { ...fixture, server };
}

describe.each(ERAS)("%s clients", (era) => {
  test.each([
    ["", ALL],
    ["?readOnly=true", ["capture", "list", "wait"]],
    ["?noDestructive=true", ALL.filter((name) => name !== "kill" && name !== "interrupt")],
  ])("have the tools of their tier: %s", async (query, names) => {
    await using api = await withSession();
    await using mcp = await mcpOverHttp(`${api.url}/mcp${query}`, era);
    const { tools } = await mcp.client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(names);
    for (const { description, inputSchema, outputSchema, annotations } of tools) {
      expect(description?.length).toBeGreaterThan(80);
      expect([inputSchema.type, outputSchema?.["type"]]).toEqual(["object", "object"]);
      expect([typeof annotations?.readOnlyHint, typeof annotations?.destructiveHint]).toEqual(["boolean", "boolean"]);
    }
    expect(mcp.client.getInstructions()).toContain("untrusted");
  });

  test("are told what is wrong, with its code", async () => {
    await using api = await withSession();
    await using mcp = await mcpOverHttp(`${api.url}/mcp`, era);
    await expect(mcp.call("capture", { pane: "%77" })).rejects.toThrow(/^NOT_FOUND: there is no pane/);
    await expect(mcp.call("capture", { pane: "work", lnes: 3 })).rejects.toThrow(/^INVALID_ARGUMENT: lnes: /);
    await expect(mcp.call("kill", {})).rejects.toThrow(/exactly one of/);
  });
});
