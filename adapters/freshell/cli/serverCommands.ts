/** Commands that the server serves by itself: terminals, agents' sessions, waits. No device is needed, unless a pane is named. */
import type {
  FreshellHealth,
  FreshellOk,
  FreshellWaitMatch,
  FreshellWaitResponse,
  LanInfo,
  TerminalCaptureResponse,
  TerminalEntry,
} from "../../../protocol/api/freshell/freshellHttp.ts";
import { KEY_NAMES } from "../../../protocol/api/freshell/keyTokens.ts";
import { SESSION_PROVIDERS } from "../../../protocol/api/freshell/selectors.ts";
import type { PermissionRequest, SessionEntry } from "../../../protocol/api/freshell/sessionEvents.ts";
import {
  CODING_PROVIDERS,
  EFFORTS,
  PERMISSION_MODES,
  SANDBOXES,
  SESSION_KINDS,
} from "../../../protocol/api/freshell/sessionNames.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import type { CommandSpec } from "../../cli/commandTypes.ts";
import { printable } from "../../cli/textTable.ts";
import { pathOfPane, sessionPath, targetSession, terminalPath, waitTarget } from "./commandTargets.ts";
import {
  DEVICE_OPTION,
  flag,
  type FreshellCall,
  freshellCommand,
  get,
  listed,
  number,
  type Option,
  post,
  TAB_OPTION,
  text,
  word,
} from "./freshellCommand.ts";
import { rehearseResponse } from "./freshellRequest.ts";
import type { Call } from "./freshellSession.ts";

const TERMINAL_TARGET = text("target", "TARGET", "terminal:ID");
/** For commands that take panes too. The target is in the path. */
const PANE_TARGET: readonly Option[] = [
  text("target", "TARGET", "terminal:ID, pane:ID or pane-index:N", { gives: null }),
  { ...TAB_OPTION, gives: null },
  DEVICE_OPTION,
];
const SESSION_TARGET = text("target", "SESSION", "session:PROVIDER:ID", { gives: null });

/** For every wait. */
const WAIT_OPTIONS: readonly Option[] = [
  text("from", "WHERE", "now, or tail:N for the last N lines as well", { default: "now", complete: ["now", "tail:"] }),
  text("pattern", "PATTERN", "the output shows this", { short: "p", dashed: true }),
  flag("literal", "the pattern is text, as it is without --regex"),
  flag("regex", "the pattern is a regular expression in RE2 syntax"),
  number("stable", "SECONDS", "no output for this long", { gives: "stableSec" }),
  flag("exit", "the program has ended"),
  number("timeout", "SECONDS", "give up after this time", { short: "T", default: "30", gives: "timeoutSec" }),
];

