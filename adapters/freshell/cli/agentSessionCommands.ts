/** Agent sessions: create, list, send to, wait for, end. The server runs them; no device is needed. */
import type {
  FreshellOk,
  FreshellWaitResponse,
  TerminalInputResponse,
} from "../../../protocol/api/freshell/freshellHttp.ts";
import { SESSION_PROVIDERS } from "../../../protocol/api/freshell/selectors.ts";
import type {
  PermissionRequest,
  SessionEntry,
  SessionKillResponse,
} from "../../../protocol/api/freshell/sessionEvents.ts";
import {
  CODING_PROVIDERS,
  EFFORTS,
  PERMISSION_MODES,
  SANDBOXES,
  SESSION_KINDS,
} from "../../../protocol/api/freshell/sessionNames.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { printable, table } from "../../cli/textTable.ts";
import { absolutePath, number, text, word } from "./commandOptions.ts";
import { sessionPath, targetSession } from "./commandTargets.ts";
import { freshellCommand } from "./freshellCommand.ts";
import { predicatesOf, shownWait, WAIT_OPTIONS, waitFor } from "./waitForCommand.ts";

const PATH = "/api/agent-sessions";
const TARGET = text("target", "SESSION", "session:PROVIDER:ID");

/** In the form of a target. */
const nameOf = ({ provider, sessionId }: SessionEntry): string => `session:${provider}:${sessionId}`;

/** As much of a failure as a line of a list shows; `--json` has all of it. */
const SHOWN_CHARS = 200;

/** Options of one kind of session only. */
const OF_SDK = ["effort"] as const;
const OF_CODING = ["coding-provider", "prompt", "max-turns", "sandbox"] as const;

const createCommand = freshellCommand<SessionEntry>({
  name: "session-create",
  summary: "start an agent session",
  details: [
    "sdk runs an agent that stays and takes further prompts. codingcli runs one with one prompt, to its end.",
    "A permission request stays open until somebody answers it: `freshell session-answer`, or an attached client, such as a browser.",
  ],
  options: [
    text("provider", "PROVIDER", "the kind of session", { choices: SESSION_KINDS }),
    text("coding-provider", "NAME", "the program of a codingcli session", { choices: CODING_PROVIDERS }),
    text("prompt", "TEXT", "the prompt of a codingcli session", { dashed: true }),
    text("cwd", "DIR", "the directory to run it in", { complete: "directory", default: "home" }),
    text("resume-session-id", "ID", "the program's own session to resume"),
    text("model", "MODEL", "the model"),
    number("max-turns", "N", "end after this many turns"),
    text("permission-mode", "MODE", "what it may do without asking", { complete: PERMISSION_MODES }),
    text("effort", "EFFORT", "how much effort it puts into thinking", { choices: EFFORTS }),
    text("sandbox", "SANDBOX", "what it may access", { choices: SANDBOXES }),
  ],
  examples: [
    { line: "freshell session-create --provider sdk --cwd .", does: "prints session:sdk:ID" },
    {
      line: `freshell session-create --provider codingcli --coding-provider ${CODING_PROVIDERS[1]} --prompt 'fix the tests'`,
      does: "works on it, and ends",
    },
  ],
  perform: (call) => call.session.call({ method: "POST", path: PATH, body: bodyOf(call) }),
  show: (entry) => `${nameOf(entry)}\n`,
});

/** @throws AppError INVALID_ARGUMENT */
function bodyOf(call: CommandCall): object {
  const { options } = call;
  const provider = options.text("provider");
  const isGiven = (name: string): boolean => options.text(name) !== undefined || options.number(name) !== undefined;
  if (provider === undefined) throw invalid(`session-create needs --provider ${SESSION_KINDS.join(" or ")}`);
  const wrong = (provider === "sdk" ? OF_CODING : OF_SDK).find(isGiven);
  if (wrong !== undefined) throw invalid(`--${wrong} cannot be used with --provider ${provider}`);
  const missing = provider === "sdk" ? undefined : ["coding-provider", "prompt"].find((name) => !isGiven(name));
  if (missing !== undefined) throw invalid(`session-create --provider codingcli needs --${missing}`);
  return {
    provider,
    codingProvider: options.text("coding-provider"),
    prompt: options.text("prompt"),
    cwd: absolutePath(call, options.text("cwd")),
    resumeSessionId: options.text("resume-session-id"),
    model: options.text("model"),
    maxTurns: options.number("max-turns"),
    permissionMode: options.text("permission-mode"),
    effort: options.text("effort"),
    sandbox: options.text("sandbox"),
  };
}

