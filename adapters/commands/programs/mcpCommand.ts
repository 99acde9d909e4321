/** `tmuxwire mcp`: an MCP server on this process's stdin and stdout, relayed to the daemon. */
import { toAppError } from "../../../protocol/errors.ts";
import { CLIENT_OPTIONS, type DaemonAddress, daemonAddress } from "../connection/clientConnection.ts";
import { startNative } from "../connection/startNative.ts";
import type { CommandCall, CommandSpec, OptionSpec } from "../../cli/commandTypes.ts";

const TIERS: readonly OptionSpec[] = [
  { name: "read-only", type: "flag", description: "offer only tools that change nothing" },
  { name: "no-destructive", type: "flag", description: "offer no tool that ends or stops something" },
  {
    name: "server",
    type: "text",
    value: "NAME",
    description: "limit it to this one of the daemon's tmux servers",
    default: "all of them",
  },
  {
    name: "panes",
    type: "text",
    value: "PATTERN",
    description: "limit it to panes whose id or session name matches, such as 'work*,%5'",
    default: "all of them",
  },
  { name: "no-autostart", type: "flag", description: "do not start a daemon if none is running" },
];
const CONNECTION = CLIENT_OPTIONS.filter(({ name }) => ["socket", "url", "token-file"].includes(name));

export const mcpCommand: CommandSpec = {
  name: "mcp",
  summary: "run an MCP server on stdin and stdout, for agents",
  details: [
    "Tools to list, create, read and end panes, to run commands, to type and to wait; panes' screens as resources. If no " +
      "daemon is running, one is started and reported on stderr. The native API serves the same over HTTP at /mcp, with its " +
      "token.",
  ],
  positionals: [],
  options: [...TIERS, ...CONNECTION],
  examples: [
    { line: "tmuxwire mcp", does: "the command for an MCP client's settings, often as `npx tmuxwire mcp`" },
    { line: "tmuxwire mcp --read-only --panes 'work*'", does: "read these sessions, change nothing" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options } = call;
    const query = new URLSearchParams();
    if (options.flag("read-only")) query.set("readOnly", "true");
    if (options.flag("no-destructive")) query.set("noDestructive", "true");
    for (const name of ["server", "panes"]) {
      const value = options.text(name);
      if (value !== undefined) query.set(name, value);
    }
    const [{ McpRelay }, { openMcp }] = await Promise.all([
      import("../connection/mcpRelay.ts"),
      import("../connection/mcpConnection.ts"),
    ]);
    const connect = async () => {
      const address = await daemonAddress(call);
      try {
        return await openMcp(address, query);
      } catch (error) {
        const isGone = toAppError(error).code === "DAEMON_UNREACHABLE";
        if (!isGone || address.url !== undefined || options.flag("no-autostart")) throw error;
        const { pid, logPath } = await startNative(io, address.socketPath, serveFlags(call, address));
        if (pid !== undefined)
          io.err(`tmuxwire: no daemon was running, so one was started (pid ${pid}); it logs to ${logPath}\n`);
        return await openMcp(await daemonAddress(call), query);
      }
    };
    await new McpRelay({ io, connect }).run();
    return 0;
  },
};

/** Flags that make the daemon listen where this command connects; it runs in another directory. */
function serveFlags({ options }: CommandCall, { socketPath, tokenPath }: DaemonAddress): readonly string[] {
  return Object.entries({ socket: socketPath, "token-file": tokenPath }).flatMap(([name, path]) =>
    options.text(name) === undefined ? [] : [`--${name}`, path],
  );
}
