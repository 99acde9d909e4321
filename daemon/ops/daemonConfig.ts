/**
 * The settings of the daemon itself: guest servers, which users may use listeners without a token, how much output it keeps,
 * what it logs. Each client's settings belong to its adapter. A pure function of its inputs: nothing here reads the process's
 * environment or the disk.
 */
import * as v from "valibot";
import { DEFAULT_RING_BYTES } from "../../protocol/limits.ts";
import { reachedTmuxSocket } from "./runtimePaths.ts";
import { LOG_LEVELS, type LogLevel } from "./log.ts";
import { absolutePath, lowerCase, textList, wholeNumber, YES_OR_NO } from "./settingSchemas.ts";
import type { FlagSpec, SettingInputs, SettingReader } from "./settings.ts";

export interface ConfigInputs extends SettingInputs {
  readonly cwd: string;
  readonly homeDir: string;
  readonly tmpDir: string;
  readonly platform: NodeJS.Platform;
  /** Part of the path of tmux's default socket; on systems without uids, `default` is refused. */
  readonly uid?: number | undefined;
  /** `service` for the installed commands; `raw` for an adapter's bare script with development defaults. */
  readonly defaults: "service" | "raw";
}

/** One of the user's own tmux servers. */
export interface GuestConfig {
  /** Its name in the API's paths. */
  readonly name: string;
  readonly socketPath: string;
}

/** `any`: every user of this machine. */
export type AllowedUids = ReadonlySet<number> | "any";

export interface DaemonConfig {
  readonly guests: readonly GuestConfig[];
  /** For the listeners that have no token. */
  readonly allowUids: AllowedUids;
  /** Adapters named by `--with` or `--only`, for those that start only then. */
  readonly wanted: ReadonlySet<string>;
  /** Output kept per pane. */
  readonly ringBytes: number;
  readonly logLevel: LogLevel;
  /** Whether the shells of our own servers mark their commands. */
  readonly shellMarks: boolean;
}

/** The native API's name for the owned server. */
export const OWN_SERVER_NAME = "main";

const MIN_RING_BYTES = 65_536;
const MAX_RING_BYTES = 67_108_864;

const SERVER_FLAG: FlagSpec = {
  name: "server",
  type: "list",
  value: "NAME=PATH",
  description:
    "offer one of your tmux servers under this name: the path of its socket, or `default` for tmux's default socket",
  default: "TMUXWIRE_SERVERS, else none",
};
const ALLOW_UIDS_FLAG: FlagSpec = {
  name: "allow-uids",
  type: "text",
  value: "UIDS",
  description: "users besides you and root who may use listeners without a token: comma-separated uids, or `any`",
  default: "TMUXWIRE_ALLOW_UIDS, else none",
  complete: ["any"],
};
const RING_BYTES_FLAG: FlagSpec = {
  name: "ring-bytes",
  type: "text",
  value: "BYTES",
  description: "output kept for each pane, so that readers can resume",
  default: `TMUXWIRE_RING_BYTES, else ${DEFAULT_RING_BYTES}`,
};
const LOG_LEVEL_FLAG: FlagSpec = {
  name: "log-level",
  type: "text",
  value: "LEVEL",
  description: "lowest level logged: trace, debug, info, warn or error",
  default: "TMUXWIRE_LOG_LEVEL, else info",
  complete: LOG_LEVELS,
};
const NO_SHELL_MARKS_FLAG: FlagSpec = {
  name: "no-shell-marks",
  type: "flag",
  description: "do not have the shells of tmuxwire's own tmux servers mark their commands (OSC 133)",
  negates: true,
};
/** The setting that `tmuxwire enable` writes; `--with` adds to it. */
export const ENABLED_KEY = "serve.enabled";
const WITH_FLAG: FlagSpec = {
  name: "with",
  type: "list",
  value: "NAMES",
  description: "also serve these optional parts: addin, team (comma-separated)",
  default: "TMUXWIRE_WITH, and those enabled with `tmuxwire enable`",
};
/** For every daemon, whatever it serves. */
export const DAEMON_FLAGS = [WITH_FLAG, ALLOW_UIDS_FLAG, RING_BYTES_FLAG, LOG_LEVEL_FLAG, NO_SHELL_MARKS_FLAG];
/** For a daemon that offers servers by name. */
export const SERVER_FLAGS = [SERVER_FLAG];

