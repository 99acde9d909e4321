/** `tmuxwire sessions` and `tmuxwire panes`: what is there, as tables or as the API's own JSON. */
import type { NativePane, NativeSession } from "../native/client.ts";
import { CLIENT_OPTIONS, connect } from "./clientConnection.ts";
import type { CommandCall, CommandSpec } from "./commandTypes.ts";
import { table } from "./textTable.ts";

export const sessionsCommand: CommandSpec = {
  name: "sessions",
  summary: "list sessions",
  positionals: [],
  options: CLIENT_OPTIONS,
  examples: [{ line: "tmuxwire sessions", does: "of the daemon's own tmux server" }],
  run: async (call: CommandCall): Promise<number> => {
    const sessions = await (await connect(call)).sessions({ signal: call.io.signal });
    return print(call, { sessions }, ["SESSION", "ID", "PANE", "WINDOWS", "CREATED"], sessions.map(sessionRow));
  },
};

const sessionRow = ({ name, id, activePane, windows, createdSec }: NativeSession): string[] => [
  name,
  id,
  activePane ?? "-",
  String(windows.length),
  new Date(createdSec * 1_000).toISOString().replace(".000Z", "Z"),
];

export const panesCommand: CommandSpec = {
  name: "panes",
  summary: "list panes",
  positionals: [],
  options: CLIENT_OPTIONS,
  examples: [
    { line: "tmuxwire panes", does: "of every session" },
    { line: "tmuxwire panes --json", does: "with positions and exit statuses" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const panes = await (await connect(call)).panes({ signal: call.io.signal });
    return print(
      call,
      { panes },
      ["PANE", "SESSIONS", "SIZE", "PID", "STATE", "READINESS", "TITLE"],
      panes.map(paneRow),
    );
  },
};

const paneRow = ({ id, sessions, cols, rows, pid, dead, exit, readiness, title }: NativePane): string[] => [
  id,
  sessions.join(","),
  `${cols}x${rows}`,
  String(pid),
  dead ? `exited ${exit?.exitCode ?? (exit?.signal === undefined ? "?" : `by signal ${exit.signal}`)}` : "running",
  readiness === null ? "-" : `${readiness.state} (${readiness.profile})`,
  title,
];

async function print({ io, options }: CommandCall, answer: object, head: string[], rows: string[][]): Promise<number> {
  await io.out(options.flag("json") ? `${JSON.stringify(answer)}\n` : table(head, rows));
  return 0;
}
