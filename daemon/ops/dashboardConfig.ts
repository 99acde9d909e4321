/** The dashboard's settings: where it listens, whose panes it answers, and how (docs/dashboard.md). */
import { join } from "node:path";
import * as v from "valibot";
import { guestSocketPath } from "../server/guestSocket.ts";
import type { GuestConfig, NativeConfigInputs } from "./nativeConfig.ts";
import { runtimePaths } from "./runtimePaths.ts";
import {
  absolutePath,
  hostName,
  isOrigin,
  lowerCase,
  pathSchema,
  portNumber,
  textList,
  wholeNumber,
} from "./settingSchemas.ts";
import type { SettingInputs, SettingReader } from "./settings.ts";

export interface DashboardConfig {
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
  /** Of browser pages besides its own that may use it. */
  readonly allowedOrigins: readonly string[];
  /** The user's tmux server. */
  readonly tmuxSocketPath: string;
  readonly databasePath: string;
  readonly hooksEnabled: boolean;
  readonly registersProjects: boolean;
  readonly availability: "exists" | "command" | "process_tree";
  readonly agentPrograms: readonly string[];
  readonly clearFirst: boolean;
  readonly gapMs: number | undefined;
}

export interface DashboardConfigInputs extends NativeConfigInputs {
  readonly options: SettingInputs["options"];
}

export const DEFAULT_DASHBOARD_PORT = 5_055;
export const DEFAULT_AGENT_PROGRAMS = ["claude", "node", "codex", "gemini", "opencode", "pi"] as const;
/** The guest that is the user's own server, when several are configured. */
const USER_SERVER_NAME = "user";

/** @param guests as the native API has them. @throws AppError CONFIGURATION_INVALID */
export function readDashboard(
  settings: SettingReader,
  inputs: DashboardConfigInputs,
  guests: readonly GuestConfig[],
): DashboardConfig {
  const path = pathSchema(inputs);
  const { stateDir } = runtimePaths(inputs.env, inputs.homeDir);
  const onlyThis = inputs.options["only"] === "dashboard";
  // The contract's names belong to the add-in, too; alone the dashboard may have them.
  const variable = (own: string, shared: string): string =>
    onlyThis && (inputs.env[own] ?? "").trim() === "" && (inputs.env[shared] ?? "").trim() !== "" ? shared : own;
  const yes = (key: string, name: string, fallback: boolean): boolean =>
    settings.read({ key, variable: name, schema: yesOrNo, expected: "1, true, 0 or false", fallback });
  return {
    host: settings.read({
      key: "dashboard.host",
      flag: "dashboard-host",
      variable: variable("TMUXWIRE_DASHBOARD_HOST", "HOST"),
      schema: hostName,
      expected: "a host name or address, without scheme, port or brackets",
      fallback: "127.0.0.1",
    }),
    port: settings.read({
      key: "dashboard.port",
      flag: "dashboard-port",
      variable: variable("TMUXWIRE_DASHBOARD_PORT", "PORT"),
      schema: portNumber,
      expected: "a whole number from 0 to 65535",
      fallback: DEFAULT_DASHBOARD_PORT,
    }),
    // No flag: a command line is visible to everyone on the machine.
    token: settings.read<string | undefined>({
      key: "dashboard.token",
      variable: "TMUXWIRE_DASHBOARD_TOKEN",
      // It travels in a header.
      schema: v.pipe(v.string(), v.trim(), v.regex(/^[\x20-\x7e]+$/)),
      expected: "text that is not blank, of plain ASCII characters",
      fallback: undefined,
      secret: true,
    }),
    allowedOrigins: settings.read<readonly string[]>({
      key: "dashboard.allowedOrigins",
      variable: "TMUXWIRE_DASHBOARD_ORIGINS",
      schema: v.pipe(textList, v.everyItem(isOrigin)),
      expected: "origins as a browser sends them, scheme://host[:port] in lower case without a path, comma between",
      fallback: [],
    }),
    tmuxSocketPath: settings.read({
      key: "dashboard.tmuxSocketPath",
      flag: "dashboard-tmux-socket",
      variable: "TMUXWIRE_DASHBOARD_TMUX_SOCKET",
      schema: socketPath(inputs),
      expected: "a path, or default for tmux's own",
      fallback: userSocket(inputs, guests),
    }),
    databasePath: settings.read({
      key: "dashboard.database",
      flag: "dashboard-database",
      variable: "TMUXWIRE_DASHBOARD_DATABASE",
      schema: path,
      expected: "a path",
      fallback: join(stateDir, "dashboard.db"),
    }),
    hooksEnabled: yes("dashboard.hooksEnabled", "TMUXWIRE_DASHBOARD_HOOKS", true),
    registersProjects: yes("dashboard.registersProjects", "TMUXWIRE_DASHBOARD_REGISTERS_PROJECTS", true),
    availability: settings.read({
      key: "dashboard.availability",
      variable: "TMUXWIRE_DASHBOARD_AVAILABILITY",
      schema: v.pipe(lowerCase, v.picklist(["exists", "command", "process_tree"])),
      expected: "exists, command or process_tree",
      fallback: "process_tree" as const,
    }),
    agentPrograms: settings.read<readonly string[]>({
      key: "dashboard.agentPrograms",
      variable: "TMUXWIRE_DASHBOARD_AGENT_PROGRAMS",
      schema: v.pipe(textList, v.minLength(1)),
      expected: "names of programs, comma between",
      fallback: DEFAULT_AGENT_PROGRAMS,
    }),
    clearFirst: yes("dashboard.clearFirst", "TMUXWIRE_DASHBOARD_CLEAR_FIRST", false),
    gapMs: settings.read<number | undefined>({
      key: "dashboard.gapMs",
      variable: "TMUXWIRE_DASHBOARD_GAP_MS",
      schema: v.pipe(wholeNumber, v.minValue(0), v.maxValue(5_000)),
      expected: "milliseconds from 0 to 5000",
      fallback: undefined,
    }),
  };
}

const yesOrNo = v.union([
  v.boolean(),
  v.pipe(
    lowerCase,
    v.picklist(["1", "true", "0", "false"]),
    v.transform((text) => text === "1" || text === "true"),
  ),
]);

const socketPath = (inputs: DashboardConfigInputs) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.nonEmpty(),
    v.transform((path) => (path === "default" ? defaultSocket(inputs) : absolutePath(inputs, path))),
  );

const defaultSocket = ({ env, uid }: DashboardConfigInputs): string => guestSocketPath(env, uid ?? 0);

/** The guest that is called so, or the only one there is, else the server that `tmux` itself reaches. */
function userSocket(inputs: DashboardConfigInputs, guests: readonly GuestConfig[]): string {
  const named = guests.find(({ name }) => name === USER_SERVER_NAME) ?? (guests.length === 1 ? guests[0] : undefined);
  return named?.socketPath ?? defaultSocket(inputs);
}