const listCommand = freshellCommand<readonly SessionEntry[]>({
  name: "session-list",
  summary: "list agent sessions, also those that ended in the last half hour",
  options: [text("provider", "PROVIDER", "only sessions of this kind or program", { choices: SESSION_PROVIDERS })],
  examples: [{ line: `freshell session-list --provider ${CODING_PROVIDERS[1]} --json`, does: "for a program" }],
  perform: ({ options, session }) => {
    const provider = options.text("provider");
    return session.call({ method: "GET", path: provider === undefined ? PATH : `${PATH}?provider=${provider}` });
  },
  show: (sessions) =>
    table(["SESSION", "PROGRAM", "STATUS", "ASKS", "MODEL", "DIRECTORY", "FAILURE"], sessions.map(row)),
});

const row = (entry: SessionEntry): readonly string[] => [
  nameOf(entry),
  entry.codingProvider,
  entry.exitCode === undefined ? entry.status : `${entry.status} ${entry.exitCode}`,
  entry.openPermissions === 0 ? "" : String(entry.openPermissions),
  printable(entry.model ?? ""),
  printable(entry.cwd),
  printable(entry.failure ?? "").slice(0, SHOWN_CHARS),
];

const sendCommand = freshellCommand<TerminalInputResponse>({
  name: "session-send",
  summary: "send text to a session",
  positionals: [{ ...word("TEXT", "the text; words are joined with a space"), many: true }],
  options: [TARGET],
  examples: [{ line: "freshell session-send --target session:sdk:ID 'now the tests'", does: "begins a turn" }],
  perform: (call) => {
    const path = `${sessionPath(targetSession(call))}/send`;
    return call.session.call({ method: "POST", path, body: { text: call.positionals.join(" ") } });
  },
});

const answerCommand = freshellCommand<readonly PermissionRequest[] | FreshellOk>({
  name: "session-answer",
  summary: "list what a session asks permission for, or answer it",
  details: [
    "Without REQUEST it lists the open requests: their id, the tool, and what the tool would be given.",
    "An answer names its request, so that it cannot reach one that you have not seen.",
  ],
  positionals: [
    { name: "REQUEST", description: "the id of an open request", optional: true },
    { name: "ANSWER", description: "what the program may do", optional: true, choices: ["allow", "deny"] },
  ],
  options: [TARGET, text("message", "TEXT", "with deny: why, for the program", { dashed: true })],
  examples: [
    { line: "freshell session-answer --target session:sdk:ID", does: "what it asks for" },
    { line: "freshell session-answer --target session:sdk:ID REQUEST allow", does: "the tool runs" },
  ],
  perform: (call) => {
    const path = sessionPath(targetSession(call));
    const [[requestId, behavior], message] = [call.positionals, call.options.text("message")];
    if (message !== undefined && behavior !== "deny") throw invalid("--message goes with deny");
    if (requestId === undefined) return call.session.call({ method: "GET", path: `${path}/permissions` });
    if (behavior === undefined) throw invalid("session-answer REQUEST needs allow or deny");
    return call.session.call({ method: "POST", path: `${path}/answer`, body: { requestId, behavior, message } });
  },
  show: (open) => ("ok" in open ? "" : table(["REQUEST", "TOOL", "INPUT"], open.map(askedFor))),
});

const askedFor = ({ requestId, tool }: PermissionRequest): readonly string[] => [
  requestId,
  printable(tool.name),
  printable(JSON.stringify(tool.input)),
];

const waitCommand = freshellCommand<FreshellWaitResponse>({
  name: "session-wait",
  summary: "wait until a session shows some text, is quiet, or ends",
  details: ["Its text is what the agent says, a line `$ NAME` for each tool call, and what tools return."],
  options: [TARGET, ...WAIT_OPTIONS],
  examples: [{ line: "freshell session-wait --target session:sdk:ID -p 'All tests pass' -T 600", does: "ten minutes" }],
  perform: (call) => {
    const predicates = predicatesOf(call);
    return waitFor(call, { sessionRef: targetSession(call) }, predicates);
  },
  show: shownWait,
});

const killCommand = freshellCommand<SessionKillResponse>({
  name: "session-kill",
  summary: "end a session's program and everything it has started",
  options: [TARGET],
  examples: [{ line: "freshell session-kill --target session:sdk:ID", does: "its text can still be read" }],
  perform: (call) => call.session.call({ method: "DELETE", path: sessionPath(targetSession(call)) }),
});

const invalid = (message: string): AppError => new AppError("INVALID_ARGUMENT", message);

/** In the order in which help lists them. */
export const SESSION_COMMANDS: readonly CommandSpec[] = [
  createCommand,
  listCommand,
  sendCommand,
  answerCommand,
  waitCommand,
  killCommand,
];
