/** Sessions of agents over `/ws`, with real processes of ours in the agents' places (docs/contracts/freshell.md). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FreshellClient } from "../support/daemon/freshellFixture.ts";
import { isAlive } from "../support/daemon/isAlive.ts";
import { AgentScene } from "../support/freshell/agentScene.ts";

const RESUMED = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";
const anyText = expect.any(String) as unknown;

let scene: AgentScene;
let client: FreshellClient;
beforeEach(async () => {
  scene = await AgentScene.start({
    AUTH_TOKEN: "never-to-be-seen",
    FRESHELL_TOKEN: "never-to-be-seen",
    PI_TEAMD_TOKEN_FILE: "never-to-be-seen",
    TMUXWIRE_TOKEN: "never-to-be-seen",
    CLAUDECODE: "1",
    TMUX_PANE: "%1",
    ANTHROPIC_API_KEY: "a key of the user's",
  });
  client = await scene.freshell.connect();
});
afterEach(() => scene[Symbol.asyncDispose]());

const say = (sessionId: string, text: string, by = client): void => by.send({ type: "sdk.send", sessionId, text });
/** The session's frames of these types so far. */
const framesOf = (sessionId: string, ...types: readonly string[]) =>
  client.frames.filter((frame) => frame["sessionId"] === sessionId && types.includes(frame.type));

describe("F140 F144 F152: an sdk session", () => {
  test("the program gets its options and the user's environment, and no token of ours", async () => {
    const options = { model: "opus", permissionMode: "plan", effort: "max", resumeSessionId: RESUMED, cwd: "/" };
    const id = await scene.sdk(client, options);
    expect(await client.next("sdk.session.init")).toEqual({
      type: "sdk.session.init",
      sessionId: id,
      model: "opus",
      cwd: "/",
      tools: [],
    });
    // Its response to our first line.
    await client.next("sdk.status", (frame) => frame["status"] === "connected");
    const { pid } = await scene.entry(id);
    const { args, env, cwd } = scene.started(pid!);
    expect(args.join(" ")).toBe(
      "--output-format stream-json --input-format stream-json --verbose --include-partial-messages " +
        `--permission-prompt-tool stdio --resume ${RESUMED} --model opus --permission-mode plan --effort max`,
    );
    expect(cwd).toBe("/");
    expect(Object.values(env)).not.toContain("never-to-be-seen");
    expect(env).not.toHaveProperty("CLAUDECODE");
    expect(env).not.toHaveProperty("TMUX_PANE");
    expect(env).toMatchObject({ ANTHROPIC_API_KEY: "a key of the user's", FRESHELL_URL: scene.freshell.url });
  });

  test("a turn: what it is, what it says, what its tools return, how it ended", async () => {
    const id = await scene.sdk(client);
    say(id, "pieces one two\ntool ls");
    await client.next("sdk.status", (frame) => frame["status"] === "idle");
    expect(framesOf(id, "sdk.session.init").at(-1)).toMatchObject({
      cliSessionId: "11111111-2222-4333-8444-555555555555",
      model: "fake-model",
      tools: [{ name: "Bash" }],
    });
    expect(framesOf(id, "sdk.stream")[2]).toEqual({
      type: "sdk.stream",
      sessionId: id,
      event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "one " } },
      parentToolUseId: null,
    });
    expect(framesOf(id, "sdk.assistant").map((frame) => frame["content"])).toEqual([
      [{ type: "text", text: "one two " }],
      [{ type: "tool_use", id: "t1", name: "Bash", input: { command: "ls" } }],
    ]);
    const answered = [{ type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "ran ls" }] }];
    expect(framesOf(id, "sdk.user")).toEqual([{ type: "sdk.user", sessionId: id, content: answered }]);
    expect(framesOf(id, "sdk.result")).toEqual([
      {
        type: "sdk.result",
        sessionId: id,
        result: "success",
        durationMs: 5,
        costUsd: 0.5,
        usage: { input_tokens: 3, output_tokens: 4 },
      },
    ]);
    const statuses = framesOf(id, "sdk.status").map((frame) => frame["status"]);
    expect(statuses.slice(-2)).toEqual(["running", "idle"]);
  });

  test("it is interrupted, and its model and mode are changed; a refusal is told", async () => {
    const id = await scene.sdk(client);
    client.send({ type: "sdk.interrupt", sessionId: id });
    expect(await client.next("sdk.result")).toMatchObject({ result: "error_during_execution" });
    client.send({ type: "sdk.set-permission-mode", sessionId: id, permissionMode: "acceptEdits" });
    client.send({ type: "sdk.set-model", sessionId: id, model: "refused" });
    expect(await client.next("sdk.error")).toMatchObject({ message: "the program refuses set_model: no such model" });
  });

  test("the same requestId twice is one session", async () => {
    const create = { type: "sdk.create", requestId: "once" };
    client.send(create);
    client.send(create);
    const [first, second] = [await client.next("sdk.created"), await client.next("sdk.created")];
    expect(first).toEqual(second);
    say(first["sessionId"] as string, "echo hi");
    await client.next("sdk.result");
    expect(scene.startedCount()).toBe(1);
    expect(framesOf(first["sessionId"] as string, "sdk.assistant")).toHaveLength(1);
  });

  test("a kill ends the program, and the session stays to be read", async () => {
    const id = await scene.sdk(client);
    const { pid } = await scene.entry(id);
    client.send({ type: "sdk.kill", sessionId: id });
    expect(await client.next("sdk.killed")).toEqual({ type: "sdk.killed", sessionId: id, success: true });
    expect(await client.next("sdk.exit")).toEqual({ type: "sdk.exit", sessionId: id, exitCode: 143 });
    expect(isAlive(pid!)).toBe(false);
    expect(await scene.entry(id)).toMatchObject({ status: "exited", pid: null, exitCode: 143 });
    expect(framesOf(id, "sdk.error")).toEqual([]);
    client.send({ type: "sdk.kill", sessionId: id });
    expect(await client.next("sdk.killed")).toMatchObject({ success: false });
  });
});