export const TERMINAL_COMMANDS: readonly CommandSpec[] = [
  freshellCommand<readonly TerminalEntry[]>({
    name: "list-terminals",
    summary: "list the server's terminals",
    examples: [["list-terminals --json", "for a program"]],
    asks: () => get("/api/terminals"),
    show: listed<TerminalEntry>([
      // In the form of a target.
      ["TERMINAL", ({ terminalId }) => `terminal:${terminalId}`],
      ["MODE", ({ mode }) => mode],
      ["STATUS", ended],
      ["SIZE", ({ cols, rows }) => `${cols}x${rows}`],
      ["TITLE", ({ title }) => title],
      ["DIRECTORY", ({ cwd }) => cwd],
    ]),
  }),
  // In one job, so that no other sender's input comes between them.
  freshellCommand({
    name: "send-keys",
    summary: "type into a terminal",
    details: [
      `Tokens are typed from left to right with nothing between them. These are keys, in any case: ${KEY_NAMES.join(", ")}; ` +
        "C-x and M-x with a character for x, and C-, M- or S- before a name. Any other token is text.",
      "`--` ends the options: a token after it may begin with a dash.",
    ],
    positionals: [word("KEYS", "names of keys, and text", { many: true, verbatim: true })],
    options: [...PANE_TARGET, flag("literal", "every token is text; they are joined with one space", "l")],
    examples: [
      ["send-keys --target terminal:ID 'make test' Enter", "run a command in its shell"],
      ["send-keys --target terminal:ID C-c", "interrupt it"],
      ["send-keys --target terminal:ID -l -- -l Enter", "type the text `-l Enter`"],
    ],
    asks: async (call) => {
      // Node replaces invalid UTF-8 in arguments by U+FFFD: other bytes than given would be typed.
      const at = call.positionals.findIndex((token) => token.includes("\u{fffd}"));
      if (at !== -1)
        throw invalidArgument(
          `token ${at + 1} is not valid UTF-8, or contains U+FFFD, which looks the same here: give UTF-8 text`,
        );
      return post(`${await pathOfPane(call)}/input`, { keys: call.positionals, literal: call.options.flag("literal") });
    },
  }),
  // As tmux's own prints them.
  freshellCommand<TerminalCaptureResponse>({
    name: "capture-pane",
    summary: "print what a terminal shows",
    details: ["A capture that cannot be exactly what was asked for fails with UNSUPPORTED_CAPTURE_MODE."],
    options: [
      ...PANE_TARGET,
      text(
        "start",
        "LINE",
        "the first line: 0 is the top of the screen, -5 five lines of history above it, - all history",
        { short: "S", dashed: true, default: "0", gives: "S" },
      ),
      { ...flag("join", "join lines that the screen has wrapped", "J"), gives: "J" },
      { ...flag("escapes", "keep colours and attributes as escape sequences", "e"), gives: "e" },
    ],
    examples: [
      ["capture-pane --target terminal:ID", "its screen"],
      ["capture-pane --target terminal:ID -S - -J", "all of its history, whole lines"],
    ],
    asks: async (call) => {
      const start = call.options.text("start");
      // In the server's form.
      if (start !== undefined && !/^(?:-|-?\d{1,9})$/.test(start))
        throw invalidArgument(`-S takes a line number or -, not ${JSON.stringify(start.slice(0, 80))}`);
      const query = Object.entries(call.members).map(
        ([name, value]) => `${name}=${value === true ? 1 : String(value)}`,
      );
      return get(`${await pathOfPane(call)}/capture${query.length === 0 ? "" : `?${query.join("&")}`}`);
    },
    show: ({ lines }) => lines.map((line) => `${line}\n`).join(""),
  }),
  freshellCommand<FreshellWaitResponse>({
    name: "wait-for",
    summary: "wait until a terminal or session shows some text, is quiet, or its program ends",
    details: [
      "All conditions must hold at the same time. --stable is checked once all others hold.",
      "--prompt is a guess: a line that ends in $, #, > or % looks like a prompt, so do progress bars and quoted mail. Add " +
        "--stable or a pattern before you rely on it.",
    ],
    options: [
      text("target", "TARGET", "terminal:ID, pane:ID, pane-index:N or session:PROVIDER:ID", { gives: null }),
      { ...TAB_OPTION, gives: null },
      DEVICE_OPTION,
      ...WAIT_OPTIONS,
      flag("prompt", "the last line looks like a shell's prompt"),
    ],
    examples: [
      ["wait-for --target terminal:ID -p 'tests passed' -T 600", "ten minutes at most"],
      ["wait-for --target terminal:ID --regex -p '(PASS|FAIL)$' --from tail:50", "searches the last 50 lines too"],
      ["wait-for --target terminal:ID --exit --stable 1", "ended, and no output for a second"],
    ],
    perform: async (call) => {
      requirePredicate(call);
      return waitFor(call, await waitTarget(call));
    },
    show: shownWait,
  }),
  freshellCommand({
    name: "respawn-terminal",
    summary: "end the program of a terminal and start it again",
    details: ["The terminal keeps its id, its directory and its size; clients stay attached."],
    options: [TERMINAL_TARGET],
    examples: [["respawn-terminal --target terminal:ID", "a new shell under the same id"]],
    asks: (call) => post(`${terminalPath(call)}/respawn`, {}),
  }),
  freshellCommand({
    name: "kill-terminal",
    summary: "end the program of a terminal and remove the terminal",
    options: [TERMINAL_TARGET],
    examples: [["kill-terminal --target terminal:ID", "its history is lost too"]],
    asks: (call) => post(`${terminalPath(call)}/kill`, {}),
  }),
];

