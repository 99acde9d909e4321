/** `tmuxwire attach`: tmux itself in this terminal, on the given server and pane. */
import {
  type NativeAgent,
  type NativeCheckedHost,
  type NativeServer,
  type NativeSession,
  type ServerClient,
  TmuxwireError,
} from "../../client/client.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import { CLIENT_OPTIONS, connect, daemonAddress } from "../connection/clientConnection.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import type { Io } from "../../cli/cliIo.ts";
import { inForeground, printedBy } from "../../cli/foregroundProgram.ts";
import { splitName } from "../../remote/hostNames.ts";
import { requireProgram } from "../../remote/sshArguments.ts";
import { shellWord } from "../../../protocol/text/shellWord.ts";

/** The user's configuration may say of the host what does not go with a command, or forward ports that are taken already. */
const SSH_OPTIONS = ["-o", "RemoteCommand=none", "-o", "ClearAllForwardings=yes"];

export const attachCommand: CommandSpec = {
  name: "attach",
  summary: "show a session or pane in this terminal, with tmux itself",
  details: [
    "Runs a tmux client on the server's socket: the keys are tmux's, and C-b d detaches. For a pane, its window is shown " +
      "and the pane made active. Inside tmux, your current client switches to it if it is on the same server; otherwise " +
      "another client runs inside your pane.",
    "For a server of a host (`main@build`) it runs `ssh -t`, which may ask you something, and tmux there.",
  ],
  positionals: [
    { name: "TARGET", description: "a session's name or id, or a pane such as %5 or 5", names: "pane", optional: true },
  ],
  options: [
    {
      name: "asking",
      type: "flag",
      description: "instead of TARGET: the agent that has waited longest for an answer; inside tmux, on this server",
    },
    { name: "read-only", short: "r", type: "flag", description: "look only; typing does nothing" },
    { name: "detach-others", short: "d", type: "flag", description: "detach other terminals from the session" },
    ...CLIENT_OPTIONS.filter(({ name }) => name !== "json"),
  ],
  examples: [
    { line: "tmuxwire attach work", does: "look and type; C-b d detaches" },
    { line: "tmuxwire attach %5 --read-only", does: "look at this pane only" },
    { line: "tmuxwire attach work --server main@build", does: "on the host build" },
    { line: "tmuxwire attach --asking", does: "go to the agent that asks; docs/packaging/tmux binds it to a key" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const { io, options, positionals } = call;
    const asking = options.flag("asking");
    if ((positionals[0] !== undefined) === asking)
      throw invalidArgument("attach: give TARGET or --asking; see `tmuxwire help attach`");
    const { url } = await daemonAddress(call);
    const client = await connect(call);
    const { signal } = io;
    // Also opens the user's own tmux.
    const agents = asking ? await askingAgents(client, signal) : [];
    const { servers } = await client.perform<{ servers: readonly NativeServer[] }>("listServers", {}, {}, { signal });
    const wanted = positionals[0] ?? longestAsking(agents, servers, io.env["TMUX"]);
    const { serverName, target } = await targetOf(client, wanted, signal);
    const server = servers.find(({ name }) => name === serverName);
    if (server === undefined)
      throw new AppError("NOT_FOUND", `there is no server "${serverName}"; run \`tmuxwire servers\``);
    const { socketPath } = server;
    if (socketPath === null || socketPath === undefined)
      throw new AppError("INVALID_TARGET", `server "${serverName}" has no tmux socket to attach to`);
    if (url !== undefined && new URL(url).protocol === "https:")
      throw invalidArgument("attach works only with a daemon on this machine");
    const [readOnly, others] = [options.flag("read-only"), options.flag("detach-others")];
    const { TMUX, TMUX_PANE: _pane, ...outside } = io.env;
    const attach = ["attach-session", ...(readOnly ? ["-r"] : []), ...(others ? ["-d"] : []), "-t", target];
    const host = splitName(serverName)?.host;
    if (host !== undefined) {
      const { destination, sshConfig, program, agentless } = await client.perform<NativeCheckedHost>(
        "showHost",
        { host },
        {},
        { signal },
      );
      const config = sshConfig === null ? [] : ["-F", sshConfig];
      const tmux = agentless ? requireProgram(program ?? "tmux") : "tmux";
      const line = [tmux, ...["-S", socketPath, ...attach].map(shellWord)].join(" ");
      const args = ["-tax", ...config, ...SSH_OPTIONS, "--", destination, line];
      return inForeground(io, { program: "ssh", args, env: outside });
    }
    const viewer = TMUX?.startsWith(`${socketPath},`) === true ? await viewerOf(io.env, socketPath, TMUX) : undefined;
    const words =
      viewer === undefined ? attach : ["switch-client", ...(readOnly ? ["-r"] : []), "-c", viewer, "-t", target];
    // Without TMUX, so that tmux allows a client of another server inside a pane.
    return inForeground(io, { program: "tmux", args: ["-S", socketPath, ...words], env: outside });
  },
};

/**
 * The client that shows this pane: the most recently used one of its session. Never a control client, which may be the
 * daemon's.
 */
async function viewerOf(env: Io["env"], socketPath: string, tmux: string): Promise<string | undefined> {
  const format = "#{client_control_mode} #{session_id} #{client_activity} #{client_name}";
  const listed = await printedBy({ program: "tmux", args: ["-S", socketPath, "list-clients", "-F", format], env });
  const session = `$${tmux.slice(tmux.lastIndexOf(",") + 1)}`;
  const clients = listed.split("\n").flatMap((line) => {
    const [, id, activity, name] = /^0 (\$\d+) (\d+) (.+)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, isHere: id === session, activity: Number(activity) }];
  });
  return clients.sort((a, b) => Number(b.isHere) - Number(a.isHere) || b.activity - a.activity)[0]?.name;
}

