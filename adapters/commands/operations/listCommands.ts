/** `tmuxwire servers`, `sessions`, `windows`, `panes` and `show`: listings, as tables or as the API's own JSON. */
import type { NativePane, NativePaneDetails, NativeServer, NativeSession, NativeWindow } from "../../client/client.ts";
import { operationCommand } from "./operationCommand.ts";
import { PANE_OR_THIS } from "./paneArguments.ts";
import { printable, table } from "../../cli/textTable.ts";
import { timeText, waitingText } from "./waitingText.ts";

export const serversCommand = operationCommand<{ readonly servers: readonly NativeServer[] }>({
  operation: "listServers",
  name: "servers",
  examples: [{ line: "tmuxwire servers", does: "the names that --server takes" }],
  show: ({ io }, { servers }) =>
    io.out(table(["SERVER", "KIND", "STATE", "TMUX", "SESSIONS", "PANES", "SOCKET"], servers.map(serverRow))),
});

const serverRow = ({
  name,
  kind,
  state,
  tmuxVersion,
  sessions,
  panes,
  socketPath,
  waiting,
}: NativeServer): string[] => [
  name,
  kind,
  waiting === undefined ? state : `${state}, waiting ${waitingText(waiting)}`,
  tmuxVersion ?? "-",
  String(sessions),
  String(panes),
  socketPath ?? "-",
];

export const sessionsCommand = operationCommand<{ readonly sessions: readonly NativeSession[] }>({
  operation: "listSessions",
  name: "sessions",
  examples: [{ line: "tmuxwire sessions", does: "of the daemon's own tmux server" }],
  show: ({ io }, { sessions }) =>
    io.out(table(["SESSION", "ID", "PANE", "WINDOWS", "CREATED"], sessions.map(sessionRow))),
});

const sessionRow = ({ name, id, activePane, windows, createdSec }: NativeSession): string[] => [
  name,
  id,
  activePane ?? "-",
  String(windows.length),
  timeText(createdSec * 1_000),
];

export const windowsCommand = operationCommand<{ readonly windows: readonly NativeWindow[] }>({
  operation: "listWindows",
  name: "windows",
  examples: [
    { line: "tmuxwire windows", does: "of every session" },
    { line: "tmuxwire windows --json", does: "with their layouts" },
  ],
  show: ({ io }, { windows }) =>
    io.out(table(["WINDOW", "SESSIONS", "SIZE", "PANES", "ACTIVE", "NAME"], windows.map(windowRow))),
});

const windowRow = ({ id, sessions, cols, rows, panes, activePane, name }: NativeWindow): string[] => [
  id,
  sessions.join(","),
  `${cols}x${rows}`,
  String(panes.length),
  activePane ?? "-",
  name,
];

export const panesCommand = operationCommand<{ readonly panes: readonly NativePane[] }>({
  operation: "listPanes",
  name: "panes",
  examples: [
    { line: "tmuxwire panes", does: "of every session" },
    { line: "tmuxwire panes --json", does: "with positions and exit statuses" },
  ],
  show: ({ io }, { panes }) =>
    io.out(table(["PANE", "SESSIONS", "SIZE", "PID", "STATE", "READINESS", "TITLE"], panes.map(paneRow))),
});

const paneRow = (pane: NativePane): string[] => [
  pane.id,
  pane.sessions.join(","),
  `${pane.cols}x${pane.rows}`,
  String(pane.pid),
  runningOf(pane),
  readinessOf(pane),
  pane.title,
];

const runningOf = ({ dead, exit }: NativePane): string =>
  dead ? `exited ${exit?.exitCode ?? (exit?.signal === undefined ? "?" : `by signal ${exit.signal}`)}` : "running";
const readinessOf = ({ readiness }: NativePane): string =>
  readiness === null ? "-" : `${readiness.state} (${readiness.profile})`;

export const showCommand = operationCommand<NativePaneDetails>({
  operation: "describePane",
  name: "show",
  aliases: ["pane"],
  positionals: [PANE_OR_THIS],
  examples: [
    { line: "tmuxwire show work", does: "its program, its directory, what it is doing" },
    { line: "tmuxwire show agent", does: "also an open dialog, with the options that `choose` takes" },
  ],
  show: ({ io }, pane) => {
    const rows: readonly (readonly [string, string])[] = [
      ["pane", pane.id],
      ["window", pane.window],
      ["sessions", pane.sessions.join(",")],
      ["size", `${pane.cols}x${pane.rows}`],
      ["state", runningOf(pane)],
      ...(pane.waiting === undefined ? [] : [["waiting", waitingText(pane.waiting)] as const]),
      ["readiness", readinessOf(pane)],
      ["program", pane.command],
      ["pid", String(pane.pid)],
      ["directory", pane.cwd],
      ["terminal", pane.tty],
      ["history", `${pane.historyLines} lines`],
      ["title", pane.title],
      ...dialogRows(pane),
    ];
    return io.out(
      rows.map(([name, value]) => `${`${name}: `.padEnd(11)}${printable(value)}`.trimEnd() + "\n").join(""),
    );
  },
});

/** Options by their index, as `choose` takes them. */
function dialogRows({ readiness }: NativePaneDetails): (readonly [string, string])[] {
  const dialog = readiness?.dialog;
  if (dialog === undefined) return [];
  return [
    ["dialog", dialog.text.replaceAll(/\s+/g, " ").trim()],
    ...dialog.options.map(({ index, label, checked }): readonly [string, string] => [
      `  ${index}`,
      `${label}${checked === true ? " (chosen)" : ""}${index === dialog.otherIndex ? " (--other TEXT)" : ""}`,
    ]),
  ];
}
