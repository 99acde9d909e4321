/** Terminals as a whole: list, respawn, kill. */
import type { TerminalEntry, TerminalKillResponse } from "../../../protocol/api/freshell/freshellHttp.ts";
import { table } from "../../bin/cli/textTable.ts";
import { TERMINAL_TARGET } from "./commandOptions.ts";
import { targetTerminal } from "./commandTargets.ts";
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
