/** `tmuxwire agents` and `agent`: which agents run, and what each is doing. */
import type { NativeAgent, NativeServer } from "../../client/client.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
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
  ],
  show: ({ io }, { agents }) => io.out(drawn(agents)),
});

export const agentsCommand: CommandSpec = {
  ...once,
  options: [
    { name: "watch", short: "w", type: "flag", description: "redraw the list whenever something changes" },
    ...once.options,
  ],
  run: (call) => (call.options.flag("watch") ? watch(call) : once.run(call)),
};

const HOME_AND_CLEAR = "\u001b[H\u001b[J";
const CLEAR = "\u001b[2J";

/** Redraws in place on a terminal; otherwise prints one list after another. Follows the servers that there are at the start. */
async function watch(call: CommandCall): Promise<number> {
  const { io, options } = call;
  const { signal } = io;
  const json = options.flag("json");
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
  let shown = "";
  const draw = async (): Promise<void> => {
    const listed = await list();
    const text = json ? `${JSON.stringify(listed)}\n` : drawn(listed.agents);
    if (text === shown) return;
    const isFirst = shown === "";
    shown = text;
    await io.out(io.colour && !json ? (isFirst ? CLEAR : "") + HOME_AND_CLEAR + text : json ? text : `${text}\n`);
  };
  await draw();
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
  await Promise.all(
    servers
      .filter(({ name }) => only === undefined || only === name)
      .map(async ({ name }) => {
        for await (const { event } of client.on(name).events({ agents: true, signal })) {
          if (event.type === "reset" || event.type.startsWith("agent-")) await changed();
        }
      }),
  );
  return 0;
}

const drawn = (agents: readonly NativeAgent[]): string =>
  table(["NAME", "AGENT", "STATE", "SINCE", "TASK", "WHERE", "CWD", "BRANCH"], agents.map(agentRow));

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
