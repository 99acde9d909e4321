/**
 * Figures of agents' sessions (docs/contracts/freshell.md): how long a program's line takes to a frame of `/ws`, and a wait
 * for it to its response, beside a bare reader of a pipe of the same program in the same run. With AGENT_KIT (the kit's folder)
 * and TUI_INST (the programs' folder), under the kit's `bin/offline`, the real programs as well.
 */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { SessionEntry } from "../../protocol/api/freshell/sessionEvents.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { CAPABILITIES, FreshellClient } from "../support/daemon/freshellFixture.ts";
import { AgentScene, FAKE_CLAUDE } from "../support/freshell/agentScene.ts";
import { AUTH_TOKEN, freshellScene } from "../support/freshell/freshellScene.ts";

const LINES = 400;
const EVERY_MS = 5;
const ROUNDS = 150;
const COMMANDS = 20;

const unixMs = (): number => performance.timeOrigin + performance.now();
/** When the program says it wrote the line. */
const stampIn = (line: string): number | undefined => {
  const [, stamp] = /tick \d+ ([\d.]+)/.exec(line) ?? [];
  return stamp === undefined ? undefined : Number(stamp);
};

/** The program on a pipe, and nothing between. */
class BareReader implements Disposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly lines: Interface;

  constructor() {
    this.#child = spawn(FAKE_CLAUDE, [], { stdio: ["pipe", "pipe", "ignore"] });
    this.lines = createInterface({ input: this.#child.stdout });
  }

  say(text: string): void {
    const content = [{ type: "text", text }];
    this.#child.stdin.write(`${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`);
  }

  async until(found: (line: string) => boolean): Promise<void> {
    await new Promise<void>((resolve) => {
      const onLine = (line: string): void => {
        if (!found(line)) return;
        this.lines.off("line", onLine);
        resolve();
      };
      this.lines.on("line", onLine);
    });
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL");
  }
}

let scene: AgentScene;
let client: FreshellClient;
let sessionId: string;
beforeAll(async () => {
  scene = await AgentScene.start();
  client = await scene.freshell.connect();
  sessionId = await scene.sdk(client);
});
afterAll(() => scene[Symbol.asyncDispose]());
const say = (text: string): void => client.send({ type: "sdk.send", sessionId, text });

test("a program's line to its frame: p50 at most 3 ms more than a bare reader takes", async () => {
  using bare = new BareReader();
  const bareMs: number[] = [];
  bare.lines.on("line", (line) => {
    const stamp = stampIn(line);
    if (stamp !== undefined) bareMs.push(unixMs() - stamp);
  });
  bare.say(`ticks ${LINES} ${EVERY_MS}`);
  await bare.until((line) => line.includes('"result"'));

  const frameMs: number[] = [];
  client.socket.on("message", (data: Buffer) => {
    const stamp = stampIn(data.toString());
    if (stamp !== undefined) frameMs.push(unixMs() - stamp);
  });
  say(`ticks ${LINES} ${EVERY_MS}`);
  await client.next("sdk.result");
  expect([bareMs.length, frameMs.length]).toEqual([LINES, LINES]);
  const overMs = spread(frameMs).p50Ms - spread(bareMs).p50Ms;
  report("freshellSessions", { what: "line to frame", bare: spread(bareMs), frame: spread(frameMs), overMs });
  expect(overMs).toBeLessThanOrEqual(3);
});

test("a wait over /ws for what is said: its response", async () => {
  using bare = new BareReader();
  const [bareMs, waitMs]: [number[], number[]] = [[], []];
  bare.say("echo warm");
  await bare.until((line) => line.includes('"result"'));
  const target = { sessionRef: { provider: "sdk", sessionId } };
  // One after the other, so that both have the same weather.
  for (let round = 0; round < ROUNDS; round += 1) {
    const mark = `mark-${round};`;
    const seen = bare.until((line) => line.includes(mark));
    const bareAt = performance.now();
    bare.say(`echo ${mark}`);
    await seen;
    bareMs.push(performance.now() - bareAt);

    client.send({ type: "wait.start", requestId: mark, target, pattern: mark });
    const waitAt = performance.now();
    say(`echo ${mark}`);
    await client.next("wait.result", (frame) => frame["requestId"] === mark);
    waitMs.push(performance.now() - waitAt);
  }
  const overMs = Math.round((spread(waitMs).p50Ms - spread(bareMs).p50Ms) * 100) / 100;
  report("freshellSessions", { what: "said to waited for", bare: spread(bareMs), wait: spread(waitMs), overMs });
  expect(overMs).toBeLessThanOrEqual(3);
});

/** A process that reads the pipe, and tells of the line that it waits for, as `session-wait` does. */
const PIPE_READER = `let all = ""; process.stdin.on("data", (some) => {
  all += some; const found = /tick \\d+ [\\d.]+/.exec(all); if (found) { console.log(found[0]); process.exit(); } });`;

/** When a process says something, and what. */
async function told(output: Readable): Promise<{ readonly atMs: number; readonly text: string }> {
  const [data] = (await once(output, "data")) as [Buffer];
  return { atMs: unixMs(), text: data.toString() };
}

test("session-wait, a line written to the process told: at most 2.5 times a process that reads the pipe", async () => {
  await using built = await freshellScene({ CLAUDE_CMD: FAKE_CLAUDE });
  const { sessionId: id } = await built.data<SessionEntry>("session-create", "--provider", "sdk");
  const target = `session:sdk:${id}`;
  const headers = { "x-auth-token": AUTH_TOKEN, "content-type": "application/json" };
  // It hears when the line was written.
  const listener = await FreshellClient.open(built.url);
  listener.send({ type: "hello", token: AUTH_TOKEN, capabilities: CAPABILITIES });
  listener.send({ type: "sdk.attach", sessionId: id });
  const [bareMs, waitMs]: [number[], number[]] = [[], []];
  for (let round = 0; round < COMMANDS; round += 1) {
    const pipe = ["-c", '"$0" | "$1" -e "$2"', FAKE_CLAUDE, process.execPath, PIPE_READER];
    const reader = spawn("/bin/sh", pipe, { stdio: ["pipe", "pipe", "ignore"] });
    const content = [{ type: "text", text: "ticks 1 500" }];
    reader.stdin.end(`${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`);
    const seen = await told(reader.stdout);
    bareMs.push(seen.atMs - (stampIn(seen.text) ?? Number.NaN));

    const { child, finished } = built.start("session-wait", "--target", target, "-p", "tick 0", "-T", "60");
    const waited = told(child.stdout!);
    await vi.waitFor(
      async () =>
        expect(await (await fetch(`${built.url}/api/metrics`, { headers })).text()).toMatch(/^wait_active 1$/m),
      { timeout: 30_000, interval: 20 },
    );
    const body = JSON.stringify({ text: "ticks 1 100" });
    await fetch(`${built.url}/api/agent-sessions/sdk/${id}/send`, { method: "POST", headers, body });
    const written = stampIn(JSON.stringify(await listener.next("sdk.assistant")));
    waitMs.push((await waited).atMs - (written ?? Number.NaN));
    await finished;
  }
  const ratio = Math.round((spread(waitMs).p50Ms / spread(bareMs).p50Ms) * 100) / 100;
  report("freshellSessions", { what: "session-wait", bare: spread(bareMs), wait: spread(waitMs), ratio });
  listener.socket.terminate();
  expect(ratio).toBeLessThanOrEqual(2.5);
});

test("32 sessions that talk at once: each line arrives", async () => {
  const made = await Promise.all(
    Array.from({ length: 31 }, () => scene.freshell.call("POST", "/api/agent-sessions", { provider: "sdk" })),
  );
  const ids = made.map(({ json }) => (json as unknown as SessionEntry).sessionId);
  const startMs = performance.now();
  await Promise.all(
    ids.map(async (id) => {
      const path = `/api/agent-sessions/sdk/${id}/send`;
      await scene.freshell.call("POST", path, { text: "messages 500\necho all-of-it" });
      const wait = { target: { sessionRef: { provider: "sdk", sessionId: id } }, pattern: "all-of-it", from: "tail:9" };
      const { status } = await scene.freshell.call("POST", "/api/waits", { ...wait, timeoutSec: 120 });
      expect(status).toBe(200);
    }),
  );
  const elapsedMs = Math.round(performance.now() - startMs);
  const entries = await Promise.all(ids.map((id) => scene.entry(id)));
  const expected = entries[0]!.bufferRef.outputSeq;
  expect(entries.every(({ bufferRef }) => bufferRef.outputSeq === expected)).toBe(true);
  report("freshellSessions", { what: "31 sessions of 500 lines", elapsedMs, bytesEach: expected });
});
