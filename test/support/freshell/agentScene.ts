/** Freshell with programs of ours in the agents' places, and what they wrote down of themselves. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { NormalizedEvent, SessionEntry } from "../../../protocol/api/freshell/sessionEvents.ts";
import { type FreshellClient, FreshellFixture, type FreshellFixtureOptions } from "../daemon/freshellFixture.ts";
import { stubServer } from "../daemon/nativeServer.ts";

const AGENTS = resolve(import.meta.dirname, "../../fixtures/agents");
export const FAKE_CLAUDE = join(AGENTS, "fakeClaude.mjs");
export const FAKE_CODEX = join(AGENTS, "fakeCodex.mjs");

export const QUIET_AGENT = join(AGENTS, "quietAgent.sh");

interface Started {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export class AgentScene implements AsyncDisposable {
  readonly freshell: FreshellFixture;
  readonly #log: string;

  private constructor(freshell: FreshellFixture, log: string) {
    this.freshell = freshell;
    this.#log = log;
  }

  static async start(
    env: Readonly<Record<string, string>> = {},
    options: FreshellFixtureOptions = {},
  ): Promise<AgentScene> {
    const log = mkdtempSync(join(tmpdir(), "agents-"));
    const programs = { CLAUDE_CMD: FAKE_CLAUDE, CODEX_CMD: FAKE_CODEX, FAKE_AGENT_LOG: log };
    const freshell = await FreshellFixture.start(stubServer(), { ...options, env: { ...programs, ...env } });
    return new AgentScene(freshell, log);
  }

  /** What the program was given. */
  started(pid: number): Started {
    return JSON.parse(readFileSync(join(this.#log, `${pid}.json`), "utf8")) as Started;
  }

  /** Of those that have said what they were given. */
  pids(): readonly number[] {
    return readdirSync(this.#log).map((name) => Number.parseInt(name, 10));
  }

  startedCount(): number {
    return this.pids().length;
  }

  /** An `sdk` session of this connection; its id. */
  async sdk(client: FreshellClient, options: object = {}): Promise<string> {
    const requestId = `create-${Math.random()}`;
    client.send({ type: "sdk.create", requestId, ...options });
    const { sessionId } = await client.next("sdk.created", (frame) => frame["requestId"] === requestId);
    return sessionId as string;
  }

  /** A `codingcli` session of this connection, to its end; its events. */
  async coding(client: FreshellClient, options: object): Promise<readonly NormalizedEvent[]> {
    const requestId = `create-${Math.random()}`;
    client.send({ type: "codingcli.create", requestId, provider: "claude", ...options });
    const { sessionId } = await client.next("codingcli.created", (frame) => frame["requestId"] === requestId);
    await client.next("codingcli.exit", (frame) => frame["sessionId"] === sessionId);
    return client.frames
      .filter((frame) => frame.type === "codingcli.event" && frame["sessionId"] === sessionId)
      .map((frame) => frame["event"] as NormalizedEvent);
  }

  async entry(sessionId: string, provider = "sdk"): Promise<SessionEntry> {
    const { json } = await this.freshell.call("GET", `/api/agent-sessions/${provider}/${sessionId}`);
    return json as unknown as SessionEntry;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.freshell[Symbol.asyncDispose]();
    rmSync(this.#log, { recursive: true, force: true });
  }
}