describe("what is sent behind a kill on the same socket gets its error", () => {
  test("sdk", async () => {
    const id = await scene.sdk(client);
    await client.next("sdk.status", (frame) => frame["status"] === "connected");
    client.send({ type: "sdk.kill", sessionId: id });
    for (const message of [
      { type: "sdk.send", text: "echo x" },
      { type: "sdk.send", text: "echo y" },
      { type: "sdk.interrupt" },
      { type: "sdk.set-model", model: "x" },
    ]) {
      client.send({ ...message, sessionId: id });
    }
    for (let at = 0; at < 4; at += 1) {
      expect(await client.next("error")).toMatchObject({ code: "INVALID_SESSION_ID", sessionId: id });
    }
    await client.next("sdk.exit");
    expect(framesOf(id, "sdk.assistant")).toEqual([]);
  });

  test("codingcli", async () => {
    client.send({ type: "codingcli.create", requestId: "k", provider: "claude", prompt: "stay", keepStdinOpen: true });
    const { sessionId } = await client.next("codingcli.created");
    client.send({ type: "codingcli.kill", sessionId });
    for (const data of ["a", "b"]) client.send({ type: "codingcli.input", sessionId, data });
    for (let at = 0; at < 2; at += 1) {
      expect(await client.next("error")).toMatchObject({ code: "INVALID_SESSION_ID", sessionId });
    }
    await client.next("codingcli.exit");
  });
});

