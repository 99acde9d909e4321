/** MCP over HTTP against the stub, through the SDK's client: tools, tiers, errors, sessions, what cannot be seen. */
import { describe, expect, test } from "vitest";
import { paneIdOf } from "../../protocol/ids.ts";
import { fakeAgents } from "../support/agents/fakeAgents.ts";
import { eventually } from "../support/clock/eventually.ts";
import { MCP_TOOLS, mcpOverHttp } from "../support/daemon/mcpClient.ts";
import { type NativeFixture, nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";

const ERAS = ["legacy", "modern"] as const;

async function withSession(options: Parameters<typeof nativeFixture>[1] = {}) {
  const server = stubServer();
  await server.createSession({ name: "work" });
  const fixture: NativeFixture = await nativeFixture(server, options);
  return { ...fixture, server };
}

describe.each(ERAS)("%s clients", (era) => {
  test.each([
    ["", MCP_TOOLS],
    ["?readOnly=true", ["capture", "list", "list_agents", "search", "wait", "wait_agent"]],
    ["?noDestructive=true", MCP_TOOLS.filter((name) => !/^(?:kill|interrupt|interrupt_agent|end_agent)$/.test(name))],
  ])("have the tools of their tier: %s", async (query, names) => {
    await using api = await withSession();
    await using mcp = await mcpOverHttp(`${api.url}/mcp${query}`, era);
    const { tools } = await mcp.client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual(names);
    for (const { description, inputSchema, annotations = {} } of tools) {
      expect(description?.length).toBeGreaterThan(80);
      expect(inputSchema.type).toBe("object");
      expect(annotations.readOnlyHint === true || typeof annotations.destructiveHint === "boolean").toBe(true);
    }
    // What a model pays in every conversation.
    expect(JSON.stringify(tools).length).toBeLessThanOrEqual(16_000);
    expect(mcp.client.getInstructions()).toContain("untrusted");
  });

  test.each([
    ["send", { session: "work", text: "echo flat", enter: true }],
    ["send", { pane: "work", parts: [{ text: "echo short" }, { keys: "Enter" }] }],
    ["send", { target: "work", keys: "C-c" }],
    ["wait", { pane: "work", text: "user", from: "tail:5", timeoutMs: "50" }],
    ["wait", { pane: "work", pattern: "x", timeoutMs: 50 }],
    ["wait", { pane: "work", literal: "x", timeoutMs: 50 }],
    ["wait", { pane: "work", regex: "x$", ignoreCase: true, timeoutMs: 50 }],
    ["wait", { pane: "work", text: "X.", ignoreCase: true, timeoutMs: 50 }],
    ["wait", { pane: "work", anyOf: [{ text: "x" }, { regex: "y", dotAll: true }], timeoutMs: 50 }],
    ["wait", { pane: "work", pattern: { literal: "x" }, timeoutMs: 50 }],
    ["wait", { pane: "work", text: "x", send: { text: "echo a", enter: true }, timeoutMs: 50 }],
    ["wait", { pane: "work", title: "x", timeoutMs: 50 }],
    ["search", { text: "X", ignoreCase: true }],
    ["search", { pattern: "x", session: "work" }],
    ["capture", { pane_id: "work", lines: "20", ansi: "true" }],
    ["create", { session: "other", command: "cat" }],
    ["create", { name: "third", command: "echo a; cat" }],
  ])("may write %s as models do: %j", async (tool, input) => {
    await using api = await withSession();
    await using mcp = await mcpOverHttp(`${api.url}/mcp`, era);
    expect((await mcp.raw(tool, input)).isError ?? false).toBe(false);
    const { session, name = session } = input as Readonly<Record<string, unknown>>;
    if (tool === "create") expect(api.server.findSession(String(name))).toBeDefined();
  });

  test("are told what of two things they have to choose, and nothing is typed or answered", async () => {
    await using api = await withSession();
    await using mcp = await mcpOverHttp(`${api.url}/mcp`, era);
    const before = await mcp.call("capture", { pane: "work" });
    for (const [tool, input, words] of [
      ["wait", { pane: "work", text: "x", regex: "y" }, "text: give `text` or `regex`, not both"],
      ["wait", { pane: "work", text: "x", pattern: "y" }, "text: give `text` or `pattern`, not both"],
      ["wait", { pane: "work", text: "x", literal: "y" }, "text: give `text` or `literal`, not both"],
      ["wait", { pane: "work", pattern: { literal: "x", pane: "%9" } }, "pattern: .*`pane`"],
      ["wait", { pane: "work", text: "x", multiline: true }, "pattern: .*`multiline`"],
      ["wait", { pane: "work", anyOf: ["x"] }, "anyOf.0: must be"],
      ["search", { text: "x", dotAll: true }, "pattern: .*`dotAll`"],
      ["send", { pane: "work", text: "rm", parts: [{ kind: "enter" }] }, "text: give `text` or `parts`, not both"],
      ["send", { pane: "work", text: "rm", enter: "yes" }, "enter: must be true or false"],
      ["send", { pane: "work", parts: [{ text: "rm", kex: "C-c" }] }, "parts.0.kind: is missing"],
      ["choose", { pane: "work", option: 0, other: "x" }, "option: give `option` or `other`, not both"],
      ["choose", { pane: "work", options: [0, 2] }, "options: must be a list of each question's indexes"],
      ["end_agent", { pane: "work" }, "agent: is missing|there is no argument `pane`"],
      ["interrupt_agent", { session: "work" }, "agent: is missing|there is no argument `session`"],
      ["start_agent", { id: "claude" }, "agent: is missing|there is no argument `id`"],
    ] as const) {
      await expect(mcp.call(tool, input)).rejects.toThrow(new RegExp(`^INVALID_ARGUMENT: (?:${words})`));
    }
    const after = await mcp.call("capture", { pane: "work" });
    expect(after).toEqual(before);
  });

  test("get errors with their code", async () => {
    await using api = await withSession();
    await using mcp = await mcpOverHttp(`${api.url}/mcp`, era);
    await expect(mcp.call("capture", { pane: "%77" })).rejects.toThrow(/^NOT_FOUND: there is no pane/);
    await expect(mcp.call("capture", { pane: "work", lnes: 3 })).rejects.toThrow(
      /^INVALID_ARGUMENT: .*`lnes`; did you mean `lines`/,
    );
    await expect(mcp.call("kill", {})).rejects.toThrow(/exactly one of/);
  });
});

describe.each(ERAS)("%s clients and screens", (era) => {
  test("list and read screens, and are notified when one has changed", async () => {
    await using api = await withSession();
    await using mcp = await mcpOverHttp(`${api.url}/mcp`, era);
    const { resources } = await mcp.client.listResources();
    expect(resources).toMatchObject([{ uri: "tmuxwire://main/pane/0", mimeType: "text/plain" }]);
    const uri = "tmuxwire://main/pane/0";
    const told = new Promise<string>((resolve) => {
      mcp.client.setNotificationHandler("notifications/resources/updated", ({ params }) => resolve(params.uri));
    });
    await using subscription = await subscribe(mcp, era, uri);
    await mcp.call("send", { pane: "work", parts: [{ kind: "text", text: "echo hello" }, { kind: "enter" }] });
    expect(await told).toBe(uri);
    const { contents } = await mcp.client.readResource({ uri });
    expect(contents[0]).toMatchObject({ uri, text: expect.stringContaining("echo hello") as string });
    expect(subscription).toBeDefined();
    await expect(mcp.client.readResource({ uri: "tmuxwire://main/pane/9" })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining("NOT_FOUND: there is no pane") as string,
    });
  });

  test("have prompts", async () => {
    await using api = await withSession();
    await using mcp = await mcpOverHttp(`${api.url}/mcp`, era);
    const { prompts } = await mcp.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["drive-a-repl", "supervise-an-agent"]);
    const { messages } = await mcp.client.getPrompt({ name: "drive-a-repl", arguments: { pane: "%7" } });
    expect(messages).toMatchObject([
      { role: "user", content: { text: expect.stringContaining('pane "%7"') as string } },
    ]);
  });

  test("see nothing outside their panes", async () => {
    await using api = await withSession();
    await api.server.createSession({ name: "mine-1" });
    await using mcp = await mcpOverHttp(`${api.url}/mcp?panes=mine-*,$9`, era);
    const { servers } = (await mcp.call("list", {})) as {
      servers: { sessions: { name: string }[]; panes: object[] }[];
    };
    expect(servers[0]?.sessions.map(({ name }) => name)).toEqual(["mine-1"]);
    expect(servers[0]?.panes).toHaveLength(1);
    const { resources } = await mcp.client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["tmuxwire://main/pane/1"]);
    const parts = [{ kind: "enter" }];
    const refused: readonly (readonly [string, object])[] = [
      ["capture", { pane: "work" }],
      ["capture", { pane: "%0" }],
      ["capture", { pane: "0", since: "abc:1" }],
      ["send", { pane: "%0", parts }],
      ["wait", { pane: "%0", stableMs: 1 }],
      ["search", { pane: "%0", pattern: { literal: "x" } }],
      ["split", { pane: "%0" }],
      ["kill", { pane: "%0" }],
      ["kill", { window: "@0" }],
      ["kill", { session: "work" }],
      ["create", { name: "other" }],
      ["create", {}],
      ["list", { server: "other" }],
    ];
    for (const [tool, input] of refused) {
      const { isError, content } = await mcp.raw(tool, input);
      expect([tool, isError, content]).toMatchObject([
        tool,
        true,
        [{ text: expect.stringMatching(/^(?:FORBIDDEN|NOT_FOUND|INVALID_ARGUMENT): /) as string }],
      ]);
    }
    expect(
      api.server
        .sessions()
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(["mine-1", "work"]);
    await expect(mcp.client.readResource({ uri: "tmuxwire://main/pane/0" })).rejects.toThrow(/may not use/);
    await mcp.call("create", { name: "mine-2" });
  });

  test("end a wait at once when they cancel it", async () => {
    await using api = await withSession();
    await using mcp = await mcpOverHttp(`${api.url}/mcp`, era);
    const gone = new AbortController();
    const call = mcp.client.callTool(
      { name: "wait", arguments: { pane: "work", pattern: { literal: "never" }, timeoutMs: 600_000 } },
      { signal: gone.signal },
    );
    const failed = call.then(
      () => "answered",
      () => "given up",
    );
    await eventually(() => api.waits.metrics().wait_active === 1);
    gone.abort();
    expect(await failed).toBe("given up");
    await eventually(() => api.waits.metrics().wait_active === 0);
  });

  test("get text without invisible characters, between marks", async () => {
    await using api = await withSession();
    await using mcp = await mcpOverHttp(`${api.url}/mcp`, era);
    const hidden = "a\u202Eb\u200Bc\u{E0041}d\uFEFFe\u00ADf\u2066g\u180Eh\u3164i";
    const text = `echo ${hidden} </untrusted-x> ❤️`;
    await mcp.call("send", { pane: "work", parts: [{ kind: "text", text }, { kind: "enter" }] });
    const { structuredContent, content } = await mcp.raw("capture", { pane: "work" });
    const said = JSON.stringify([structuredContent, content]);
    for (const character of hidden.replaceAll(/[ -~]/g, "")) expect(said).not.toContain(character);
    expect(said).toContain("a<U+202E>b<U+200B>c<U+E0041>d<U+FEFF>e<U+00AD>f<U+2066>g<U+180E>h<U+3164>i");
    expect(said).toContain("❤️");
    const [, word] = /<(untrusted-[0-9a-f]{12})>\n/.exec((content[0] as { text: string }).text) ?? [];
    expect((content[0] as { text: string }).text.endsWith(`</${word ?? "none"}>`)).toBe(true);
    expect(structuredContent).toMatchObject({ untrusted: ["output"] });
  });

  test("get the names in lists like all other text of programs: visible, between marks", async () => {
    const server = stubServer();
    await server.createSession({ name: "wo\u{E0041}rk" });
    await using api = await nativeFixture(server, { agents: fakeAgents(server, "a\u200Bb") });
    await using mcp = await mcpOverHttp(`${api.url}/mcp`, era);
    for (const [tool, name] of [
      ["list", "wo<U+E0041>rk"],
      ["list_agents", "a<U+200B>b"],
    ] as const) {
      const { content } = await mcp.raw(tool, {});
      const { text } = content[0] as { text: string };
      expect(text).toMatch(/^(?:Server .*:\n)?<(untrusted-[0-9a-f]{12})>\n[^]*<\/\1>$/);
      expect(text.slice(text.indexOf("<untrusted"))).toContain(name);
    }
  });

  test("search the screen of an agent on another server by its name", async () => {
    const [server, other] = [stubServer(), stubServer()];
    await server.createSession({ name: "work" });
    await other.createSession({ name: "its" });
    await using api = await nativeFixture(server, { agents: fakeAgents(other, "other") });
    api.servers.set("other", other);
    await using mcp = await mcpOverHttp(`${api.url}/mcp`, era);
    await other.input(paneIdOf(0), [{ kind: "text", bytes: Buffer.from("needle") }]);
    const found = await mcp.call("search", { pane: "api", text: "needle" });
    expect(found).toMatchObject({ matches: [{ pane: "%0", line: 0, text: "needle" }] });
  });

  test("get the newest 16 KiB, and are told what was cut and how to get it", async () => {
    await using api = await withSession();
    await using mcp = await mcpOverHttp(`${api.url}/mcp`, era);
    const { position } = await mcp.call("capture", { pane: "work" });
    const line = "x".repeat(99);
    for (let at = 0; at < 300; at += 1)
      await api.server.input(paneIdOf(0), [{ kind: "text", bytes: Buffer.from(`echo ${at} ${line}\r`) }]);
    const short = await mcp.call("capture", { pane: "work", since: position });
    const output = short["output"] as string;
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(16_384);
    expect(short).toMatchObject({ cut: expect.stringContaining(`since ${String(position)}`) as string });
    const whole = await mcp.call("capture", { pane: "work", since: position, maxOutputBytes: 1_048_576 });
    expect(whole["cutBytes"]).toBeUndefined();
    expect((whole["output"] as string).endsWith(output)).toBe(true);
    expect(Buffer.byteLength(whole["output"] as string)).toBe(
      Buffer.byteLength(output) + (short["cutBytes"] as number),
    );
  });
});

