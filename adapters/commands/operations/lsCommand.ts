/** `tmuxwire ls`: sessions, windows and panes as a tree, once or as they change. */
import { applyTreeEvent } from "../../../protocol/api/native/applyTreeEvent.ts";
import type { NativeTree, NativeTreeResponse, NativeTreeWindow } from "../../client/client.ts";
import { CLIENT_OPTIONS, connect } from "../connection/clientConnection.ts";
import { HOST_OPTION, NATS_OPTIONS, refuseHost } from "../connection/natsOptions.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { notFound } from "../../../protocol/text/nearestName.ts";
import { operationCommand } from "./operationCommand.ts";
import { SESSION } from "./paneArguments.ts";
import { printable } from "../../cli/textTable.ts";
import { waitingText } from "./waitingText.ts";

const once = operationCommand<NativeTreeResponse>({
  operation: "tree",
  name: "ls",
  positionals: [{ ...SESSION, optional: true }],
  members: [],
  examples: [
    { line: "tmuxwire ls", does: "the active ones marked with *" },
    { line: "tmuxwire ls work", does: "one session" },
    { line: "tmuxwire ls -w", does: "redrawn as it changes, with what the programs are doing" },
    { line: "tmuxwire ls --nats nats://127.0.0.1", does: "every host that publishes on NATS" },
    { line: "tmuxwire ls --json", does: "with layouts, and the id of the last event it includes" },
  ],
  selected: ({ positionals: [session] }, tree) => {
    const one = only(tree, session);
    if (session === undefined || one.sessions.length > 0) return one;
    const names = tree.sessions.map(({ name }) => name);
    throw notFound(`there is no session ${JSON.stringify(session)}; run \`tmuxwire ls\``, session, names);
  },
  show: ({ io }, tree) => io.out(drawn(tree, new Map(), tree.waiting)),
});

export const lsCommand: CommandSpec = {
  ...once,
  aliases: ["tree"],
  options: [
    { name: "watch", short: "w", type: "flag", description: "redraw it whenever something changes" },
    ...NATS_OPTIONS,
    HOST_OPTION,
    ...CLIENT_OPTIONS,
  ],
  run: (call) => {
    refuseHost(call);
    return call.options.flag("watch") ? watch(call) : once.run(call);
  },
};

export const HOME_AND_CLEAR = "\u001b[H\u001b[J";
export const CLEAR = "\u001b[2J";

/** Redraws in place on a terminal; otherwise prints one tree after another. */
async function watch(call: CommandCall): Promise<number> {
  const {
    io,
    options,
    positionals: [session],
  } = call;
  const json = options.flag("json");
  const client = await connect(call);
  const states = new Map<string, string>();
  let tree: NativeTree = { sessions: [], windows: [], panes: [] };
  let waiting: NativeTreeResponse["waiting"];
  let shown = "";
  if (io.colour && !json) await io.out(CLEAR);
  for await (const { event } of client.events({ readiness: true, signal: io.signal })) {
    tree = applyTreeEvent(tree, event);
    if (event.type === "reset" || event.type === "server-state") ({ waiting } = event);
    const known = event.type === "reset" ? Object.entries(event.readiness ?? {}) : [];
    if (event.type === "readiness") known.push([event.pane, event.readiness]);
    for (const [pane, { state }] of known) states.set(pane, state);
    for (const id of states.keys()) if (!tree.panes.some((pane) => pane.id === id)) states.delete(id);
    const seen = only(tree, session);
    const text = json ? `${JSON.stringify({ ...seen, waiting })}\n` : drawn(seen, states, waiting);
    if (text === shown) continue;
    shown = text;
    await io.out(io.colour && !json ? HOME_AND_CLEAR + text : json ? text : `${text}\n`);
  }
  return 0;
}

/** Of one session, by its name or id; of all when none is given. */
export function only<Tree extends NativeTree>(tree: Tree, session: string | undefined): Tree {
  if (session === undefined) return tree;
  const sessions = tree.sessions.filter(({ id, name }) => id === session || name === session);
  const ids = new Set(sessions.flatMap(({ windows }) => windows.map(({ window }) => window)));
  const windows = tree.windows.filter(({ id }) => ids.has(id));
  const panes = tree.panes.filter(({ id }) => windows.some((window) => window.panes.includes(id)));
  return { ...tree, sessions, windows, panes };
}

/** The tree as text. */
export function drawn(
  { sessions, windows, panes }: NativeTree,
  states: ReadonlyMap<string, string>,
  waiting: NativeTreeResponse["waiting"],
): string {
  const byId = new Map(windows.map((window) => [window.id, window]));
  const mark = (is: boolean): string => (is ? "*" : "");
  const panesOf = (window: NativeTreeWindow): string[] =>
    window.panes.map((id) => {
      const pane = panes.find((candidate) => candidate.id === id);
      const state = states.get(id);
      const words =
        pane === undefined
          ? []
          : [
              `${pane.cols}x${pane.rows}`,
              ...(pane.exit === null ? [] : ["ended"]),
              ...(state === undefined ? [] : [state]),
            ];
      return ["   ", `${id}${mark(id === window.activePane)}`, ...words, pane?.title ?? ""].join(" ");
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
  if (waiting !== undefined) lines.unshift(`waiting ${waitingText(waiting)}`);
  return lines.map((line) => `${printable(line).trimEnd()}\n`).join("");
}
