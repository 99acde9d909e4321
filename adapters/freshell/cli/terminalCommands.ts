/** Terminals as a whole: list, respawn, kill. */
import type { TerminalEntry, TerminalKillResponse } from "../../../protocol/api/freshell/freshellHttp.ts";
import { table } from "../../bin/cli/textTable.ts";
import { targetTerminal, TERMINAL_TARGET } from "./commandTargets.ts";
import { freshellCommand } from "./freshellCommand.ts";

export const listTerminalsCommand = freshellCommand<readonly TerminalEntry[]>({
  name: "list-terminals",
  summary: "list the server's terminals",
  positionals: [],
  options: [],
  examples: [{ line: "freshell list-terminals --json", does: "for a program" }],
  perform: (_call, session) => session().call({ method: "GET", path: "/api/terminals" }),
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
  summary: "end what runs in a terminal and start its program anew",
  details: ["The terminal keeps its id, its directory and its size; clients stay attached."],
  positionals: [],
  options: [TERMINAL_TARGET],
  examples: [{ line: "freshell respawn-terminal --target terminal:ID", does: "a fresh shell under the same id" }],
  perform: (call, session) => {
    const terminalId = targetTerminal(call, "respawn-terminal");
    return session().call({ method: "POST", path: `/api/terminals/${terminalId}/respawn`, body: {} });
  },
});

export const killTerminalCommand = freshellCommand<TerminalKillResponse>({
  name: "kill-terminal",
  summary: "end what runs in a terminal, and forget the terminal",
  positionals: [],
  options: [TERMINAL_TARGET],
  examples: [{ line: "freshell kill-terminal --target terminal:ID", does: "its history goes as well" }],
  perform: (call, session) => {
    const terminalId = targetTerminal(call, "kill-terminal");
    return session().call({ method: "POST", path: `/api/terminals/${terminalId}/kill`, body: {} });
  },
});
