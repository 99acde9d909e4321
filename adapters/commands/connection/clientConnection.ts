/**
 * How a client command connects to the daemon: over the unix socket unless a URL is given. The token comes from its file,
 * never from the command line, which every user of the machine can read.
 */
import { resolve } from "node:path";
import { OWN_SERVER_NAME } from "../../../daemon/ops/daemonConfig.ts";
import { defaultTmuxSocket } from "../../../daemon/ops/runtimePaths.ts";
import { readToken } from "../../../daemon/ops/tokenFile.ts";
import { invalidArgument } from "../../../protocol/errors.ts";
import { isPaneId } from "../../../protocol/ids.ts";
import type { Io } from "../../cli/cliIo.ts";
import { isLoopbackAddress } from "../../kit/peers/addresses.ts";
import { type ServerClient, createClient, type NativeServer } from "../../client/client.ts";
import { loadNativeConfig } from "../../native/nativeConfig.ts";
import type { CommandCall, OptionSpec } from "../../cli/commandTypes.ts";
import { JSON_OPTION } from "../../cli/jsonOutput.ts";
import { readConfigFile } from "./configFile.ts";
import { splitName } from "../../remote/hostNames.ts";
import { socketFetch } from "../../serving/socketFetch.ts";

/** The options of every client command. */
export const CLIENT_OPTIONS: readonly OptionSpec[] = [
  {
    name: "server",
    type: "text",
    value: "NAME",
    names: "server",
    description: "one of the daemon's tmux servers, or `default` for your own tmux",
    default: `TMUXWIRE_SERVER, else the tmux server you are inside of, else ${OWN_SERVER_NAME}`,
  },
  {
    name: "socket",
    type: "text",
    value: "PATH",
    description: "the daemon's unix socket",
    default: "TMUXWIRE_SOCKET, else that of `tmuxwire serve`",
    complete: "file",
  },
  {
    name: "url",
    type: "text",
    value: "URL",
    description: "connect to the daemon over http instead of its unix socket",
    default: "TMUXWIRE_URL",
  },
  {
    name: "token-file",
    type: "text",
    value: "PATH",
    description: "file with the token",
    default: "TMUXWIRE_TOKEN_FILE, else that of `tmuxwire serve`",
    complete: "file",
  },
  JSON_OPTION,
];

export interface DaemonAddress {
  /** Undefined: connect to the unix socket. */
  readonly url: string | undefined;
  readonly socketPath: string;
  readonly tokenPath: string;
  readonly token: string | undefined;
  /** The socket of its owned tmux server, from this process's settings. */
  readonly tmuxSocketPath: string;
}

/** The daemon's address and token. @throws AppError CONFIGURATION_INVALID, INVALID_ARGUMENT */
export async function daemonAddress({ io, options }: CommandCall): Promise<DaemonAddress> {
  const { env, cwd, homeDir } = io;
  const native = loadNativeConfig({
    options: { socket: options.text("socket"), "token-file": options.text("token-file") },
    env,
    file: readConfigFile(env, homeDir),
    cwd,
    homeDir,
  });
  const token = await readToken(native.tokenPath);
  const url = options.text("url") ?? given(env["TMUXWIRE_URL"]);
  const overSocket = url === undefined || options.text("socket") !== undefined;
  const { socketPath, tmuxSocketPath, tokenPath } = native;
  return { url: overSocket ? undefined : checkedUrl(url), socketPath, tmuxSocketPath, tokenPath, token };
}

/** The tmux server that the command is about. @throws AppError CONFIGURATION_INVALID, INVALID_ARGUMENT */
export async function connect(call: CommandCall): Promise<ServerClient> {
  const { client, here } = await place(call);
  return client.server(named(call) ?? (await here())?.server ?? OWN_SERVER_NAME);
}

