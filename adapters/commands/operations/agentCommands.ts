/** `tmuxwire agents`, `agent` and `timeline`: which agents run, what each is doing, and what was asked of them before. */
import {
  type NativeAgent,
  type NativeServer,
  TmuxwireError,
  type NativeTimeline,
  type NativeTimelineEntry,
} from "../../client/client.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { sleep } from "../../../daemon/time/within.ts";
import { usageError } from "../../cli/parseCommand.ts";
import { connect } from "../connection/clientConnection.ts";
import { operationCommand } from "./operationCommand.ts";
import { AGENT } from "./paneArguments.ts";
import { printable, table } from "../../cli/textTable.ts";
import { timeText } from "./waitingText.ts";

const once = operationCommand<{ readonly agents: readonly NativeAgent[] }>({
  operation: "listAgents",
  name: "agents",
  tweak: { server: { name: "on" } },
  examples: [
    { line: "tmuxwire agents", does: "on every server" },
    { line: "tmuxwire agents -w", does: "redrawn as they appear, change and end" },
    { line: "tmuxwire agents --state asking", does: "those that wait for an answer" },
    { line: "tmuxwire agents --text 'rate limit'", does: "those whose screens show these words, with the row" },
    { line: "tmuxwire agents -w --line", does: "one line whenever it changes, for a status line" },
  ],
  show: ({ io }, { agents }) => io.out(drawn(agents)),
});

export const agentsCommand: CommandSpec = {
  ...once,
  options: [
    { name: "watch", short: "w", type: "flag", description: "redraw the list whenever something changes" },
    {
      name: "line",
      type: "flag",
      description: "print one line for a status line: who asks, and how many are busy and ready; empty without agents",
    },
    ...once.options,
  ],
  run: (call) =>
    call.options.flag("watch") || call.options.flag("line") ? watch(call, call.options.flag("watch")) : once.run(call),
};

/** tmux draws a status line again for one line of a program in each second (format.c `format_job_update`). */
const LINE_EVERY_MS = 1_000;
const HOME_AND_CLEAR = "\u001b[H\u001b[J";
const CLEAR = "\u001b[2J";

/**
 * Redraws in place on a terminal; otherwise prints one list after another. Follows the servers that there are at the start.
 * @param goesOn false: one line, once
 */
async function watch(call: CommandCall, goesOn: boolean): Promise<number> {
  const { io, options } = call;
  const { signal } = io;
  const json = options.flag("json");
  const line = options.flag("line");
  if (options.text("text") !== undefined) {
    throw usageError("--text looks once and cannot be combined with -w or --line; `tmuxwire wait` waits for text");
  }
  const [only, state] = [options.text("on") ?? options.text("server"), options.text("state")];
  const client = await connect(call);
  // Also opens the user's own tmux.
  const list = () =>
    client.perform<{ agents: readonly NativeAgent[] }>(
      "listAgents",
      {},
      { ...(only === undefined ? {} : { server: only }), ...(state === undefined ? {} : { state }) },
      { signal },
    );
  let shown: string | undefined;
  let shownMs = -Infinity;
  const draw = async (): Promise<void> => {
    if (line) await sleep(systemClock, shownMs + LINE_EVERY_MS - systemClock.nowMs(), signal);
    const listed = await list();
    const text = line ? lineOf(listed.agents) : json ? `${JSON.stringify(listed)}\n` : drawn(listed.agents);
    if (text === shown) return;
    const isFirst = shown === undefined;
    shown = text;
    shownMs = systemClock.nowMs();
    if (line) return io.out(`${text}\n`);
    await io.out(io.colour && !json ? (isFirst ? CLEAR : "") + HOME_AND_CLEAR + text : json ? text : `${text}\n`);
  };
  await draw();
  if (!goesOn) return 0;
  const { servers } = await client.perform<{ servers: readonly NativeServer[] }>("listServers", {}, {}, { signal });
  // One list at a time, and one more if something has changed meanwhile.
  let drawing: Promise<void> = Promise.resolve();
  let isWanted = false;
  const changed = (): Promise<void> => {
    if (isWanted) return drawing;
    isWanted = true;
    drawing = drawing.then(() => {
      isWanted = false;
      return draw();
    });
    return drawing;
  };
  const follow = async (name: string): Promise<void> => {
    for await (const { event } of client.on(name).events({ agents: true, signal })) {
      if (event.type === "reset" || event.type.startsWith("agent-")) await changed();
    }
  };
  const names = only === undefined ? servers.map(({ name }) => name) : [only];
  // The daemon may still be opening the user's own tmux; or that does not run, or may not be used.
  const own = only === undefined && !names.includes("default") ? [follow("default").catch(unlessAbsent)] : [];
  await Promise.all([...names.map(follow), ...own]);
  return 0;
}

function unlessAbsent(error: unknown): void {
  if (!(error instanceof TmuxwireError) || (error.code !== "NOT_FOUND" && error.code !== "FORBIDDEN")) throw error;
}

/** Of a name, what no status line takes for anything but text (tmux expands `#` and, in times, `%`). */
const plainName = (name: string): string => name.replaceAll(/[^\w.@/:-]/g, "_");

const MAX_NAMES = 3;