/** @throws AppError CONFIGURATION_INVALID with one line that names the setting and says what it must be. */
export function readDaemon(settings: SettingReader, inputs: ConfigInputs): DaemonConfig {
  const allowUids = settings.read<readonly number[] | "any">({
    key: "listeners.allowUids",
    flags: [ALLOW_UIDS_FLAG],
    variable: "TMUXWIRE_ALLOW_UIDS",
    schema: v.union([anybody, v.pipe(v.array(v.number()), v.everyItem(isUid)), writtenUids]),
    expected: 'comma-separated uids, as `id -u` prints them, or "any" for every user of this machine',
    fallback: [],
  });
  const namesOf = (key: string, more: { readonly flags?: readonly FlagSpec[]; readonly variable?: string }) =>
    settings.read<readonly string[]>({
      key,
      ...more,
      schema: names,
      expected: "comma-separated names, such as addin,team",
      fallback: [],
    });
  const named = [
    ...namesOf(ENABLED_KEY, {}),
    ...namesOf("serve.with", { flags: [WITH_FLAG], variable: "TMUXWIRE_WITH" }),
  ];
  const only = inputs.options["only"];
  return {
    wanted: new Set([...named, ...(typeof only === "string" ? only.split(",").map((name) => name.trim()) : [])]),
    allowUids: allowUids === "any" ? "any" : new Set(allowUids),
    guests: settings.read<readonly GuestConfig[]>({
      key: "native.servers",
      flags: [SERVER_FLAG],
      variable: "TMUXWIRE_SERVERS",
      schema: guests(inputs),
      expected:
        "NAME=SOCKET_PATH or NAME=default, comma-separated; a name is up to 32 characters of a-z, 0-9, - and _, " +
        `used only once, and not ${OWN_SERVER_NAME}`,
      fallback: [],
    }),
    ringBytes: settings.read({
      key: "output.ringBytes",
      flags: [RING_BYTES_FLAG],
      variable: "TMUXWIRE_RING_BYTES",
      schema: v.pipe(wholeNumber, v.minValue(MIN_RING_BYTES), v.maxValue(MAX_RING_BYTES)),
      expected: `bytes from ${MIN_RING_BYTES} to ${MAX_RING_BYTES}`,
      fallback: DEFAULT_RING_BYTES,
    }),
    logLevel: settings.read<LogLevel>({
      key: "log.level",
      flags: [LOG_LEVEL_FLAG],
      variable: "TMUXWIRE_LOG_LEVEL",
      schema: v.pipe(lowerCase, v.picklist(LOG_LEVELS)),
      expected: `one of ${LOG_LEVELS.join(", ")}`,
      fallback: "info",
    }),
    shellMarks: settings.read<boolean>({
      key: "shell.marks",
      flags: [NO_SHELL_MARKS_FLAG],
      variable: "TMUXWIRE_SHELL_MARKS",
      ...YES_OR_NO,
      fallback: true,
    }),
  };
}

/** The largest valid user id. */
const MAX_UID = 4_294_967_294;

const isUid = (uid: number): boolean => Number.isInteger(uid) && uid >= 0 && uid <= MAX_UID;

const names = v.pipe(
  textList,
  // A flag given twice is a list of lists.
  v.transform((list) => list.flatMap((text) => text.split(",").map((name) => name.trim()))),
  v.everyItem((name) => /^[a-z]+$/.test(name)),
);

const anybody = v.pipe(lowerCase, v.literal("any"));

const writtenUids = v.pipe(
  textList,
  v.everyItem((text) => /^\d{1,10}$/.test(text)),
  v.transform((list) => list.map(Number)),
  v.everyItem(isUid),
);

const GUEST_NAME = /^[a-z0-9][a-z0-9_-]{0,31}$/;

const guests = ({ env, uid, ...base }: ConfigInputs) =>
  v.pipe(
    textList,
    v.transform((list) => list.map((text) => guestOf(text))),
    v.everyItem(({ name, socketPath }) => GUEST_NAME.test(name) && name !== OWN_SERVER_NAME && socketPath !== ""),
    v.check((list) => new Set(list.map((guest) => guest.name)).size === list.length),
    v.check((list) => uid !== undefined || list.every((guest) => guest.socketPath !== "default")),
    v.transform((list): readonly GuestConfig[] =>
      list.map(({ name, socketPath }) => {
        if (socketPath === "default") return { name, socketPath: reachedTmuxSocket(env, uid ?? 0) };
        return { name, socketPath: absolutePath(base, socketPath) };
      }),
    ),
  );

function guestOf(text: string): GuestConfig {
  const at = text.indexOf("=");
  return at === -1 ? { name: text, socketPath: "" } : { name: text.slice(0, at), socketPath: text.slice(at + 1) };
}
