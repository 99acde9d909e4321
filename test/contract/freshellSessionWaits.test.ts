/** Sessions over HTTP, and waits for what they say (docs/contracts/freshell.md). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SessionEntry } from "../../protocol/api/freshell/sessionEvents.ts";
import { eventually } from "../support/clock/eventually.ts";
import { isAlive } from "../support/daemon/isAlive.ts";
import { AgentScene } from "../support/freshell/agentScene.ts";
import { FakeOwner } from "../support/freshell/fakeOwner.ts";

let scene: AgentScene;
beforeEach(async () => {
  scene = await AgentScene.start();
});
afterEach(() => scene[Symbol.asyncDispose]());

const call = (method: string, path: string, body?: object) =>
  scene.freshell.call(method, `/api/agent-sessions${path}`, body);
async function create(options: object = {}): Promise<SessionEntry> {
  const { status, json, text } = await call("POST", "", { provider: "sdk", ...options });
  if (status !== 201) throw new Error(text);
  return json as unknown as SessionEntry;
}
const send = (id: string, text: string) => call("POST", `/sdk/${id}/send`, { text });
const wait = (sessionId: string, asked: object, provider = "sdk") =>
  scene.freshell.call("POST", "/api/waits", {
    target: { sessionRef: { provider, sessionId } },
    timeoutSec: 30,
    ...asked,
  });
const isActive = (count: number) => eventually(() => scene.freshell.waits.metrics().wait_active === count);
/** Armed, then said. */
async function waitWhile(id: string, asked: object, text: string) {
  const answer = wait(id, asked);
  await isActive(1);
  await send(id, text);
  return answer;
}
const codeOf = ({ json }: { json: unknown }) => (json as { error: { code: string } }).error.code;