/** Those that have asked longest come first. */
function lineOf(agents: readonly NativeAgent[]): string {
  const asking = agents
    .filter(({ state }) => state === "asking")
    .sort((a, b) => (a.sinceUnixMs ?? 0) - (b.sinceUnixMs ?? 0))
    .map(({ name }) => plainName(name));
  const count = (state: NativeAgent["state"]): number => agents.filter((agent) => agent.state === state).length;
  const names = asking.slice(0, MAX_NAMES).join(", ") + (asking.length > MAX_NAMES ? ", ..." : "");
  const [busy, ready] = [count("busy") + count("starting"), count("ready")];
  return [
    ...(asking.length === 0 ? [] : [`${asking.length} asking: ${names}`]),
    ...(busy === 0 ? [] : [`${busy} busy`]),
    ...(ready === 0 ? [] : [`${ready} ready`]),
  ].join(" | ");
}

const drawn = (agents: readonly NativeAgent[]): string => {
  const isSearched = agents.some(({ onScreen }) => onScreen !== undefined);
  return table(
    ["NAME", "AGENT", "STATE", "SINCE", "TASK", "WHERE", "CWD", "BRANCH", ...(isSearched ? ["ON ITS SCREEN"] : [])],
    agents.map((agent) => [...agentRow(agent), ...(isSearched ? [agent.onScreen ?? "-"] : [])]),
  );
};

const agentRow = (agent: NativeAgent): string[] => [
  agent.name,
  agent.agent,
  agent.state === "unknown" ? `unknown: ${agent.why}` : agent.state,
  agent.sinceUnixMs === null ? "-" : timeText(agent.sinceUnixMs),
  agent.task?.text ?? "-",
  `${agent.server} ${agent.session ?? "-"} ${agent.pane}`,
  agent.cwd ?? "-",
  agent.branch ?? "-",
];

export const renameAgentCommand = operationCommand<NativeAgent>({
  operation: "renameAgent",
  name: "rename-agent",
  positionals: [AGENT, { name: "NAME", gives: "name", description: "its new name" }],
  examples: [{ line: "tmuxwire rename-agent agent-2 api", does: "from now on `api` is its pane, too" }],
});

export const agentCommand = operationCommand<NativeAgent>({
  operation: "showAgent",
  name: "agent",
  positionals: [AGENT],
  examples: [{ line: "tmuxwire agent api", does: "its state and what says so, its task, its question" }],
  show: ({ io }, agent) => {
    const rows: readonly (readonly [string, string])[] = [
      ["name", agent.name],
      ["agent", agent.version === null ? agent.agent : `${agent.agent} ${agent.version}`],
      ["state", `${agent.state}: ${agent.why}`],
      ["task", agent.task?.text ?? "-"],
      ["said", agent.lastMessage ?? "-"],
      ["question", agent.question?.text ?? "-"],
      ["pane", `${agent.server} ${agent.session ?? "-"} ${agent.pane}`],
      ["pid", String(agent.pid)],
      ["directory", agent.cwd ?? "-"],
      ["branch", agent.branch ?? "-"],
      ["session", agent.sessionId ?? "-"],
      ["id", agent.id],
    ];
    return io.out(
      rows.map(([name, value]) => `${`${name}: `.padEnd(11)}${printable(value)}`.trimEnd() + "\n").join(""),
    );
  },
});

export const timelineCommand = operationCommand<NativeTimeline>({
  operation: "timeline",
  name: "timeline",
  details: [
    "Of the last 30 days, the newest first: starts, prompts, questions, answers and by whom, ends of turns with the last " +
      "words, ends, new names. AGENT may have ended; a name stands for all that were called so. `pane` as who means: by keys " +
      "in its pane.",
  ],
  positionals: [{ ...AGENT, optional: true }],
  tweak: {
    query: { name: "search", short: "s", value: "TEXT" },
    kind: { short: "k", value: "KIND" },
    limit: { short: "n", value: "N" },
    before: { value: "NUMBER" },
    server: { name: "on" },
  },
  examples: [
    { line: "tmuxwire timeline", does: "of all agents" },
    { line: "tmuxwire timeline api --search delete", does: "of one, with this text in it" },
    { line: "tmuxwire timeline --kind answer --limit 20", does: "the last answers, and who gave them" },
  ],
  show: async ({ io }, { entries, next, dropped }) => {
    await io.out(entries.map(entryText).join(""));
    if (dropped !== null) {
      const until = timeText(dropped.untilUnixMs);
      io.err(`tmuxwire: ${dropped.entries} entries up to ${until} were removed, because there were too many\n`);
    }
    if (next !== null) io.err(`tmuxwire: there are older ones: --before ${next}\n`);
  },
});

function entryText({ unixMs, name, kind, by, text, options, outcome }: NativeTimelineEntry): string {
  const who = by === null ? "" : ` by ${printable(by)}`;
  const how = outcome === null ? "" : ` (${outcome})`;
  const lines = text === null ? [] : text.split("\n");
  const offered = (options ?? []).map((label, index) => `${index}. ${label}`);
  const below = [...lines, ...offered].map((line) => `    ${printable(line)}\n`);
  return `${timeText(unixMs)}  ${printable(name)}  ${kind}${who}${how}\n${below.join("")}`;
}
