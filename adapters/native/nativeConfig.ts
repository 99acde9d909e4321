/** The native API's settings: where it listens, its token file, and the socket of its own tmux server. */
import * as v from "valibot";
import { matches } from "../../protocol/api/parse.ts";
import { runtimePaths } from "../../daemon/ops/runtimePaths.ts";
import { HOST, hostName, ORIGINS, pathSetting, PORT, textList, YES_OR_NO } from "../../daemon/ops/settingSchemas.ts";
import {
  type FlagSpec,
  hostFlag,
  pathFlag,
  portFlag,
  type SettingInputs,
  SettingReader,
} from "../../daemon/ops/settings.ts";

export interface NativeConfig {
  readonly host: string;
  readonly port: number;
  /** The unix socket. */
  readonly socketPath: string;
  readonly tokenPath: string;
  /** The socket of its owned tmux server. */
  readonly tmuxSocketPath: string;
  /** Origins of browser pages that may use the API, with the token. */
  readonly allowedOrigins: readonly string[];
  /** Whether the user's own tmux is offered as `default`. */
  readonly offersDefault: boolean;
  /** Host names that other machines may use, with the token; none: this machine only. */
  readonly allowedHosts: readonly string[];
}

interface NativeConfigInputs extends Pick<SettingInputs, "env"> {
  readonly cwd: string;
  readonly homeDir: string;
}

const DEFAULT_PORT = 7_420;

const FLAGS = {
  host: hostFlag("host", "the native API's", "TMUXWIRE_HOST, else 127.0.0.1"),
  allowHosts: {
    name: "allow-hosts",
    type: "text",
    value: "HOSTS",
    description: "host names under which other machines may use the native API, with its token; comma-separated",
    default: "TMUXWIRE_ALLOWED_HOSTS, else none: this machine only",
  },
  port: portFlag("port", "the native API's", `TMUXWIRE_PORT, else ${DEFAULT_PORT}`),
  socket: pathFlag(
    "socket",
    "unix socket of the native API",
    "TMUXWIRE_SOCKET, else $XDG_RUNTIME_DIR/tmuxwire/tmuxwire.sock",
  ),
  tokenFile: pathFlag(
    "token-file",
    "file with the native API's token, created on first start",
    "TMUXWIRE_TOKEN_FILE, else ~/.local/state/tmuxwire/token",
  ),
  noDefault: {
    name: "no-default-server",
    type: "flag",
    description: "do not open your own tmux when a request names the server `default`",
    negates: true,
  },
  tmuxSocket: pathFlag(
    "tmux-socket",
    "socket of the native API's own tmux server",
    "TMUXWIRE_TMUX_SOCKET, else $XDG_RUNTIME_DIR/tmuxwire/tmux.sock",
  ),
} satisfies Record<string, FlagSpec>;
export const NATIVE_FLAGS: readonly FlagSpec[] = Object.values(FLAGS);

/** The settings' names in messages. */
export const NATIVE_SETTINGS = {
  host: "--host or TMUXWIRE_HOST",
  port: "--port or TMUXWIRE_PORT",
  others: "--allow-hosts or TMUXWIRE_ALLOWED_HOSTS",
  socket: "--socket or TMUXWIRE_SOCKET",
  tmuxSocket: "--tmux-socket or TMUXWIRE_TMUX_SOCKET",
} as const;

/** @throws AppError CONFIGURATION_INVALID */
export function readNative(settings: SettingReader, inputs: NativeConfigInputs): NativeConfig {
  const path = pathSetting(inputs);
  const paths = runtimePaths(inputs.env, inputs.homeDir);
  const readPath = (key: string, flag: FlagSpec, variable: string, fallback: string): string =>
    settings.read({ key, flags: [flag], variable, ...path, fallback });
  return {
    host: settings.read({
      key: "native.host",
      flags: [FLAGS.host],
      variable: "TMUXWIRE_HOST",
      ...HOST,
      fallback: "127.0.0.1",
    }),
    port: settings.read({
      key: "native.port",
      flags: [FLAGS.port],
      variable: "TMUXWIRE_PORT",
      ...PORT,
      fallback: DEFAULT_PORT,
    }),
    socketPath: readPath("native.socketPath", FLAGS.socket, "TMUXWIRE_SOCKET", paths.socketPath),
    tokenPath: readPath("native.tokenFile", FLAGS.tokenFile, "TMUXWIRE_TOKEN_FILE", paths.tokenPath),
    tmuxSocketPath: readPath("native.tmuxSocketPath", FLAGS.tmuxSocket, "TMUXWIRE_TMUX_SOCKET", paths.tmuxSocketPath),
    offersDefault: settings.read<boolean>({
      key: "native.default",
      flags: [FLAGS.noDefault],
      variable: "TMUXWIRE_DEFAULT_SERVER",
      ...YES_OR_NO,
      expected: "true or false",
      fallback: true,
    }),
    allowedOrigins: settings.read<readonly string[]>({
      key: "native.allowedOrigins",
      variable: "TMUXWIRE_ALLOWED_ORIGINS",
      ...ORIGINS,
      fallback: [],
    }),
    allowedHosts: settings.read<readonly string[]>({
      key: "native.allowedHosts",
      flags: [FLAGS.allowHosts],
      variable: "TMUXWIRE_ALLOWED_HOSTS",
      schema: v.pipe(
        textList,
        v.everyItem((text) => matches(hostName, text)),
        v.transform((list) => list.map((text) => text.toLowerCase())),
      ),
      expected: "host names or addresses without scheme, port or brackets, comma-separated",
      fallback: [],
    }),
  };
}

/** For a client of the API; ignores invalid settings of other parts. @throws AppError CONFIGURATION_INVALID */
export function loadNativeConfig(inputs: NativeConfigInputs & SettingInputs): NativeConfig {
  return readNative(new SettingReader(inputs), inputs);
}
