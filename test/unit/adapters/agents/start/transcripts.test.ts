/** Conversations as the programs wrote them (Claude Code 2.1.330, Codex 0.169, Gemini CLI 0.61, pi 0.74, opencode 1.18). */
import { mkdirSync, symlinkSync, writeFileSync, appendFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { loadTranscripts } from "../../../../../adapters/agents/agentTranscript.ts";
import { Transcripts } from "../../../../../adapters/agents/start/transcripts.ts";
import type { AgentFacts, RunningAgent } from "../../../../../adapters/agents/running/runningAgent.ts";
import { DatabaseSync } from "../../../../../daemon/ops/sql/sqlite.ts";
import { AGENTS } from "../../../../support/agents/agentCatalogue.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

const TRANSCRIPTS = await loadTranscripts(AGENTS);
const ONE = "11111111-2222-4333-8444-000000000001";
const TWO = "11111111-2222-4333-8444-000000000002";
const CWD = "/srv/shop";
/** The process was started at this time: its `start` is no number of ticks, so nothing is found by its birth. */
const T = "2026-11-23T19:30:57.000Z";
const SINCE = Date.parse(T);

let home: string;
beforeEach(() => void (home = ownDirectory()));

interface Scene {
  readonly kind: string;
  readonly facts?: AgentFacts;
  readonly openFiles?: readonly string[];
  readonly start?: string;
  readonly others?: readonly RunningAgent[];
}

function scene({ kind, facts = {}, openFiles = [], start = "some time", others = [] }: Scene) {
  const noted: AgentFacts[] = [];
  const processes = {
    stat: async () => ({ start }),
    statNow: () => undefined,
    environment: async () => ({ HOME: home }),
    cwdNow: () => CWD,
    openFiles: async () => openFiles,
    children: async () => [],
  };
  const agent = {
    id: "one",
    kind: { name: kind },
    process: { pid: 4711, start, executable: undefined },
    server: { processes },
    ...facts,
  } as unknown as RunningAgent;
  const transcripts = new Transcripts({
    transcripts: TRANSCRIPTS,
    agents: { agents: () => [agent, ...others], note: (_, more) => void noted.push(more) },
    nowUnixMs: () => Date.parse("2026-11-23T19:31:00.000Z"),
  });
  return { transcripts, agent, noted };
}

function put(path: string, lines: readonly unknown[]): string {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return file;
}

const claudeLines = (prompt: string, reply: string) => [
  { type: "mode", mode: "normal", sessionId: ONE },
  { type: "user", isSidechain: false, message: { role: "user", content: prompt }, timestamp: T },
  { type: "assistant", isSidechain: true, message: { content: [{ type: "text", text: "a helper's" }] }, timestamp: T },
  {
    type: "assistant",
    isSidechain: false,
    message: {
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text: reply },
      ],
    },
    timestamp: T,
  },
];

test("Claude's conversation is the one that the file of its process names", async () => {
  put(".claude/sessions/4711.json", [{ pid: 4711, sessionId: ONE, procStart: "some time" }]);
  const file = put(`.claude/projects/-srv-shop/${ONE}.jsonl`, claudeLines("fix it", "It is fixed."));
  const { transcripts, agent, noted } = scene({ kind: "claude", facts: { sessionId: TWO } });
  expect(await transcripts.lastWords(agent)).toBe("It is fixed.");
  expect(await transcripts.turn(agent, " fix it\n", SINCE)).toMatchObject({ isTaken: true });
  expect(await transcripts.turn(agent, "fix", SINCE)).toMatchObject({ isTaken: false });
  expect(noted[0]).toEqual({ sessionId: ONE, transcriptPath: file });
});

test("a file that names an earlier process with the same pid does not count", async () => {
  put(".claude/sessions/4711.json", [{ pid: 4711, sessionId: ONE, procStart: "before the boot" }]);
  put(`.claude/projects/-srv-shop/${ONE}.jsonl`, claudeLines("fix it", "It is fixed."));
  const { transcripts, agent } = scene({ kind: "claude" });
  expect(await transcripts.sessionOf(agent)).toBeUndefined();
  expect(await transcripts.turn(agent, "fix it", SINCE)).toBeUndefined();
});

