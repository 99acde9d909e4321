/** Agents that do not do what agents do, and clients that send what is none (docs/contracts/freshell.md). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import type { FreshellClient } from "../support/daemon/freshellFixture.ts";
import { isAlive } from "../support/daemon/isAlive.ts";
import { AgentScene, QUIET_AGENT } from "../support/freshell/agentScene.ts";

let scene: AgentScene;
let client: FreshellClient;
beforeEach(() => startWith({}));
afterEach(() => scene[Symbol.asyncDispose]());

async function startWith(env: Readonly<Record<string, string>>): Promise<void> {
  scene = await AgentScene.start(env);
  client = await scene.freshell.connect();
}
async function restartWith(env: Readonly<Record<string, string>>): Promise<void> {
  await scene[Symbol.asyncDispose]();
  await startWith(env);
}
const say = (sessionId: string, text: string): void => client.send({ type: "sdk.send", sessionId, text });
const said = (): readonly unknown[] =>
  client.frames.filter(({ type }) => type === "sdk.assistant").map((frame) => frame["content"]);
const text = (words: string) => [{ type: "text", text: words }];

describe("programs that print invalid output", () => {
  test("no JSON, JSON that is no object, JSON without an end to its depth: told once, and the rest is read", async () => {
    const id = await scene.sdk(client);
    say(id, "noise\ndeep\nnoise\necho still here");
    await client.next("sdk.result");
    const errors = client.frames.filter(({ type }) => type === "sdk.error");
    expect(errors).toEqual([
      { type: "sdk.error", sessionId: id, message: "the program prints lines that are not JSON; they are skipped" },
    ]);
    expect(said()).toEqual([text("still here")]);
  });

  test("bytes that are no UTF-8 are replaced; another session's id changes nothing", async () => {
    const [id, other] = [await scene.sdk(client), await scene.sdk(client)];
    say(id, "invalid\nforeign words");
    await client.next("sdk.result");
    expect(said()).toEqual([text("a\u{fffd}\u{fffd}b"), text("words")]);
    expect(client.frames.filter((frame) => frame["sessionId"] === other && frame.type === "sdk.assistant")).toEqual([]);
    expect(await scene.entry(id)).toMatchObject({ cliSessionId: "11111111-2222-4333-8444-555555555555" });
  });

  test("half a line, and then its end", async () => {
    const id = await scene.sdk(client);
    say(id, "half\nexit 0");
    expect(await client.next("sdk.error")).toMatchObject({ message: expect.stringContaining("not JSON") as unknown });
    expect(await client.next("sdk.exit")).toMatchObject({ exitCode: 0 });
  });

  test("a line of 9 MB ends the session; one of 6 MB is passed on to a client that reads", async () => {
    const id = await scene.sdk(client);
    say(id, "big 6000000");
    await client.next("sdk.result");
    expect(JSON.stringify(said())).toHaveLength(6_000_000 + JSON.stringify([text("")]).length);
    const { pid } = await scene.entry(id);
    say(id, "line 9000000");
    expect(await client.next("sdk.error")).toMatchObject({
      message: expect.stringContaining("8388608 bytes") as unknown,
    });
    await client.next("sdk.exit");
    expect(isAlive(pid!)).toBe(false);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
  });

  test("100 MB in one line, and 1,100 messages: what is kept has bounds", async () => {
    const id = await scene.sdk(client);
    say(id, "messages 1100");
    await client.next("sdk.result");
    client.send({ type: "sdk.attach", sessionId: id });
    const messages = (await client.next("sdk.history"))["messages"] as { content: unknown }[];
    expect([messages.length, messages.at(-1)!.content]).toEqual([1_000, text("message 1100")]);
    say(id, "line 100000000");
    await client.next("sdk.exit");
    expect((await scene.entry(id)).status).toBe("exited");
  });
});

describe("programs that end, or do not", () => {
  test.each([
    ["exit 3", 3],
    ["exit 137", 137],
  ])("%s at once: its last output is reported", async (action, exitCode) => {
    const events = await scene.coding(client, { prompt: `stderr the key is missing\n${action}` });
    expect(events.at(-1)).toMatchObject({
      type: "session.end",
      error: { message: `the program ended with ${exitCode}: the key is missing`, recoverable: false },
    });
    expect(client.frames.at(-1)).toMatchObject({ type: "codingcli.exit", exitCode });
    const id = await scene.sdk(client);
    say(id, `stderr the key is missing\n${action}`);
    const message = `the program ended with ${exitCode}: the key is missing`;
    expect(await client.next("sdk.error")).toMatchObject({ message });
    expect(await client.next("sdk.exit")).toMatchObject({ exitCode });
  });

  test("a program that is not there", async () => {
    await restartWith({ CLAUDE_CMD: "/nowhere/claude" });
    client.send({ type: "sdk.create", requestId: "r" });
    expect(await client.next("error")).toMatchObject({ code: "INVALID_ARGUMENT", requestId: "r" });
    await restartWith({ CLAUDE_CMD: "/etc/passwd" });
    client.send({ type: "sdk.create", requestId: "r" });
    expect(await client.next("error")).toMatchObject({ code: "INVALID_ARGUMENT" });
  });

  test("a program that ignores the end of its input and SIGTERM is killed with its children", async () => {
    await restartWith({ FAKE_AGENT_STAYS: "1" });
    const id = await scene.sdk(client);
    say(id, "spin");
    const { content } = await client.next("sdk.assistant");
    const child = Number(/spun (\d+)/.exec(JSON.stringify(content))![1]);
    const { pid } = await scene.entry(id);
    expect((await scene.freshell.call("DELETE", `/api/agent-sessions/sdk/${id}`)).json).toEqual({
      ok: true,
      exitCode: 137,
    });
    await eventually(() => !isAlive(pid!) && !isAlive(child));
  });

  test("what a program leaves behind when it ends goes with it, and keeps nobody waiting", async () => {
    const id = await scene.sdk(client);
    say(id, "leave");
    const { content } = await client.next("sdk.assistant");
    await client.next("sdk.exit");
    const child = Number(/left (\d+)/.exec(JSON.stringify(content))![1]);
    await eventually(() => !isAlive(child));
    expect(await scene.entry(id)).toMatchObject({ status: "exited", exitCode: 0 });
  });

  test("a program that refuses its arguments reports why", async () => {
    await restartWith({ CLAUDE_CMD: "/bin/sleep" });
    client.send({ type: "sdk.create", requestId: "r" });
    expect(await client.next("sdk.error")).toMatchObject({ message: expect.stringContaining("sleep") as unknown });
    await client.next("sdk.exit");
  });
});

describe("bounds", () => {
  test("32 sessions run at once, and the next has to wait for the end of one", async () => {
    await restartWith({ CLAUDE_CMD: QUIET_AGENT });
    const create = () => scene.freshell.call("POST", "/api/agent-sessions", { provider: "sdk" });
    const made = await Promise.all(Array.from({ length: 34 }, create));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(32);
    expect(made.filter(({ status }) => status === 429)).toHaveLength(2);
    const refused = made.find(({ status }) => status === 429);
    expect(refused!.json).toMatchObject({ error: { code: "RESOURCE_LIMIT", details: { limit: "sessions", max: 32 } } });
    const { sessionId } = made.find(({ status }) => status === 201)!.json as unknown as { sessionId: string };
    await scene.freshell.call("DELETE", `/api/agent-sessions/sdk/${sessionId}`);
    expect((await create()).status).toBe(201);
  });

  test.each([
    [{ text: "" }],
    [{ text: "x", images: [{ mediaType: "image/png", data: "not base64!" }] }],
    [{ text: "x", images: [{ mediaType: "text/html", data: "eA==" }] }],
    [{ text: "x", images: "eA==" }],
    [{ text: "\u{d800}" }],
  ])("sdk.send %j is refused, and the program hears nothing", async (wrong) => {
    const id = await scene.sdk(client);
    client.send({ type: "sdk.send", sessionId: id, ...wrong });
    expect(await client.next("error")).toMatchObject({ code: "INVALID_MESSAGE" });
    client.send({ type: "sdk.attach", sessionId: id });
    expect((await client.next("sdk.history"))["messages"]).toEqual([]);
  });

  test("pictures reach the program", async () => {
    const id = await scene.sdk(client);
    client.send({ type: "sdk.send", sessionId: id, text: "x", images: [{ mediaType: "image/png", data: "eA==" }] });
    await client.next("sdk.result");
    expect(said()).toEqual([text("you said: x[image]")]);
  });

  test("2 MiB in one message are more than a connection takes, and the session goes on", async () => {
    const id = await scene.sdk(client);
    say(id, "x".repeat(2 ** 21));
    expect((await client.closed).code).toBe(1_009);
    expect((await scene.entry(id)).status).not.toBe("exited");
  });

  test("an unknown request from the program gets an error", async () => {
    const id = await scene.sdk(client);
    say(id, "asks");
    await client.next("sdk.assistant");
    expect(JSON.stringify(said())).toContain("answers can_use_tool only");
  });
});