export const ABOUT_COMMANDS: readonly CommandSpec[] = [
  freshellCommand<FreshellHealth>({
    name: "health",
    summary: "tell whether the server and its tmux are running",
    perform: ({ session }) => session.send(get("/api/health")),
    show: ({ version, ready }) =>
      `ok, version ${printable(version)}, ${ready ? "ready" : "not ready: tmux is not running"}\n`,
  }),
  freshellCommand<LanInfo>({
    name: "lan-info",
    summary: "list the addresses of the server's machine",
    asks: () => get("/api/lan-info"),
    show: ({ ips }) => ips.map((ip) => `${printable(ip)}\n`).join(""),
  }),
];

const SESSIONS = "/api/agent-sessions";
/** Options of one kind of session only. */
const [OF_SDK, OF_CODING] = [["effort"], ["coding-provider", "prompt", "max-turns", "sandbox"]];
/** As much of a failure as a line of a list shows; `--json` has all of it. */
const SHOWN_CHARS = 200;

export const SESSION_COMMANDS: readonly CommandSpec[] = [
  freshellCommand<SessionEntry>({
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
      ["session-create --provider sdk --cwd .", "prints session:sdk:ID"],
      [
        `session-create --provider codingcli --coding-provider ${CODING_PROVIDERS[1]} --prompt 'fix the tests'`,
        "works on it, and ends",
      ],
    ],
    asks: ({ options: { all }, members }) => {
      const provider = all["provider"];
      if (provider === undefined)
        throw invalidArgument(`session-create needs --provider ${SESSION_KINDS.join(" or ")}`);
      const wrong = (provider === "sdk" ? OF_CODING : OF_SDK).find((name) => all[name] !== undefined);
      if (wrong !== undefined) throw invalidArgument(`--${wrong} cannot be used with --provider ${provider as string}`);
      const missing = ["coding-provider", "prompt"].find((name) => provider !== "sdk" && all[name] === undefined);
      if (missing !== undefined) throw invalidArgument(`session-create --provider codingcli needs --${missing}`);
      return post(SESSIONS, members);
    },
    show: (entry) => `${nameOf(entry)}\n`,
  }),
  freshellCommand<readonly SessionEntry[]>({
    name: "session-list",
    summary: "list agent sessions, also those that ended in the last half hour",
    options: [text("provider", "PROVIDER", "only sessions of this kind or program", { choices: SESSION_PROVIDERS })],
    examples: [[`session-list --provider ${CODING_PROVIDERS[1]} --json`, "for a program"]],
    asks: ({ members: { provider } }) =>
      get(provider === undefined ? SESSIONS : `${SESSIONS}?provider=${provider as string}`),
    show: listed<SessionEntry>([
      ["SESSION", nameOf],
      ["PROGRAM", ({ codingProvider }) => codingProvider],
      ["STATUS", ended],
      ["ASKS", ({ openPermissions }) => (openPermissions === 0 ? "" : String(openPermissions))],
      ["MODEL", ({ model }) => model ?? ""],
      ["DIRECTORY", ({ cwd }) => cwd],
      ["FAILURE", ({ failure }) => printable(failure ?? "").slice(0, SHOWN_CHARS)],
    ]),
  }),
  freshellCommand({
    name: "session-send",
    summary: "send text to a session",
    positionals: [word("TEXT", "the text; words are joined with a space", { many: true })],
    options: [SESSION_TARGET],
    examples: [["session-send --target session:sdk:ID 'now the tests'", "begins a turn"]],
    asks: (call) => post(`${sessionPath(call)}/send`, { text: call.positionals.join(" ") }),
  }),
  freshellCommand<readonly PermissionRequest[] | FreshellOk>({
    name: "session-answer",
    summary: "list what a session asks permission for, or answer it",
    details: [
      "Without REQUEST it lists the open requests: their id, the tool, and what the tool would be given.",
      "An answer names its request, so that it cannot reach one that you have not seen.",
    ],
    positionals: [
      word("REQUEST", "the id of an open request", { optional: true, gives: "requestId" }),
      word("ANSWER", "what the program may do", { optional: true, choices: ["allow", "deny"], gives: "behavior" }),
    ],
    options: [SESSION_TARGET, text("message", "TEXT", "with deny: why, for the program", { dashed: true })],
    examples: [
      ["session-answer --target session:sdk:ID", "what it asks for"],
      ["session-answer --target session:sdk:ID REQUEST allow", "the tool runs"],
    ],
    asks: (call) => {
      const path = sessionPath(call);
      const { requestId, behavior, message } = call.members;
      if (message !== undefined && behavior !== "deny") throw invalidArgument("--message goes with deny");
      if (requestId === undefined) return get(`${path}/permissions`);
      if (behavior === undefined) throw invalidArgument("session-answer REQUEST needs allow or deny");
      return post(`${path}/answer`, call.members);
    },
    show: (open) => ("ok" in open ? "" : shownRequests(open)),
  }),
  freshellCommand<FreshellWaitResponse>({
    name: "session-wait",
    summary: "wait until a session shows some text, is quiet, or ends",
    details: ["Its text is what the agent says, a line `$ NAME` for each tool call, and what tools return."],
    options: [SESSION_TARGET, ...WAIT_OPTIONS],
    examples: [["session-wait --target session:sdk:ID -p 'All tests pass' -T 600", "ten minutes"]],
    perform: (call) => {
      requirePredicate(call);
      return waitFor(call, { sessionRef: targetSession(call) });
    },
    show: shownWait,
  }),
  freshellCommand({
    name: "session-kill",
    summary: "end a session's program and everything it has started",
    options: [SESSION_TARGET],
    examples: [["session-kill --target session:sdk:ID", "its text can still be read"]],
    asks: (call): Call => ({ method: "DELETE", path: sessionPath(call) }),
  }),
];