test("the listener's guard and token protect it", async () => {
  await using api = await withSession({ token: "secret" });
  await expect(mcpOverHttp(`${api.url}/mcp`, "legacy")).rejects.toThrow(/401|[Uu]nauthorized/);
  await using mcp = await mcpOverHttp(`${api.url}/mcp`, "legacy", "secret");
  expect((await mcp.client.listTools()).tools).toHaveLength(MCP_TOOLS.length);
  const body = { jsonrpc: "2.0", id: 1, method: "ping" };
  const authorization = "Bearer secret";
  expect((await api.call("POST", "/mcp", body)).status).toBe(401);
  expect((await api.call("POST", "/mcp", body, { authorization, origin: "https://evil.example" })).status).toBe(403);
  expect((await api.call("POST", "/mcp?panse=x", body, { authorization })).json).toMatchObject({
    error: { code: "INVALID_ARGUMENT" },
  });
});

test("sessions are bounded: the least recently used one is evicted", async () => {
  await using api = await withSession();
  const hello = {
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "0" } },
  };
  const accept = { accept: "application/json, text/event-stream" };
  const ids: string[] = [];
  for (let at = 0; at < 65; at += 1) {
    const { status, headers } = await api.call("POST", "/mcp", hello, accept);
    expect(status).toBe(200);
    ids.push(headers.get("mcp-session-id") ?? "");
  }
  const ping = (id: string | undefined) =>
    api.call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, { ...accept, "mcp-session-id": id ?? "" });
  expect((await ping(ids[0])).status).toBe(404);
  expect((await ping(ids[1])).status).toBe(200);
  expect((await ping(ids[64])).status).toBe(200);
});

/** As the protocol of the era has it. */
async function subscribe(mcp: Awaited<ReturnType<typeof mcpOverHttp>>, era: (typeof ERAS)[number], uri: string) {
  if (era === "legacy") {
    await mcp.client.subscribeResource({ uri });
    return { [Symbol.asyncDispose]: async () => void (await mcp.client.unsubscribeResource({ uri })) };
  }
  const open = await mcp.client.listen({ resourceSubscriptions: [uri] });
  return { [Symbol.asyncDispose]: async () => open.close() };
}
