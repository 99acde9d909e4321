/** The dashboard's settings: where it listens, which server's agents it answers, and how (docs/dashboard.md). */
import { join } from "node:path";
import * as v from "valibot";
import type { ConfigInputs, GuestConfig } from "../../daemon/ops/daemonConfig.ts";
import { reachedTmuxSocket, runtimePaths } from "../../daemon/ops/runtimePaths.ts";
import {
  absolutePath,
  HOST,
  lowerCase,
  ORIGINS,
  pathSetting,
  PORT,
  textList,
  wholeNumber,
  YES_OR_NO,
} from "../../daemon/ops/settingSchemas.ts";
import { type FlagSpec, hostFlag, pathFlag, portFlag, type SettingReader } from "../../daemon/ops/settings.ts";

export interface DashboardConfig {
  readonly host: string;
  readonly port: number;
  readonly token: string | undefined;
  /** Origins of browser pages besides its own that may use it. */
  readonly allowedOrigins: readonly string[];
  /** The user's tmux server. */
  readonly tmuxSocketPath: string;
  readonly databasePath: string;
  readonly hooksEnabled: boolean;
  /** A hook from a live pane in an unregistered directory makes it a project. */
  readonly registersProjects: boolean;
  readonly availability: "exists" | "command" | "process_tree";
  /** Undefined: those of the catalogue, and `node`, which runs some. */
  readonly agentPrograms: readonly string[] | undefined;
  /** Empties the prompt box before an answer; never while a dialog is open. */
  readonly clearFirst: boolean;
  /** Least time between an answer's text and Enter, instead of the program's own. */
  readonly gapMs: number | undefined;
}

type DashboardConfigInputs = Pick<ConfigInputs, "env" | "options" | "cwd" | "homeDir" | "uid">;

const DEFAULT_PORT = 5_055;
/** The guest that is the user's own server, when several are configured. */
const USER_SERVER_NAME = "user";

const FLAGS = {
  host: hostFlag("dashboard-host", "the dashboard's", "TMUXWIRE_DASHBOARD_HOST, else 127.0.0.1"),
  port: portFlag("dashboard-port", "the dashboard's", `TMUXWIRE_DASHBOARD_PORT, else ${DEFAULT_PORT}`),
  tmuxSocket: pathFlag(
    "dashboard-tmux-socket",
    "socket of the tmux server whose agents the dashboard shows, or `default` for tmux's own",
    "TMUXWIRE_DASHBOARD_TMUX_SOCKET, else the --server called user, or the only one, else tmux's own",
  ),
  database: pathFlag(
    "dashboard-database",
    "the dashboard's database",
    "TMUXWIRE_DASHBOARD_DATABASE, else ~/.local/state/tmuxwire/dashboard.db",
  ),
} satisfies Record<string, FlagSpec>;
export const DASHBOARD_FLAGS: readonly FlagSpec[] = Object.values(FLAGS);

/** As messages name them. */
export const DASHBOARD_SETTINGS = {
  host: "--dashboard-host",
  port: "--dashboard-port or TMUXWIRE_DASHBOARD_PORT",
  token: "TMUXWIRE_DASHBOARD_TOKEN",
  database: "--dashboard-database or TMUXWIRE_DASHBOARD_DATABASE",
} as const;

/** @throws AppError CONFIGURATION_INVALID */
export function readDashboard(
  settings: SettingReader,
  inputs: DashboardConfigInputs,
  guests: readonly GuestConfig[],
): DashboardConfig {
  const path = pathSetting(inputs);
  const { stateDir } = runtimePaths(inputs.env, inputs.homeDir);
  const variable = (own: string, shared: string): string => settings.variableOf("dashboard", own, shared);
  const yes = (key: string, name: string, fallback: boolean): boolean =>
    settings.read({ key, variable: name, ...YES_OR_NO, fallback });
  return {
    host: settings.read({
      key: "dashboard.host",
      flags: [FLAGS.host],
      variable: variable("TMUXWIRE_DASHBOARD_HOST", "HOST"),
      ...HOST,
      fallback: "127.0.0.1",
    }),
    port: settings.read({
      key: "dashboard.port",
      flags: [FLAGS.port],
      variable: variable("TMUXWIRE_DASHBOARD_PORT", "PORT"),
      ...PORT,
      fallback: DEFAULT_PORT,
    }),
    // No flag: a command line is visible to everyone on the machine.
    token: settings.read<string | undefined>({
      key: "dashboard.token",
      variable: "TMUXWIRE_DASHBOARD_TOKEN",
      // It is sent in a header.
      schema: v.pipe(v.string(), v.trim(), v.regex(/^[\x20-\x7e]+$/)),
      expected: "text that is not blank, of plain ASCII characters",
      fallback: undefined,
      secret: true,
    }),
    allowedOrigins: settings.read<readonly string[]>({
      key: "dashboard.allowedOrigins",
      variable: "TMUXWIRE_DASHBOARD_ORIGINS",
      ...ORIGINS,
      fallback: [],
    }),
    tmuxSocketPath: settings.read({
      key: "dashboard.tmuxSocketPath",
      flags: [FLAGS.tmuxSocket],
      variable: "TMUXWIRE_DASHBOARD_TMUX_SOCKET",
      schema: socketPath(inputs),
      expected: "a path, or default for tmux's own",
      fallback: userSocket(inputs, guests),
    }),
    databasePath: settings.read({
      key: "dashboard.database",
      flags: [FLAGS.database],
      variable: "TMUXWIRE_DASHBOARD_DATABASE",
      ...path,
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
    agentPrograms: settings.read<readonly string[] | undefined>({
      key: "dashboard.agentPrograms",
      variable: "TMUXWIRE_DASHBOARD_AGENT_PROGRAMS",
      schema: v.pipe(textList, v.minLength(1)),
      expected: "names of programs, comma between",
      fallback: undefined,
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

const socketPath = (inputs: DashboardConfigInputs) =>
  v.pipe(
    v.string(),
    v.trim(),
    v.nonEmpty(),
    v.transform((path) => (path === "default" ? defaultSocket(inputs) : absolutePath(inputs, path))),
  );

const defaultSocket = ({ env, uid }: DashboardConfigInputs): string => reachedTmuxSocket(env, uid ?? 0);

/** The guest of this name, or the only one, else the server that plain `tmux` reaches. */
function userSocket(inputs: DashboardConfigInputs, guests: readonly GuestConfig[]): string {
  const named = guests.find(({ name }) => name === USER_SERVER_NAME) ?? (guests.length === 1 ? guests[0] : undefined);
  return named?.socketPath ?? defaultSocket(inputs);
}
