/** Terminals: list, type into, read, respawn, kill. */
import type {
  TerminalEntry,
  TerminalKillResponse,
  TerminalInputResponse,
  TerminalCaptureResponse,
} from "../../../protocol/api/freshell/freshellHttp.ts";
import { KEY_NAMES } from "../../../protocol/api/freshell/keyTokens.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { table } from "../../cli/textTable.ts";
import { TERMINAL_TARGET, flag, PANE_TARGET, text } from "./commandOptions.ts";
import { targetTerminal, targetOfPane } from "./commandTargets.ts";
import { freshellCommand } from "./freshellCommand.ts";

export const listTerminalsCommand = freshellCommand<readonly TerminalEntry[]>({
  name: "list-terminals",
  summary: "list the server's terminals",
  examples: [{ line: "freshell list-terminals --json", does: "for a program" }],
  perform: ({ session }) => session.call({ method: "GET", path: "/api/terminals" }),
  show: (terminals) => table(["TERMINAL", "MODE", "STATUS", "SIZE", "TITLE", "DIRECTORY"], terminals.map(row)),
});

const row = ({ terminalId, mode, status, exitCode, cols, rows, title, cwd }: TerminalEntry): readonly string[] => [
  // In the form of a target.
  `terminal:${terminalId}`,
  mode,
  exitCode === undefined ? status : `${status} ${exitCode}`,
  `${cols}x${rows}`,
  title,
  cwd,
];

export const respawnTerminalCommand = freshellCommand<TerminalEntry>({
  name: "respawn-terminal",
  summary: "end the program of a terminal and start it again",
  details: ["The terminal keeps its id, its directory and its size; clients stay attached."],
  options: [TERMINAL_TARGET],
  examples: [{ line: "freshell respawn-terminal --target terminal:ID", does: "a new shell under the same id" }],
  perform: (call) =>
    call.session.call({ method: "POST", path: `/api/terminals/${targetTerminal(call)}/respawn`, body: {} }),
});

export const killTerminalCommand = freshellCommand<TerminalKillResponse>({
  name: "kill-terminal",
  summary: "end the program of a terminal and remove the terminal",
  options: [TERMINAL_TARGET],
  examples: [{ line: "freshell kill-terminal --target terminal:ID", does: "its history is lost too" }],
  perform: (call) =>
    call.session.call({ method: "POST", path: `/api/terminals/${targetTerminal(call)}/kill`, body: {} }),
});

/** `send-keys`: tokens as keys and text, in one job, so that no other sender's input comes between them. */
export const sendKeysCommand = freshellCommand<TerminalInputResponse>({
  name: "send-keys",
  summary: "type into a terminal",
  details: [
    `Tokens are typed from left to right with nothing between them. These are keys, in any case: ${KEY_NAMES.join(", ")}; ` +
      "C-x and M-x with a character for x, and C-, M- or S- before a name. Any other token is text.",
    "`--` ends the options: a token after it may begin with a dash.",
  ],
  positionals: [{ name: "KEYS", description: "names of keys, and text", many: true, verbatim: true }],
  options: [...PANE_TARGET, flag("literal", "every token is text; they are joined with one space", "l")],
  examples: [
    { line: "freshell send-keys --target terminal:ID 'make test' Enter", does: "run a command in its shell" },
    { line: "freshell send-keys --target terminal:ID C-c", does: "interrupt it" },
    { line: "freshell send-keys --target terminal:ID -l -- -l Enter", does: "type the text `-l Enter`" },
  ],
  perform: async (call) => {
    refuseLostBytes(call.positionals);
    const terminalId = await targetOfPane(call);
    const body = { keys: call.positionals, literal: call.options.flag("literal") };
    return call.session.call({ method: "POST", path: `/api/terminals/${terminalId}/input`, body });
  },
});

/** Refuses U+FFFD, by which Node replaces invalid UTF-8 in arguments: other bytes than given would be typed. */
function refuseLostBytes(tokens: readonly string[]): void {
  const at = tokens.findIndex((token) => token.includes("\u{fffd}"));
  if (at === -1) return;
  throw new AppError(
    "INVALID_ARGUMENT",
    `token ${at + 1} is not valid UTF-8, or holds U+FFFD, which looks the same here: give UTF-8 text`,
  );
}

/** In the server's form. */
const START = /^(?:-|-?\d{1,9})$/;

/** `capture-pane`: the lines of a terminal, screen and history, as tmux's `capture-pane` prints them. */
export const capturePaneCommand = freshellCommand<TerminalCaptureResponse>({
  name: "capture-pane",
  summary: "print what a terminal shows",
  details: ["A capture that cannot be exactly what was asked for fails with UNSUPPORTED_CAPTURE_MODE."],
  options: [
    ...PANE_TARGET,
    text(
      "start",
      "LINE",
      "the first line: 0 is the top of the screen, -5 five lines of history above it, - all history",
      {
        short: "S",
        dashed: true,
        default: "0",
      },
    ),
    flag("join", "join lines that the screen has wrapped", "J"),
    flag("escapes", "keep colours and attributes as escape sequences", "e"),
  ],
  examples: [
    { line: "freshell capture-pane --target terminal:ID", does: "its screen" },
    { line: "freshell capture-pane --target terminal:ID -S - -J", does: "all of its history, whole lines" },
  ],
  perform: async (call) => {
    const query = queryOf(call);
    const terminalId = await targetOfPane(call);
    return call.session.call({ method: "GET", path: `/api/terminals/${terminalId}/capture${query}` });
  },
  show: ({ lines }) => lines.map((line) => `${line}\n`).join(""),
});

function queryOf({ options }: CommandCall): string {
  const start = options.text("start");
  if (start !== undefined && !START.test(start)) {
    throw new AppError("INVALID_ARGUMENT", `-S takes a line number or -, not ${JSON.stringify(start.slice(0, 80))}`);
  }
  const given = [
    ...(start === undefined ? [] : [`S=${start}`]),
    ...(options.flag("join") ? ["J=1"] : []),
    ...(options.flag("escapes") ? ["e=1"] : []),
  ];
  return given.length === 0 ? "" : `?${given.join("&")}`;
}
