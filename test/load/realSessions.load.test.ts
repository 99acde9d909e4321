/**
 * Sessions of Claude Code and Codex themselves, against the kit's fake model: their streams are the truth about what the
 * parsers are for. Needs AGENT_KIT (the kit's folder) and TUI_INST (the programs' folder).
 */
import { describe, expect, test } from "vitest";
import { realSession, realSessions } from "../support/agents/realSessions.ts";
import { report } from "../support/daemon/loadReport.ts";
import { AgentScene } from "../support/freshell/agentScene.ts";

const [claudes, codexes] = [realSessions("claude"), realSessions("codex")];
const waitFor = (scene: AgentScene, sessionId: string, pattern: string) =>
  scene.freshell.call("POST", "/api/waits", {
    target: { sessionRef: { provider: "sdk", sessionId } },
    pattern,
    regex: true,
    from: "tail:200",
    timeoutSec: 1,
  });

describe.skipIf(claudes.length === 0).each(claudes.length === 0 ? (["cc"] as const) : claudes)("%s", (name) => {
  test("an sdk session: words, a permission, a tool, an interrupt", async () => {
    using real = realSession(name);
    await using scene = await AgentScene.start({ CLAUDE_CMD: real.command });
    const client = await scene.freshell.connect();
    const sessionId = await scene.sdk(client);
    const send = (type: string, more: object = {}): void => client.send({ type, sessionId, ...more });
    await client.next("sdk.status", (frame) => frame["status"] === "connected");

    send("sdk.send", { text: "hello there" });
    const init = await client.next("sdk.session.init", (frame) => frame["cliSessionId"] !== undefined);
    expect(init["tools"]).toContainEqual({ name: "Bash" });
    expect(JSON.stringify(await client.next("sdk.assistant"))).toContain("REPLY[hello there]");
    expect(await client.next("sdk.result")).toMatchObject({ result: "success" });

    send("sdk.send", { text: "tool touch hello.txt" });
    const asked = await client.next("sdk.permission.request");
    expect(asked).toMatchObject({ tool: { name: "Bash", input: { command: "touch hello.txt" } } });
    expect((await scene.entry(sessionId)).openPermissions).toBe(1);
    send("sdk.permission.respond", { requestId: asked["requestId"], behavior: "allow" });
    expect(JSON.stringify(await client.next("sdk.user"))).toContain("tool_result");
    expect(await client.next("sdk.result")).toMatchObject({ result: "success" });

    send("sdk.send", { text: "slow 30 words" });
    await client.next("sdk.stream", (frame) => JSON.stringify(frame).includes("word3"));
    send("sdk.interrupt");
    expect(await client.next("sdk.result")).toMatchObject({ result: "error_during_execution" });
    send("sdk.set-permission-mode", { permissionMode: "acceptEdits" });
    send("sdk.set-model", { model: "sonnet" });

    expect((await waitFor(scene, sessionId, "^REPLY\\[hello there\\] turn=1$")).status).toBe(200);
    expect((await waitFor(scene, sessionId, "^\\$ Bash$")).status).toBe(200);
    expect((await waitFor(scene, sessionId, "REPLY(.|\\n)*REPLY")).status).toBe(408);
    send("sdk.kill");
    await client.next("sdk.exit");
    const errors = client.frames.filter(({ type }) => type === "sdk.error" || type === "error");
    report("realSessions", { program: name, kind: "sdk", frames: client.frames.length, errors });
    expect(errors).toEqual([]);
  });

  test("a codingcli session", async () => {
    using real = realSession(name);
    await using scene = await AgentScene.start({ CLAUDE_CMD: real.command });
    const events = await scene.coding(await scene.freshell.connect(), { prompt: "--hello you", maxTurns: 3 });
    report("realSessions", { program: name, kind: "codingcli", events: events.map(({ type }) => type) });
    expect(events[0]).toMatchObject({
      type: "session.start",
      session: { providerSessionId: expect.anything() as unknown },
    });
    expect(events.find(({ type }) => type === "message.assistant")!.message!.content).toContain("REPLY[--hello you]");
    expect(events.at(-1)).toMatchObject({
      type: "session.end",
      tokens: { outputTokens: expect.any(Number) as unknown },
    });
  });
});

describe.skipIf(codexes.length === 0).each(codexes.length === 0 ? (["codex"] as const) : codexes)("%s", (name) => {
  test("a codingcli session with a command", async () => {
    using real = realSession(name);
    await using scene = await AgentScene.start({ CODEX_CMD: real.command });
    const client = await scene.freshell.connect();
    const events = await scene.coding(client, {
      provider: "codex",
      prompt: "tool echo hi",
      sandbox: "danger-full-access",
    });
    report("realSessions", { program: name, kind: "codingcli", events: events.map(({ type }) => type) });
    expect(events[0]).toMatchObject({ type: "session.start" });
    const result = events.find(({ type }) => type === "tool.result")!;
    expect(result.tool).toMatchObject({ name: "command_execution", output: "hi\n", exitCode: 0, isError: false });
    expect(events.find(({ type }) => type === "tool.call")!.tool!.callId).toBe(result.tool!.callId);
    expect(events.some(({ type }) => type === "message.assistant")).toBe(true);
    expect(events.at(-2)).toMatchObject({ type: "token.usage" });
    expect(events.at(-1)).toMatchObject({ type: "session.end" });
  });
});
