/** `tmuxwire windows`, `tree` and `events`: what a tmux server holds, and what happens on it. */
import type { NativeTreeAnswer, NativeTreeWindow, NativeWindow } from "../native/client.ts";
import { CLIENT_OPTIONS, connect } from "./clientConnection.ts";
import type { CommandCall, CommandSpec } from "./commandTypes.ts";
import { printable, table } from "./textTable.ts";

export const windowsCommand: CommandSpec = {
  name: "windows",
  summary: "list windows",
  positionals: [],
  options: CLIENT_OPTIONS,
  examples: [
    { line: "tmuxwire windows", does: "of every session" },
    { line: "tmuxwire windows --json", does: "with their layouts" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options } = call;
    const windows = await (await connect(call)).windows({ signal: io.signal });
    const head = ["WINDOW", "SESSIONS", "SIZE", "PANES", "ACTIVE", "NAME"];
    await io.out(options.flag("json") ? `${JSON.stringify({ windows })}\n` : table(head, windows.map(windowRow)));
    return 0;
  },
};

const windowRow = ({ id, sessions, cols, rows, panes, activePane, name }: NativeWindow): string[] => [
  id,
  sessions.join(","),
  `${cols}x${rows}`,
  String(panes.length),
  activePane ?? "-",
  name,
];

export const treeCommand: CommandSpec = {
  name: "tree",
  summary: "show sessions, their windows and their panes",
  positionals: [],
  options: CLIENT_OPTIONS,
  examples: [
    { line: "tmuxwire tree", does: "with * at what is active" },
    { line: "tmuxwire tree --json", does: "with layouts, and the event that it is after" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options } = call;
    const tree = await (await connect(call)).tree({ signal: io.signal });
    await io.out(options.flag("json") ? `${JSON.stringify(tree)}\n` : drawn(tree));
    return 0;
  },
};

function drawn({ sessions, windows, panes }: NativeTreeAnswer): string {
  const byId = new Map(windows.map((window) => [window.id, window]));
  const mark = (is: boolean): string => (is ? "*" : "");
  const panesOf = (window: NativeTreeWindow): string[] =>
    window.panes.map((id) => {
      const pane = panes.find((candidate) => candidate.id === id);
      const size =
        pane === undefined ? "" : ` ${pane.cols}x${pane.rows}${pane.exit === null ? "" : " ended"} ${pane.title}`;
      return `    ${id}${mark(id === window.activePane)}${size}`;
    });
  const lines = sessions.flatMap((session) => [
    `${session.name} ${session.id}`,
    ...session.windows.flatMap(({ index, window: id }) => {
      const window = byId.get(id);
      if (window === undefined) return [];
      const zoomed = window.zoomed ? " zoomed" : "";
      return [`  ${index}: ${window.name} ${id}${mark(id === session.activeWindow)}${zoomed}`, ...panesOf(window)];
    }),
  ]);
  return lines.map((line) => `${printable(line).trimEnd()}\n`).join("");
}

export const eventsCommand: CommandSpec = {
  name: "events",
  summary: "print what happens to sessions, windows and panes",
  details: [
    "Each event is a line of JSON: its id and the event, the whole tree first. A lost connection is made again, and " +
      "nothing is told twice; where too much has happened meanwhile, the whole tree is told again.",
  ],
  positionals: [],
  options: [
    { name: "after", type: "text", value: "ID", description: "go on after this event, or that of a tree" },
    { name: "readiness", type: "flag", description: "tell what the programs are doing as well" },
    { name: "no-resume", type: "flag", description: "end when the connection is lost instead of making it again" },
    ...CLIENT_OPTIONS,
  ],
  examples: [{ line: "tmuxwire events | jq .event.type", does: "what happens, as it happens" }],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options } = call;
    const events = (await connect(call)).events({
      after: options.text("after"),
      resume: !options.flag("no-resume"),
      ...(options.flag("readiness") ? { readiness: true } : {}),
      signal: io.signal,
    });
    for await (const event of events) await io.out(`${JSON.stringify(event)}\n`);
    return 0;
  },
};
