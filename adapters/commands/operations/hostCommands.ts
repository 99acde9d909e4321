/** `tmuxwire hosts`: the other machines whose tmux servers are served from here. */
import type { NativeCheckedHost } from "../../../protocol/api/native/nativeHosts.ts";
import type { OperationName } from "../../../protocol/api/operationRoutes.ts";
import { ERROR_SURFACES, invalidArgument } from "../../../protocol/errors.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { actionWords } from "../../cli/parseCommand.ts";
import { printable } from "../../cli/textTable.ts";
import { inForeground } from "../../cli/foregroundProgram.ts";
import { hostPlaces } from "../../remote/hostBook.ts";
import { loginArguments } from "../../remote/sshArguments.ts";
import { hasLogin } from "../../remote/sshMaster.ts";
import { prepareSocketPath } from "../../../daemon/host/socketPath.ts";
import { CLIENT_OPTIONS, connect, daemonAddress } from "../connection/clientConnection.ts";
import { memberOptions } from "./operationCommand.ts";
import { timeText } from "./waitingText.ts";

const ACTIONS = ["list", "add", "show", "login", "rm"] as const;
type Action = (typeof ACTIONS)[number];
const OPERATION: Readonly<Record<Action, OperationName>> = {
  list: "listHosts",
  add: "addHost",
  show: "showHost",
  login: "showHost",
  rm: "removeHost",
};
/** How many words each takes after itself. */
const WORDS: Readonly<Record<Action, readonly string[]>> = {
  list: [],
  add: ["NAME", "DEST"],
  show: ["NAME"],
  login: ["NAME"],
  rm: ["NAME"],
};
const ADD_OPTIONS = [
  ...memberOptions("addHost", ["sshConfig", "program", "agentless"], {
    sshConfig: { name: "ssh-config", value: "FILE", complete: "file" },
    program: { value: "PATH" },
  }).values(),
];

export const hostsCommand: CommandSpec = {
  name: "hosts",
  summary: "serve the tmux servers of other machines, over ssh",
  details: [
    "A server of a host is named SERVER@HOST wherever a server is named, an agent AGENT@HOST. On the host runs a tmuxwire of " +
      "its own, which is started when it is first needed. The system's ssh connects, with your configuration and keys; it " +
      "never asks anything: where it has to (a passphrase, a second factor), log in once with `tmuxwire hosts login NAME`.",
    "With --agentless nothing but tmux is needed on the host: default@HOST is your own tmux there, SOCKET@HOST that of " +
      "`tmux -L SOCKET`. No agents are found there, and a connection that is lost leaves a gap in streams.",
    "add and show exit with 69 while the host cannot be used, and say what to do.",
  ],
  positionals: [
    { name: "ACTION", description: "what to do", choices: ACTIONS, optional: true },
    { name: "NAME", description: "the host's name here", optional: true, names: "host" },
    {
      name: "DEST",
      description: "what ssh connects to: build, me@build.example, ssh://me@build.example:2222",
      optional: true,
    },
  ],
  options: [...ADD_OPTIONS, ...CLIENT_OPTIONS.filter(({ name }) => name !== "server")],
  examples: [
    { line: "tmuxwire hosts add build me@build.example", does: "connects, and says what it found" },
    { line: "tmuxwire hosts", does: "each with its state and what runs there" },
    { line: "tmuxwire ls --server main@build", does: "the daemon's own server there" },
    { line: "tmuxwire hosts add nas nas.example --agentless", does: "a machine that has tmux, and no tmuxwire" },
    { line: "tmuxwire hosts rm build", does: "what runs there goes on" },
  ],
  run: async (call) => {
    const { io, options } = call;
    const [action, ...words] = actionWords(call.positionals, WORDS);
    const [name = "", destination = ""] = words;
    const input = action === "add" ? { name, destination, ...optionsOf(call) } : {};
    const names = action === "list" || action === "add" ? {} : { host: name };
    const client = await connect(call);
    if (action === "login") {
      // As it is: another login might be one too many.
      const { hosts: known } = await client.perform<{ readonly hosts: readonly NativeCheckedHost[] }>("listHosts");
      const host = known.find((one) => one.name === name);
      const ended = host === undefined || host.state === "connected" ? 0 : await login(call, host);
      if (ended !== 0) return ended;
    }
    const output = await client.perform<object>(OPERATION[action], names, input, { signal: io.signal });
    const hosts = "hosts" in output ? (output.hosts as readonly NativeCheckedHost[]) : [output as NativeCheckedHost];
    if (options.flag("json")) await io.out(`${JSON.stringify(output)}\n`);
    else if (action !== "rm") await io.out(hosts.map((host) => `${line(host)}\n`).join(""));
    const isUsable = action === "list" || action === "rm" || hosts.every(({ state }) => state === "connected");
    return isUsable ? 0 : ERROR_SURFACES.DAEMON_UNREACHABLE.exitCode;
  },
};

/** ssh in this terminal, where it may ask; its connection stays, for the daemon to use. */
async function login(call: CommandCall, host: NativeCheckedHost): Promise<number> {
  const { url, socketPath } = await daemonAddress(call);
  if (url !== undefined) {
    throw invalidArgument("login works only with a daemon on this machine: leave --url out");
  }
  const { destination, sshConfig, name } = host;
  const { loginPath } = hostPlaces(socketPath, name);
  prepareSocketPath(loginPath);
  // The host is away for another reason: a second connection could not listen there, and would stay for good.
  if (await hasLogin({ loginPath, env: call.io.env })) return 0;
  const args = loginArguments({ destination, configFile: sshConfig ?? undefined }, loginPath);
  return inForeground(call.io, { program: "ssh", args, env: call.io.env });
}

function optionsOf({ options, positionals: [action] }: CommandCall): object {
  const given = ADD_OPTIONS.flatMap(({ name, type }) => {
    const value = type === "flag" ? options.flag(name) || undefined : options.text(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  if (given.length > 0 && action !== "add") throw invalidArgument(`--${given[0]![0]} belongs to \`hosts add\``);
  const { "ssh-config": sshConfig, ...rest } = Object.fromEntries(given) as Readonly<Record<string, unknown>>;
  return { ...rest, ...(sshConfig === undefined ? {} : { sshConfig }) };
}

/** `build: connected, 14 ms, tmux 3.5a, 3 servers, 9 agents`. */
function line({ name, state, sinceUnixMs, why, roundTripMs, tmuxVersion, servers, agents }: NativeCheckedHost): string {
  const words =
    state === "connected"
      ? [
          roundTripMs === null ? "does not respond" : `${roundTripMs} ms`,
          `tmux ${tmuxVersion ?? "unknown"}`,
          ...(servers === null ? [] : [counted(servers, "server")]),
          ...(agents === null ? [] : [counted(agents, "agent")]),
        ]
      : [`since ${timeText(sinceUnixMs)}`, ...(why === null ? [] : [why])];
  return printable(`${name}: ${[state, ...words].join(", ")}`);
}

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`;