describe("F146 F011: whose it is", () => {
  test("an unknown session, one of another connection, one that has ended", async () => {
    const id = await scene.sdk(client);
    const other = await scene.freshell.connect();
    const refusals: unknown[] = [];
    for (const [sessionId, by] of [
      ["nowhere", client],
      [id, other],
    ] as const) {
      for (const message of [
        { type: "sdk.send", text: "echo x" },
        { type: "sdk.interrupt" },
        { type: "sdk.kill" },
        { type: "sdk.set-model", model: "x" },
        { type: "sdk.permission.respond", requestId: "r", behavior: "allow" },
      ]) {
        by.send({ ...message, sessionId });
        refusals.push((await by.next("error"))["code"]);
      }
    }
    expect(refusals).toEqual(Array.from({ length: 10 }, (_, at) => (at < 5 ? "INVALID_SESSION_ID" : "UNAUTHORIZED")));
    client.send({ type: "sdk.attach", sessionId: "nowhere" });
    expect(await client.next("error")).toMatchObject({ code: "INVALID_SESSION_ID", sessionId: "nowhere" });
    client.send({ type: "sdk.kill", sessionId: id });
    await client.next("sdk.exit");
    say(id, "echo x");
    expect(await client.next("error")).toMatchObject({ code: "INVALID_SESSION_ID" });
  });

  test("it goes on without its connection; who attaches gets everything from the beginning", async () => {
    const id = await scene.sdk(client);
    say(id, "echo one");
    await client.next("sdk.result");
    say(id, "permission rm");
    const asked = await client.next("sdk.permission.request");
    client.socket.close();
    await client.closed;
    client = await scene.freshell.connect();
    expect(await scene.entry(id)).toMatchObject({ status: "running", openPermissions: 1 });
    client.send({ type: "sdk.attach", sessionId: id });
    const { messages } = await client.next("sdk.history");
    const stamped = (role: string, text: string) => ({ role, content: [{ type: "text", text }], timestamp: anyText });
    expect(messages).toEqual([
      stamped("user", "echo one"),
      stamped("assistant", "one"),
      stamped("user", "permission rm"),
    ]);
    expect(await client.next("sdk.status")).toMatchObject({ status: "running" });
    expect(await client.next("sdk.permission.request")).toEqual(asked);
    say(id, "echo two");
    await client.next("sdk.assistant", (frame) => JSON.stringify(frame).includes("two"));
  });

  test("two who are attached hear the same, and of each other", async () => {
    const id = await scene.sdk(client);
    const other = await scene.freshell.connect();
    other.send({ type: "sdk.attach", sessionId: id });
    await other.next("sdk.history");
    say(id, "echo hi");
    expect(await other.next("sdk.user")).toMatchObject({ content: [{ type: "text", text: "echo hi" }] });
    await Promise.all([client.next("sdk.result"), other.next("sdk.result")]);
    expect(framesOf(id, "sdk.user")).toEqual([]);
  });
});

describe("why a session failed", () => {
  const failing = "stderr \u001b[31mbad\u0007 \u202ekey\u001b[0m\nexit 3";
  const failure = "the program ended with 3: bad key";

  test("is in its entry, in the list and in what a wait for its end gives, in plain text", async () => {
    const create = { provider: "codingcli", codingProvider: "claude", prompt: failing };
    const { json } = await scene.freshell.call("POST", "/api/agent-sessions", create);
    const sessionRef = { provider: "codingcli", sessionId: json["sessionId"] as string };
    const ended = await scene.freshell.call("POST", "/api/waits", {
      target: { sessionRef },
      exit: true,
      timeoutSec: 30,
    });
    expect(ended.json).toMatchObject({ exitCode: 3, failure });
    expect(await scene.entry(sessionRef.sessionId, "codingcli")).toMatchObject({ status: "exited", failure });
    const list = (await scene.freshell.call("GET", "/api/agent-sessions")).json as unknown;
    expect(list).toMatchObject([{ failure }]);
  });

  test("is bounded, and is not there for one that ended well or was killed", async () => {
    const failed = await scene.sdk(client);
    say(failed, `stderr ${"x".repeat(5_000)}\nexit 1`);
    await client.next("sdk.exit");
    expect((await scene.entry(failed)).failure?.length).toBeLessThan(1_100);
    for (const end of [{ type: "sdk.send", text: "stderr words\nexit 0" }, { type: "sdk.kill" }]) {
      const id = await scene.sdk(client);
      client.send({ ...end, sessionId: id });
      await client.next("sdk.exit", (frame) => frame["sessionId"] === id);
      expect(await scene.entry(id)).not.toHaveProperty("failure");
    }
  });
});