/** The one that has asked longest first. */
async function askingAgents(client: ServerClient, signal: AbortSignal): Promise<readonly NativeAgent[]> {
  const { agents } = await client.perform<{ agents: readonly NativeAgent[] }>(
    "listAgents",
    {},
    { state: "asking" },
    { signal },
  );
  return agents.toSorted((a, b) => (a.sinceUnixMs ?? 0) - (b.sinceUnixMs ?? 0));
}

/** Inside tmux only one of that server: a client cannot switch to another. @returns its id @throws AppError NOT_FOUND */
function longestAsking(
  agents: readonly NativeAgent[],
  servers: readonly NativeServer[],
  tmux: string | undefined,
): string {
  const here = servers.find(
    ({ name, socketPath }) => splitName(name) === undefined && tmux?.startsWith(`${socketPath},`) === true,
  );
  const found = here === undefined ? agents[0] : agents.find(({ server }) => server === here.name);
  if (found !== undefined) return found.id;
  const elsewhere = agents.map(({ name, server }) => `${name} asks on ${server}: run \`tmuxwire attach ${name}\``);
  throw new AppError("NOT_FOUND", ["no agent asks here", ...elsewhere.slice(0, 1)].join("; "));
}

interface Target {
  readonly serverName: string;
  /** By id, which is unambiguous. */
  readonly target: string;
}

/** An agent may be on another server. @throws TmuxwireError NOT_FOUND */
async function targetOf(client: ServerClient, wanted: string, signal: AbortSignal): Promise<Target> {
  const sessions = await client.sessions({ signal });
  const session = sessions.find(({ id, name }) => wanted === id || wanted === name);
  if (session !== undefined && !/^\d+$/.test(wanted)) return { serverName: client.name, target: session.id };
  const agent = /^[%@$]?\d+$/.test(wanted) ? undefined : await agentNamed(client, wanted, signal);
  if (agent !== undefined) {
    const { server: serverName, session: name, window, pane } = agent;
    const its = await client.perform<{ sessions: readonly NativeSession[] }>(
      "listSessions",
      { server: serverName },
      {},
      { signal },
    );
    return { serverName, target: `${idOf(its.sessions, [name], pane)}:${window}.${pane}` };
  }
  const pane = await client.pane(wanted).info({ signal });
  return { serverName: client.name, target: `${idOf(sessions, pane.sessions, pane.id)}:${pane.window}.${pane.id}` };
}

/** Of the first that has one of these names. @throws AppError NOT_FOUND */
function idOf(sessions: readonly NativeSession[], names: readonly (string | null)[], pane: string): string {
  const holder = sessions.find(({ name }) => names.includes(name));
  if (holder !== undefined) return holder.id;
  throw new AppError("NOT_FOUND", `pane ${pane} is in no session`);
}

async function agentNamed(client: ServerClient, agent: string, signal: AbortSignal): Promise<NativeAgent | undefined> {
  try {
    const found = await client.perform<NativeAgent>("showAgent", { agent }, {}, { signal });
    return found.state === "ended" ? undefined : found;
  } catch (error) {
    if (error instanceof TmuxwireError && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}