test("words from before do not count, nor a line that is still being written", async () => {
  const file = put(`.claude/projects/-srv-shop/${ONE}.jsonl`, claudeLines("fix it", "It is fixed."));
  appendFileSync(file, JSON.stringify({ ...claudeLines("", "later")[3], timestamp: "2026-11-23T19:40:00.000Z" }));
  const { transcripts, agent } = scene({ kind: "claude", facts: { sessionId: ONE } });
  expect(await transcripts.turn(agent, "fix it", SINCE + 60_000)).toEqual({ isTaken: false, words: undefined });
  expect(await transcripts.lastWords(agent)).toBe("It is fixed.");
  appendFileSync(file, "\n");
  expect(await transcripts.lastWords(agent)).toBe("later");
});

test("a link in the place of a conversation is not followed", async () => {
  const file = put("elsewhere.jsonl", claudeLines("fix it", "It is fixed."));
  mkdirSync(join(home, ".claude/projects/-srv-shop"), { recursive: true });
  symlinkSync(file, join(home, `.claude/projects/-srv-shop/${ONE}.jsonl`));
  const { transcripts, agent } = scene({ kind: "claude", facts: { sessionId: ONE } });
  expect(await transcripts.lastWords(agent)).toBeUndefined();
});

test("of a conversation that has grown large the end is read", async () => {
  const many = Array.from({ length: 3_000 }, (_, at) => ({ type: "blob", at, text: "x".repeat(1_000) }));
  put(`.claude/projects/-srv-shop/${ONE}.jsonl`, [
    ...claudeLines("old", "old"),
    ...many,
    ...claudeLines("new", "new words"),
  ]);
  const { transcripts, agent } = scene({ kind: "claude", facts: { sessionId: ONE } });
  expect(await transcripts.lastWords(agent)).toBe("new words");
  expect(await transcripts.turn(agent, "old", SINCE)).toMatchObject({ isTaken: false });
});

const codexLines = (reply: string) => [
  { timestamp: T, type: "session_meta", payload: { id: ONE } },
  {
    timestamp: T,
    type: "response_item",
    payload: { type: "message", role: "developer", content: [{ type: "input_text", text: "rules" }] },
  },
  {
    timestamp: T,
    type: "response_item",
    payload: { type: "message", role: "user", content: [{ type: "input_text", text: "fix it" }] },
  },
  {
    timestamp: T,
    type: "response_item",
    payload: { type: "message", role: "assistant", content: [{ type: "output_text", text: reply }] },
  },
];
const rollout = (id: string): string => `.codex/sessions/2026/11/23/rollout-2026-11-23T19-30-09-${id}.jsonl`;

test("Codex's conversation is the one that its process has open", async () => {
  const file = put(rollout(ONE), codexLines("It is fixed."));
  const { transcripts, agent } = scene({ kind: "codex", openFiles: ["/usr/lib/x.so", file] });
  expect(await transcripts.sessionOf(agent)).toEqual({ sessionId: ONE, transcriptPath: file });
  expect(await transcripts.lastWords(agent)).toBe("It is fixed.");
  expect(await transcripts.turn(agent, "fix it", SINCE)).toMatchObject({ isTaken: true });
});

test("of two that Codex has open neither is guessed", async () => {
  const files = [put(rollout(ONE), codexLines("one")), put(rollout(TWO), codexLines("two"))];
  const unknown = scene({ kind: "codex", openFiles: files });
  expect(await unknown.transcripts.sessionOf(unknown.agent)).toBeUndefined();
  const told = scene({ kind: "codex", openFiles: files, facts: { sessionId: TWO } });
  expect(await told.transcripts.lastWords(told.agent)).toBe("two");
});

const geminiHead = (sessionId: string) => ({ sessionId, startTime: T, kind: "main" });

