/** Agent sessions: create, list, send to, wait for, end. The server runs them; no device is needed. */
import { resolve } from "node:path";
import type { FreshellWaitResponse, TerminalInputResponse } from "../../../protocol/api/freshell/freshellHttp.ts";
import { SESSION_PROVIDERS } from "../../../protocol/api/freshell/selectors.ts";
import type { SessionEntry, SessionKillResponse } from "../../../protocol/api/freshell/sessionEvents.ts";
import {
  CODING_PROVIDERS,
  EFFORTS,
  PERMISSION_MODES,
  SANDBOXES,
  SESSION_KINDS,
} from "../../../protocol/api/freshell/sessionNames.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { CommandCall, CommandSpec } from "../../bin/cli/commandTypes.ts";
import { printable, table } from "../../bin/cli/textTable.ts";
import { sessionPath, targetSession } from "./commandTargets.ts";
import { text, word } from "./deviceOptions.ts";
import { freshellCommand } from "./freshellCommand.ts";
import { predicatesOf, shownWait, WAIT_OPTIONS, waitFor } from "./waitForCommand.ts";

const PATH = "/api/agent-sessions";
const TARGET = text("target", "SESSION", "session:PROVIDER:ID");

/** In the form of a target. */
const nameOf = ({ provider, sessionId }: SessionEntry): string => `session:${provider}:${sessionId}`;

/** Options of one kind of session only. */
const OF_SDK = ["effort"] as const;
const OF_CODING = ["coding-provider", "prompt", "max-turns", "sandbox"] as const;

const createCommand = freshellCommand<SessionEntry>({
  name: "session-create",
  summary: "start a session of an agent",
  details: [
    "sdk is Claude Code, which stays and is talked to. codingcli is claude or codex with one prompt, to its end.",
    "What it asks permission for stays open until somebody answers who is attached, in a browser for instance.",
  ],
  positionals: [],
  options: [
    text("provider", "PROVIDER", "the kind of session", { choices: SESSION_KINDS }),
    text("coding-provider", "NAME", "the program of a codingcli session", { choices: CODING_PROVIDERS }),
    text("prompt", "TEXT", "what a codingcli session is told", { dashed: true }),
    text("cwd", "DIR", "the directory to run it in", { complete: "directory", default: "home" }),
    text("resume-session-id", "ID", "the program's own session to go on with"),
    text("model", "MODEL", "the model"),
    { name: "max-turns", type: "number", value: "N", description: "end after so many turns" },
    text("permission-mode", "MODE", "what it may do unasked", { complete: PERMISSION_MODES }),
    text("effort", "EFFORT", "how hard it thinks", { choices: EFFORTS }),
    text("sandbox", "SANDBOX", "what codex can reach", { choices: SANDBOXES }),
  ],
  examples: [
    { line: "freshell session-create --provider sdk --cwd .", does: "prints session:sdk:ID" },
    {
      line: "freshell session-create --provider codingcli --coding-provider codex --prompt 'fix the tests'",
      does: "works on it, and ends",
    },
  ],
  perform: (call, session) => session().call({ method: "POST", path: PATH, body: askedOf(call) }),
  show: (entry) => `${nameOf(entry)}\n`,
});

/** @throws AppError INVALID_ARGUMENT */
function askedOf({ options, io }: CommandCall): object {
  const provider = options.text("provider");
  const isGiven = (name: string): boolean => options.text(name) !== undefined || options.number(name) !== undefined;
  if (provider === undefined) throw invalid(`session-create needs --provider ${SESSION_KINDS.join(" or ")}`);
  const wrong = (provider === "sdk" ? OF_CODING : OF_SDK).find(isGiven);
  if (wrong !== undefined) throw invalid(`--${wrong} does not go with --provider ${provider}`);
  const missing = provider === "sdk" ? undefined : ["coding-provider", "prompt"].find((name) => !isGiven(name));
  if (missing !== undefined) throw invalid(`session-create --provider codingcli needs --${missing}`);
  const cwd = options.text("cwd");
  const asked = {
    provider,
    codingProvider: options.text("coding-provider"),
    prompt: options.text("prompt"),
    cwd: cwd === undefined || cwd === "" ? cwd : resolve(io.cwd, cwd),
    resumeSessionId: options.text("resume-session-id"),
    model: options.text("model"),
    maxTurns: options.number("max-turns"),
    permissionMode: options.text("permission-mode"),
    effort: options.text("effort"),
    sandbox: options.text("sandbox"),
  };
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}

const listCommand = freshellCommand<readonly SessionEntry[]>({
  name: "session-list",
  summary: "list the sessions of agents, also those that ended within half an hour",
  positionals: [],
  options: [text("provider", "PROVIDER", "of one kind, or of one program", { choices: SESSION_PROVIDERS })],
  examples: [{ line: "freshell session-list --provider codex --json", does: "for a program" }],
  perform: ({ options }, session) => {
    const provider = options.text("provider");
    return session().call({ method: "GET", path: provider === undefined ? PATH : `${PATH}?provider=${provider}` });
  },
  show: (sessions) => table(["SESSION", "PROGRAM", "STATUS", "ASKS", "MODEL", "DIRECTORY"], sessions.map(row)),
});

const row = (entry: SessionEntry): readonly string[] => [
  nameOf(entry),
  entry.codingProvider,
  entry.exitCode === undefined ? entry.status : `${entry.status} ${entry.exitCode}`,
  entry.openPermissions === 0 ? "" : String(entry.openPermissions),
  printable(entry.model ?? ""),
  printable(entry.cwd),
];

const sendCommand = freshellCommand<TerminalInputResponse>({
  name: "session-send",
  summary: "tell a session something",
  positionals: [{ ...word("TEXT", "what; words are joined with a space"), many: true }],
  options: [TARGET],
  examples: [{ line: "freshell session-send --target session:sdk:ID 'now the tests'", does: "a turn begins" }],
  perform: (call, session) => {
    const path = `${sessionPath(targetSession(call, "session-send"))}/send`;
    return session().call({ method: "POST", path, body: { text: call.positionals.join(" ") } });
  },
});

const waitCommand = freshellCommand<FreshellWaitResponse>({
  name: "session-wait",
  summary: "wait until a session says something, stands still, or ends",
  details: ["Its text is what the agent says, a line `$ NAME` for each tool that it calls, and what tools return."],
  positionals: [],
  options: [TARGET, ...WAIT_OPTIONS],
  examples: [{ line: "freshell session-wait --target session:sdk:ID -p 'All tests pass' -T 600", does: "ten minutes" }],
  perform: (call, session) => {
    const predicates = predicatesOf("session-wait", call);
    return waitFor(call, session, { sessionRef: targetSession(call, "session-wait") }, predicates);
  },
  show: shownWait,
});

const killCommand = freshellCommand<SessionKillResponse>({
  name: "session-kill",
  summary: "end a session's program, and what it has started",
  positionals: [],
  options: [TARGET],
  examples: [{ line: "freshell session-kill --target session:sdk:ID", does: "what it said can still be read" }],
  perform: (call, session) =>
    session().call({ method: "DELETE", path: sessionPath(targetSession(call, "session-kill")) }),
});

const invalid = (message: string): AppError => new AppError("INVALID_ARGUMENT", message);

/** In the order in which help lists them. */
export const SESSION_COMMANDS: readonly CommandSpec[] = [
  createCommand,
  listCommand,
  sendCommand,
  waitCommand,
  killCommand,
];