describe("permission requests", () => {
  const ask = async (id: string, command: string): Promise<string> => {
    say(id, `permission ${command}`);
    return (await client.next("sdk.permission.request"))["requestId"] as string;
  };

  test("one is listed and answered over HTTP, once, and who is attached hears of it", async () => {
    const id = await scene.sdk(client);
    const requestId = await ask(id, "rm");
    const path = `/api/agent-sessions/sdk/${id}`;
    const open = { requestId, subtype: "can_use_tool", tool: { name: "Bash", input: { command: "rm" } } };
    expect((await scene.freshell.call("GET", `${path}/permissions`)).json).toMatchObject([open]);
    const deny = { requestId, behavior: "deny", message: "not here" };
    expect((await scene.freshell.call("POST", `${path}/answer`, deny)).json).toEqual({ ok: true });
    expect(await client.next("sdk.permission.cancelled")).toMatchObject({ requestId });
    expect(JSON.stringify((await client.next("sdk.assistant"))["content"])).toContain("not here");
    expect((await scene.freshell.call("GET", `${path}/permissions`)).json).toEqual([]);
    expect(await scene.freshell.call("POST", `${path}/answer`, deny)).toMatchObject({ status: 404 });
    expect(await scene.freshell.call("POST", `${path}/answer`, { ...deny, behavior: "perhaps" })).toMatchObject({
      status: 400,
    });
  });

  test("a codingcli session asks nobody", async () => {
    const create = { provider: "codingcli", codingProvider: "claude", prompt: "echo x" };
    const { json } = await scene.freshell.call("POST", "/api/agent-sessions", create);
    const path = `/api/agent-sessions/codingcli/${String(json["sessionId"])}/permissions`;
    expect((await scene.freshell.call("GET", path)).json).toMatchObject({ error: { code: "INVALID_TARGET" } });
  });

  test("one stays open until a person answers, once", async () => {
    const id = await scene.sdk(client);
    const requestId = await ask(id, "rm");
    expect(framesOf(id, "sdk.permission.request")).toEqual([
      {
        type: "sdk.permission.request",
        sessionId: id,
        requestId,
        subtype: "can_use_tool",
        tool: { name: "Bash", input: { command: "rm" } },
        toolUseID: "t2",
        suggestions: [{ type: "setMode" }],
      },
    ]);
    const other = await scene.freshell.connect();
    other.send({ type: "sdk.attach", sessionId: id });
    await other.next("sdk.permission.request");
    const answer = { type: "sdk.permission.respond", sessionId: id, requestId, behavior: "allow" };
    client.send(answer);
    // What the program was told: its input as it asked for it.
    const told = { behavior: "allow", updatedInput: { command: "rm" } };
    const { content } = await client.next("sdk.assistant");
    expect(JSON.parse(/answered: (.*)/.exec((content as { text: string }[])[0]!.text)![1]!)).toEqual({
      subtype: "success",
      request_id: "asks-rm",
      response: told,
    });
    expect(await other.next("sdk.permission.cancelled")).toMatchObject({ requestId });
    for (const again of [answer, { ...answer, behavior: "deny" }, { ...answer, requestId: "never-asked" }]) {
      client.send(again);
      expect(await client.next("error")).toMatchObject({ code: "NOT_FOUND", requestId: again.requestId });
    }
    expect(framesOf(id, "sdk.assistant")).toHaveLength(1);
  });

  test("a denial says why; the program takes one back; an end takes back the rest", async () => {
    const id = await scene.sdk(client);
    const first = await ask(id, "one");
    const denial = { behavior: "deny", message: "not today", interrupt: true };
    client.send({ type: "sdk.permission.respond", sessionId: id, requestId: first, ...denial });
    const { content } = await client.next("sdk.assistant");
    expect((content as { text: string }[])[0]!.text).toContain(JSON.stringify({ response: denial }).slice(1, -1));
    const [second, third] = [await ask(id, "two"), await ask(id, "three")];
    say(id, "withdraw two");
    expect(await client.next("sdk.permission.cancelled")).toMatchObject({ requestId: second });
    client.send({ type: "sdk.kill", sessionId: id });
    expect(await client.next("sdk.permission.cancelled")).toMatchObject({ requestId: third });
  });
});

