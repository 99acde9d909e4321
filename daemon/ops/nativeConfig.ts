/** The native API's settings: where it listens, its token file, and the tmux servers behind it. */
import * as v from "valibot";
import { guestSocketPath } from "../server/guestSocket.ts";
import { runtimePaths } from "./runtimePaths.ts";
import { absolutePath, hostName, isOrigin, pathSchema, portNumber, textList } from "./settingSchemas.ts";
import type { SettingInputs } from "./settings.ts";
import { SettingReader } from "./settings.ts";

/** A tmux server that is not ours. */
export interface GuestConfig {
  /** Its name in the API's paths. */
  readonly name: string;
  readonly socketPath: string;
}

export interface NativeConfig {
  readonly host: string;
  readonly port: number;
  /** The unix socket. */
  readonly socketPath: string;
  readonly tokenPath: string;
  /** The socket of the tmux server of its own. */
  readonly tmuxSocketPath: string;
  readonly guests: readonly GuestConfig[];
  /** Of browser pages that may use the API, with the token. */
  readonly allowedOrigins: readonly string[];
  /** The names that other machines may reach it by, with the token; none: this machine alone is answered. */
  readonly allowedHosts: readonly string[];
}

export interface NativeConfigInputs {
  readonly env: SettingInputs["env"];
  readonly cwd: string;
  readonly homeDir: string;
  /** Names the directory of tmux's default socket; where there are no users, `default` is refused. */
  readonly uid?: number | undefined;
}

export const DEFAULT_NATIVE_PORT = 7_420;
/** What the API calls the server of its own. */
export const OWN_SERVER_NAME = "main";

/** @throws AppError CONFIGURATION_INVALID */
export function readNative(settings: SettingReader, inputs: NativeConfigInputs): NativeConfig {
  const path = pathSchema(inputs);
  const paths = runtimePaths(inputs.env, inputs.homeDir);
  const readPath = (key: string, flag: string, variable: string, fallback: string): string =>
    settings.read({ key, flag, variable, schema: path, expected: "a path", fallback });
  return {
    host: settings.read({
      key: "native.host",
      flag: "host",
      variable: "TMUXWIRE_HOST",
      schema: hostName,
      expected: "a host name or address, without scheme, port or brackets",
      fallback: "127.0.0.1",
    }),
    port: settings.read({
      key: "native.port",
      flag: "port",
      variable: "TMUXWIRE_PORT",
      schema: portNumber,
      expected: "a whole number from 0 to 65535",
      fallback: DEFAULT_NATIVE_PORT,
    }),
    socketPath: readPath("native.socketPath", "socket", "TMUXWIRE_SOCKET", paths.socketPath),
    tokenPath: readPath("native.tokenFile", "token-file", "TMUXWIRE_TOKEN_FILE", paths.tokenPath),
    tmuxSocketPath: readPath("native.tmuxSocketPath", "tmux-socket", "TMUXWIRE_TMUX_SOCKET", paths.tmuxSocketPath),
    guests: settings.read<readonly GuestConfig[]>({
      key: "native.servers",
      flag: "server",
      variable: "TMUXWIRE_SERVERS",
      schema: guests(inputs),
      expected:
        "NAME=SOCKET_PATH or NAME=default, a comma between several; a name is up to 32 of a-z, 0-9, - and _, " +
        `used once, and not ${OWN_SERVER_NAME}`,
      fallback: [],
    }),
    allowedOrigins: settings.read<readonly string[]>({
      key: "native.allowedOrigins",
      variable: "TMUXWIRE_ALLOWED_ORIGINS",
      schema: v.pipe(textList, v.everyItem(isOrigin)),
      expected: "origins as a browser sends them, scheme://host[:port] in lower case without a path, comma between",
      fallback: [],
    }),
    allowedHosts: settings.read<readonly string[]>({
      key: "native.allowedHosts",
      flag: "allow-hosts",
      variable: "TMUXWIRE_ALLOWED_HOSTS",
      schema: v.pipe(
        textList,
        v.everyItem((text) => v.is(hostName, text)),
        v.transform((list) => list.map((text) => text.toLowerCase())),
      ),
      expected: "host names or addresses, without scheme, port or brackets, comma between",
      fallback: [],
    }),
  };
}

const GUEST_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

const guests = ({ env, uid, ...base }: NativeConfigInputs) =>
  v.pipe(
    textList,
    v.transform((list) => list.map((text) => guestOf(text))),
    v.everyItem(({ name, socketPath }) => GUEST_NAME.test(name) && name !== OWN_SERVER_NAME && socketPath !== ""),
    v.check((list) => new Set(list.map((guest) => guest.name)).size === list.length),
    v.check((list) => uid !== undefined || list.every((guest) => guest.socketPath !== "default")),
    v.transform((list): readonly GuestConfig[] =>
      list.map(({ name, socketPath }) => {
        if (socketPath === "default") return { name, socketPath: guestSocketPath(env, uid ?? 0) };
        return { name, socketPath: absolutePath(base, socketPath) };
      }),
    ),
  );

function guestOf(text: string): GuestConfig {
  const at = text.indexOf("=");
  return at === -1 ? { name: text, socketPath: "" } : { name: text.slice(0, at), socketPath: text.slice(at + 1) };
}

/** Where a client of the API finds it; settings of other parts may be wrong then. @throws AppError CONFIGURATION_INVALID */
export function loadNativeConfig(inputs: NativeConfigInputs & SettingInputs): NativeConfig {
  return readNative(new SettingReader(inputs), inputs);
}