describe("F147 F148 F150 F151: over HTTP, with no device and no connection", () => {
  test("made, listed, told something, ended", async () => {
    const { sessionId, ...made } = await create({ model: "opus", cwd: "/" });
    expect(made).toEqual({
      provider: "sdk",
      codingProvider: "claude",
      status: "starting",
      createdAt: expect.any(Number) as unknown,
      updatedAt: expect.any(Number) as unknown,
      cwd: "/",
      model: "opus",
      pid: expect.any(Number) as unknown,
      openPermissions: 0,
      bufferRef: { outputSeq: 0, tailSeq: 0 },
    });
    expect((await send(sessionId, "echo hello")).json).toEqual({ outputSeq: 0 });
    await wait(sessionId, { pattern: "hello", from: "tail:5" });
    await eventually(async () => (await scene.entry(sessionId)).status === "idle");
    expect(await scene.entry(sessionId)).toMatchObject({
      cliSessionId: "11111111-2222-4333-8444-555555555555",
      bufferRef: { outputSeq: 6 },
    });
    expect((await call("POST", `/sdk/${sessionId}/interrupt`)).json).toEqual({ ok: true });
    expect((await call("DELETE", `/sdk/${sessionId}`)).json).toEqual({ ok: true, exitCode: 143 });
    expect(isAlive(made.pid!)).toBe(false);
    expect((await call("DELETE", `/sdk/${sessionId}`)).json).toEqual({ ok: true, exitCode: 143 });
    expect(await scene.entry(sessionId)).toMatchObject({ status: "exited", pid: null });
    const ended = await send(sessionId, "echo x");
    expect([ended.status, codeOf(ended)]).toEqual([400, "INVALID_TARGET"]);
  });

  test("the list by kind and by program", async () => {
    const sdk = await create();
    const claude = await create({ provider: "codingcli", codingProvider: "claude", prompt: "echo hi" });
    const codex = await create({ provider: "codingcli", codingProvider: "codex", prompt: "hi" });
    const idsOf = async (query: string) =>
      ((await call("GET", query)).json as unknown as SessionEntry[]).map(({ sessionId }) => sessionId);
    expect(await idsOf("")).toEqual([sdk, claude, codex].map(({ sessionId }) => sessionId));
    expect(await idsOf("?provider=sdk")).toEqual([sdk.sessionId]);
    expect(await idsOf("?provider=codingcli")).toEqual([claude.sessionId, codex.sessionId]);
    expect(await idsOf("?provider=codex")).toEqual([codex.sessionId]);
    expect((await call("GET", "?provider=vim")).status).toBe(400);
    // By its program, and not by another one's.
    expect((await call("GET", `/codex/${codex.sessionId}`)).status).toBe(200);
    expect((await call("GET", `/claude/${codex.sessionId}`)).status).toBe(404);
    expect((await call("GET", `/sdk/${codex.sessionId}`)).status).toBe(404);
    expect(codeOf(await call("POST", `/codex/${codex.sessionId}/send`, { text: "x" }))).toBe("INVALID_TARGET");
    await wait(codex.sessionId, { exit: true }, "codex");
    expect(codeOf(await call("POST", `/codex/${codex.sessionId}/interrupt`))).toBe("INVALID_TARGET");
  });

  test("F040: by the program's own id, unless two go on with the same one", async () => {
    const { sessionId } = await create();
    await send(sessionId, "echo hello");
    const own = "11111111-2222-4333-8444-555555555555";
    await wait(sessionId, { pattern: "hello", from: "tail:5" });
    expect((await call("GET", `/sdk/${own}`)).json).toMatchObject({ sessionId });
    const other = await create({ resumeSessionId: own });
    await send(other.sessionId, "echo hello");
    await wait(other.sessionId, { pattern: "hello", from: "tail:5" });
    const two = await call("GET", `/sdk/${own}`);
    expect(two.json).toMatchObject({
      error: {
        code: "AMBIGUOUS_TARGET",
        details: { matches: [`session:sdk:${sessionId}`, `session:sdk:${other.sessionId}`] },
      },
    });
    expect(codeOf(await call("GET", "/sdk/a:b:c"))).toBe("NOT_FOUND");
  });

  test.each([
    [{}, "provider"],
    [{ provider: "claude" }, "provider"],
    [{ provider: "sdk", prompt: "x" }, "prompt"],
    [{ provider: "sdk", effort: "extreme" }, "effort"],
    [{ provider: "sdk", resumeSessionId: "not-a-uuid" }, "UUID"],
    [{ provider: "codingcli", prompt: "x" }, "codingProvider"],
    [{ provider: "codingcli", codingProvider: "claude" }, "prompt"],
    [{ provider: "codingcli", codingProvider: "claude", prompt: "x".repeat(200_000) }, "prompt"],
    [{ provider: "codingcli", codingProvider: "opencode", prompt: "x" }, "Provider not supported: opencode"],
    [{ provider: "codingcli", codingProvider: "codex", prompt: "x", resumeSessionId: "y" }, "POST /api/terminals"],
    [{ provider: "sdk", cwd: "relative" }, "cwd"],
  ])("F141 F142 F143: %j is refused", async (body, named) => {
    const { status, json, text } = await call("POST", "", body);
    expect([status, codeOf({ json })]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(text).toContain(named);
    expect(scene.startedCount()).toBe(0);
  });
});

describe("F137 F149: waits for what a session says", () => {
  test("its words once, though they come in pieces and as a whole; calls and results of tools as lines", async () => {
    const { sessionId } = await create();
    const { json } = await waitWhile(sessionId, { pattern: "^ran ls$", regex: true }, "pieces one two\ntool ls");
    expect(json).toMatchObject({ matched: [{ predicate: "pattern", text: "ran ls" }] });
    const all = { regex: true, from: "tail:100", timeoutSec: 0.2 };
    expect((await wait(sessionId, { ...all, pattern: "^one two $" })).status).toBe(200);
    expect((await wait(sessionId, { ...all, pattern: "^\\$ Bash$" })).status).toBe(200);
    expect((await wait(sessionId, { ...all, pattern: "one(.|\\n)*one" })).status).toBe(408);
    expect((await scene.entry(sessionId)).bufferRef.outputSeq).toBe("one two \n$ Bash\nran ls\n".length);
  });

  test("its end, with its exit code; also when it has come", async () => {
    const { sessionId } = await create();
    const { json } = await waitWhile(sessionId, { exit: true, pattern: "bye" }, "echo bye\nexit 3");
    expect(json).toMatchObject({ exitCode: 3 });
    expect((await wait(sessionId, { exit: true })).json).toMatchObject({ exitCode: 3 });
    expect((await wait(sessionId, { pattern: "bye", from: "tail:1" })).status).toBe(200);
  });

  test("F117: a session has no prompt; one that is not there; no target at all", async () => {
    const { sessionId } = await create();
    expect(codeOf(await wait(sessionId, { prompt: true }))).toBe("INVALID_ARGUMENT");
    expect(codeOf(await wait(sessionId, {}))).toBe("INVALID_ARGUMENT");
    expect(codeOf(await wait("nowhere", { exit: true }))).toBe("NOT_FOUND");
    expect(codeOf(await wait(sessionId, { exit: true }, "codingcli"))).toBe("NOT_FOUND");
    const twice = { target: { terminalId: "x", sessionRef: { provider: "sdk", sessionId } }, exit: true };
    expect((await scene.freshell.call("POST", "/api/waits", twice)).status).toBe(400);
  });

  test("over /ws, and a connection that leaves frees its wait", async () => {
    const { sessionId } = await create();
    const client = await scene.freshell.connect();
    const target = { sessionRef: { provider: "sdk", sessionId } };
    client.send({ type: "wait.start", requestId: "w1", target, pattern: "hello" });
    client.send({ type: "wait.start", requestId: "w2", target, pattern: "never" });
    await isActive(2);
    await send(sessionId, "echo hello");
    expect(await client.next("wait.result")).toMatchObject({ requestId: "w1", ok: true });
    client.socket.close();
    await isActive(0);
  });

  test("F103: on a pane that shows a session", async () => {
    const { sessionId } = await create();
    const owner = await FakeOwner.start(scene.freshell, "desk", { allow: ["*"] });
    owner.panes = [{ id: "p1", content: { kind: "claude-chat", sessionRef: { provider: "sdk", sessionId } } }];
    const ask = (args: object) =>
      scene.freshell.call("POST", "/api/rpc", {
        type: "layout.rpc.request",
        requestId: "r",
        callerDeviceId: "caller",
        targetDeviceId: "desk",
        command: "wait-for",
        args: { target: "pane:p1", timeoutSec: 30, ...args },
      });
    const waiting = ask({ pattern: "hello" });
    await isActive(1);
    await send(sessionId, "echo hello");
    expect((await waiting).json).toMatchObject({
      ok: true,
      result: { matched: [{ predicate: "pattern", text: "hello" }] },
    });
    expect((await ask({ prompt: true })).json).toMatchObject({ ok: false, error: { code: "INVALID_ARGUMENT" } });
  });
});