describe("F142 F143 F145: a codingcli session", () => {
  test("claude: its words, its events, its standard error, its end", async () => {
    const options = { model: "opus", maxTurns: 3, permissionMode: "plan", resumeSessionId: RESUMED };
    const events = await scene.coding(client, { prompt: "tool ls\nstderr oops\necho done", ...options });
    const { args } = scene.started(scene.pids()[0]!);
    expect(args.slice(2).join(" ")).toBe(
      `--output-format stream-json --verbose --resume ${RESUMED} --model opus --max-turns 3 --permission-mode plan`,
    );
    expect(events.map(({ type }) => type)).toEqual(
      "session.start tool.call tool.result message.assistant session.end".split(" "),
    );
    expect(events.map(({ sequenceNumber }) => sequenceNumber)).toEqual([1, 2, 3, 4, 5]);
    expect(events[2]).toMatchObject({ provider: "claude", tool: { callId: "t1", output: "ran ls", isError: false } });
    expect(events[4]).toMatchObject({ tokens: { inputTokens: 3, outputTokens: 4, totalCost: 0.5 } });
    expect(client.frames.find(({ type }) => type === "codingcli.stderr")).toMatchObject({ text: "oops\n" });
    expect(client.frames.at(-1)).toMatchObject({ type: "codingcli.exit", provider: "claude", exitCode: 0 });
  });

  test("codex: its words, and items as events; its input is at its end", async () => {
    const events = await scene.coding(client, { provider: "codex", prompt: "hi", model: "m", sandbox: "read-only" });
    expect(scene.started(scene.pids()[0]!).args).toEqual("exec --json --model m --sandbox read-only hi".split(" "));
    expect(events.map(({ type }) => type).join(" ")).toBe(
      "session.start error reasoning tool.call tool.result tool.call tool.result message.assistant token.usage session.end",
    );
    expect(events[4]!.tool).toEqual({
      callId: "item_1",
      name: "command_execution",
      output: "hi\n",
      isError: false,
      exitCode: 0,
    });
  });

  test("a prompt that looks like an option is none", async () => {
    const events = await scene.coding(client, { prompt: "--dangerously-skip-permissions" });
    expect(scene.started(scene.pids()[0]!).args.slice(-2)).toEqual(["--", "--dangerously-skip-permissions"]);
    expect(events.at(1)!.message!.content).toBe("you said: --dangerously-skip-permissions");
  });

  test.each([
    [{ provider: "gemini" }, "INVALID_MESSAGE", "Provider not supported: gemini"],
    [{ provider: "codex", resumeSessionId: "x" }, "INVALID_ARGUMENT", "POST /api/terminals"],
    [{ provider: "vim" }, "INVALID_MESSAGE", "provider"],
    [{ cwd: "/nowhere" }, "INVALID_ARGUMENT", "cwd"],
    [{ model: "--help" }, "INVALID_MESSAGE", "model"],
  ])("%j: %s", async (wrong, code, named) => {
    client.send({ type: "codingcli.create", requestId: "r", provider: "claude", prompt: "echo x", ...wrong });
    const error = await client.next("error");
    expect(error).toMatchObject({ code, requestId: "r" });
    expect(error["message"]).toContain(named);
    expect(scene.startedCount()).toBe(0);
  });

  test("a resume id that is none of claude's is left out, as pages expect", async () => {
    await scene.coding(client, { prompt: "echo x", resumeSessionId: "item_7" });
    expect(scene.started(scene.pids()[0]!).args).not.toContain("--resume");
    await scene.sdk(client, { resumeSessionId: "-x" });
  });

  test("one that has ended says so again when it is created again", async () => {
    const create = { type: "codingcli.create", requestId: "ends", provider: "claude", prompt: "exit 3" };
    client.send(create);
    const { sessionId } = await client.next("codingcli.created");
    const exit = await client.next("codingcli.exit");
    expect(exit).toEqual({ type: "codingcli.exit", sessionId, provider: "claude", exitCode: 3 });
    client.send(create);
    expect(await client.next("codingcli.created")).toMatchObject({ sessionId });
    expect(await client.next("codingcli.exit")).toEqual(exit);
  });

  test("input reaches it where it was to stay open, else it is refused; a kill", async () => {
    client.send({ type: "codingcli.create", requestId: "r", provider: "codex", prompt: "x", keepStdinOpen: true });
    const { sessionId } = await client.next("codingcli.created");
    const { pid } = await scene.entry(sessionId as string, "codingcli");
    // The real one waits for the end of its input as well.
    client.send({ type: "codingcli.input", sessionId, data: "more\n" });
    client.send({ type: "codingcli.kill", sessionId });
    expect(await client.next("codingcli.killed")).toEqual({ type: "codingcli.killed", sessionId, success: true });
    expect(await client.next("codingcli.exit")).toMatchObject({ sessionId, exitCode: 143 });
    expect(isAlive(pid!)).toBe(false);
    expect(client.frames.filter(({ type }) => type === "error")).toEqual([]);
    client.send({ type: "codingcli.input", sessionId, data: "x" });
    expect(await client.next("error")).toMatchObject({ code: "INVALID_SESSION_ID", sessionId });
    client.send({ type: "codingcli.kill", sessionId: "nowhere" });
    expect(await client.next("codingcli.killed")).toMatchObject({ success: false });
    client.send({ type: "codingcli.create", requestId: "s", provider: "claude", prompt: "spin" });
    const closed = await client.next("codingcli.created");
    client.send({ type: "codingcli.input", sessionId: closed["sessionId"], data: "x" });
    expect((await client.next("error"))["message"]).toMatch(/takes no more input|has ended/);
  });
});