/** `.` or no word: the pane this process runs in. @throws AppError INVALID_ARGUMENT */
export async function paneNamed(call: CommandCall, word: string | undefined): Promise<string> {
  if (word !== undefined && word !== ".") return word;
  const { here } = await place(call);
  const at = await here();
  const isMeant = at !== undefined && (named(call) ?? at.server) === at.server;
  if (isMeant && at.pane !== undefined) return at.pane;
  const why =
    at === undefined
      ? "you can leave it out only inside a tmux pane that the daemon reaches"
      : "this terminal's pane is on another server";
  throw invalidArgument(`missing PANE: ${why}`);
}

const named = ({ io, options }: CommandCall): string | undefined =>
  options.text("server") ?? given(io.env["TMUXWIRE_SERVER"]);

/**
 * Where a program starts by default: in the directory of this process, or in the home directory of the host whose server it is.
 * @param word as given @returns undefined: the host's home @throws AppError INVALID_ARGUMENT
 */
export function startDirectory(call: CommandCall, word: string | undefined, server = named(call)): string | undefined {
  const host = server === undefined ? undefined : splitName(server)?.host;
  if (host === undefined) return resolve(call.io.cwd, word ?? ".");
  if (word === undefined || word.startsWith("/")) return word;
  throw invalidArgument(`${JSON.stringify(word)} is a directory of ${host}: give its absolute path`);
}

/** The daemon's address, and the server and pane this terminal is in, looked up when needed. */
async function place(call: CommandCall) {
  const { url, socketPath, tmuxSocketPath, token } = await daemonAddress(call);
  const { env, signal } = call.io;
  const client =
    url === undefined
      ? createClient({ url: "http://localhost", token, fetch: socketFetch(socketPath) })
      : createClient({ url, token });
  const here = () =>
    // Our TMUX variable does not apply to a daemon on another machine.
    url?.startsWith("https:") === true
      ? Promise.resolve(undefined)
      : hereIn({
          env,
          ownSocketPath: tmuxSocketPath,
          uid: process.getuid?.(),
          list: () => client.servers({ signal }),
        });
  return { client, here };
}

const given = (text: string | undefined): string | undefined => (text === undefined || text === "" ? undefined : text);

/** The token must not cross a network unencrypted, nor be part of a URL. */
function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const bare = url !== undefined && url.username === "" && url.password === "" && url.search === "" && url.hash === "";
  const host = url?.hostname.replace(/^\[|\]$/g, "") ?? "";
  const isHere = host === "localhost" || isLoopbackAddress(host);
  if (url !== undefined && bare && (url.protocol === "https:" || (url.protocol === "http:" && isHere))) return url.href;
  throw invalidArgument(
    `${JSON.stringify(text)} is not a daemon URL: give http://127.0.0.1:PORT, or https for another machine`,
  );
}

interface Here {
  /** The daemon's name for the tmux server this process is inside of. */
  readonly server: string;
  readonly pane: string | undefined;
}

interface Whereabouts {
  readonly env: Io["env"];
  /** The socket of the daemon's own server. */
  readonly ownSocketPath: string;
  readonly uid: number | undefined;
  /** Lists the daemon's servers; called only when needed. */
  readonly list: () => Promise<readonly NativeServer[]>;
}

/**
 * Inside a tmux pane a command defaults to that server and pane. The server is the daemon's own, the user's own tmux
 * (`default`), or the one listed with that socket.
 * Undefined: not inside tmux, or on a server unknown to the daemon.
 */
export async function hereIn({ env, ownSocketPath, uid, list }: Whereabouts): Promise<Here | undefined> {
  const socketPath = /^(.+),\d+,\d+$/.exec(env["TMUX"] ?? "")?.[1];
  if (socketPath === undefined) return undefined;
  const paneId = env["TMUX_PANE"] ?? "";
  const pane = isPaneId(paneId) ? paneId : undefined;
  if (socketPath === ownSocketPath) return { server: OWN_SERVER_NAME, pane };
  // Another machine may have a server at the same path.
  const listed = (await list()).find(
    (server) => server.socketPath === socketPath && splitName(server.name) === undefined,
  );
  if (listed !== undefined) return { server: listed.name, pane };
  // The daemon opens it at the first request.
  return uid !== undefined && socketPath === defaultTmuxSocket(env, uid) ? { server: "default", pane } : undefined;
}