test("Gemini's conversation that was resumed is in the newest file of its id", async () => {
  put(".gemini/projects.json", [{ projects: { [CWD]: "shop" } }]);
  const reply = (text: string) => ({ type: "gemini", content: text, timestamp: T });
  put(".gemini/tmp/shop/chats/session-2026-11-23T19-30-11111111.jsonl", [geminiHead(ONE), reply("first")]);
  put(".gemini/tmp/shop/chats/session-2026-11-23T19-32-11111111.jsonl", [
    geminiHead(ONE),
    { type: "user", content: [{ text: "go on" }], timestamp: T },
    reply("second"),
  ]);
  const { transcripts, agent } = scene({ kind: "gemini", facts: { sessionId: ONE } });
  expect(await transcripts.lastWords(agent)).toBe("second");
  expect(await transcripts.turn(agent, "go on", SINCE)).toMatchObject({ isTaken: true });
});

const piLines = (id: string, reply: string) => [
  { type: "session", version: 3, id, timestamp: T, cwd: CWD },
  { type: "message", timestamp: T, message: { role: "user", content: [{ type: "text", text: "fix it" }] } },
  { type: "message", timestamp: T, message: { role: "assistant", content: [{ type: "text", text: reply }] } },
];
const piFile = (id: string): string => `.pi/agent/sessions/--srv-shop--/2026-11-23T19-30-57-000Z_${id}.jsonl`;

test("pi's conversation is the one that it was started with, by its file or by its id", async () => {
  const file = put("anywhere.jsonl", piLines(ONE, "It is fixed."));
  const begun = scene({ kind: "pi", facts: { transcriptPath: file } });
  expect(await begun.transcripts.sessionOf(begun.agent)).toMatchObject({ sessionId: ONE, transcriptPath: file });
  put(piFile(TWO), piLines(TWO, "That is fixed, too."));
  const told = scene({ kind: "pi", facts: { sessionId: TWO } });
  expect(await told.transcripts.lastWords(told.agent)).toBe("That is fixed, too.");
});

test("without an id the only conversation that began after the process is its own, of two neither", async () => {
  // Ticks since boot: a process that has just been started.
  const uptime = Number((await import("node:fs")).readFileSync("/proc/uptime", "utf8").split(" ")[0]);
  const start = String(Math.floor((uptime - 60) * 100));
  put(piFile(ONE), piLines(ONE, "one"));
  const alone = scene({ kind: "pi", start });
  expect(await alone.transcripts.lastWords(alone.agent)).toBe("one");
  put(piFile(TWO), piLines(TWO, "two"));
  expect(await alone.transcripts.sessionOf(alone.agent)).toBeUndefined();
  const other = { id: "two", kind: { name: "pi" }, sessionId: TWO } as unknown as RunningAgent;
  const beside = scene({ kind: "pi", start, others: [other] });
  expect(await beside.transcripts.lastWords(beside.agent)).toBe("one");
});

test("opencode's conversations are read from its database", async () => {
  const file = join(home, ".local/share/opencode/opencode.db");
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  database.exec(`
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, time_created integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);
    INSERT INTO session VALUES ('ses_1', NULL, '${CWD}', ${SINCE});
    INSERT INTO message VALUES ('msg_1', 'ses_1', ${SINCE}, '{"role":"user"}'), ('msg_2', 'ses_1', ${SINCE}, '{"role":"assistant"}');
    INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', '{"type":"text","text":"fix it"}'),
      ('prt_2', 'msg_2', 'ses_1', '{"type":"step-start"}'), ('prt_3', 'msg_2', 'ses_1', '{"type":"text","text":"It is fixed."}');
  `);
  database.close();
  const { transcripts, agent } = scene({ kind: "opencode", facts: { sessionId: "ses_1" } });
  expect(await transcripts.lastWords(agent)).toBe("It is fixed.");
  expect(await transcripts.turn(agent, "fix it", SINCE)).toMatchObject({ isTaken: true });
  const none = scene({ kind: "opencode", facts: { sessionId: "ses_2" } });
  expect(await none.transcripts.lastWords(none.agent)).toBeUndefined();
});