/** In the form of a target. */
function nameOf({ provider, sessionId }: SessionEntry): string {
  return `session:${provider}:${sessionId}`;
}

/** A status, with the exit code of what has ended. */
function ended({ status, exitCode }: Pick<SessionEntry | TerminalEntry, "status" | "exitCode">): string {
  return exitCode === undefined ? status : `${status} ${exitCode}`;
}

const shownRequests = listed<PermissionRequest>([
  ["REQUEST", ({ requestId }) => requestId],
  ["TOOL", ({ tool }) => tool.name],
  ["INPUT", ({ tool }) => JSON.stringify(tool.input)],
]);

/** @throws AppError INVALID_ARGUMENT */
function requirePredicate({ members, name }: FreshellCall): void {
  const { pattern, literal, regex, stableSec, exit, prompt } = members;
  if (literal === true && regex === true) throw invalidArgument("give --literal or --regex, not both");
  if (pattern === undefined && (literal ?? regex) === true)
    throw invalidArgument(`--${regex === true ? "regex" : "literal"} needs a pattern: give -p PATTERN`);
  if ((pattern ?? stableSec ?? exit ?? prompt) !== undefined) return;
  throw invalidArgument(
    `${name} needs something to wait for: -p PATTERN, --stable SECONDS, or another condition: see \`freshell help ${name}\``,
  );
}

/** The server waits, and responds once; there is no polling. @throws AppError */
async function waitFor({ io, session, members, options }: FreshellCall, target: object): Promise<FreshellWaitResponse> {
  // Warms up the code that will report the response.
  const meanwhile = (): void => {
    rehearseResponse(session.url);
    shownMatch({ predicate: "pattern", text: "" }, undefined);
    void io.out("");
  };
  try {
    return await session.call({ ...post("/api/waits", { target, ...members }), changes: false, meanwhile });
  } catch (error) {
    // Users of grep write a regular expression, and wait in vain for its literal text.
    const isMeant = !options.flag("regex") && REGEX_LIKE.test(options.text("pattern") ?? "");
    if (!(error instanceof AppError) || error.code !== "TIMEOUT" || !isMeant) throw error;
    const { code, details, message } = error;
    const hint = "the pattern was taken as text: add --regex if it is a regular expression";
    throw new AppError(code, `${message}; ${hint}`, { details, cause: error });
  }
}

const REGEX_LIKE = /^\^|\$$|\.[*+]|\\[dsw]|\w\|\w/;

function shownWait({ matched, exitCode, failure }: FreshellWaitResponse): string {
  const lines = matched.map((match) => shownMatch(match, exitCode));
  return [...lines, failure === undefined ? "" : `failure: ${printable(failure)}\n`].join("");
}

/** The text is foreign. */
function shownMatch({ predicate, text: shown }: FreshellWaitMatch, exitCode: number | undefined): string {
  const what = predicate === "exit" && exitCode !== undefined ? String(exitCode) : shown;
  return what === undefined ? `${predicate}\n` : `${predicate}: ${printable(what)}\n`;
}
