/** The team contract's settings: where the teams' tmux servers are, what a worker is, and where teamd keeps its teams. */
import { join } from "node:path";
import * as v from "valibot";
import type { ConfigInputs, DaemonConfig } from "../../daemon/ops/daemonConfig.ts";
import { pathSetting, textList, wholeNumber } from "../../daemon/ops/settingSchemas.ts";
import type { SettingReader } from "../../daemon/ops/settings.ts";

export interface TeamConfig {
  /** Asked for by name, or configured: write `daemon.json`, which lies in pi's own folder. */
  readonly announcesToPi: boolean;
  /** A team's tmux socket is `ROOT/TEAM/tmux.sock`; `daemon.json` is beside the teams' directories. */
  readonly rootDir: string;
  readonly workerArgv: readonly string[];
  /** Variables of the daemon's environment that workers get in addition to those of every pane. */
  readonly passEnvironment: readonly string[];
  readonly readyTimeoutMs: number;
  /** The default directory of workers, under which teamd keeps its teams. */
  readonly homeDir: string;
}

const DEFAULT_WORKER_ARGV = ["pi"] as const;
/** A cold pi on a busy machine draws its first screen within a few seconds. */
const DEFAULT_READY_TIMEOUT_MS = 30_000;

/** @throws AppError CONFIGURATION_INVALID */
export function readTeam(
  settings: SettingReader,
  inputs: Pick<ConfigInputs, "cwd" | "homeDir">,
  { wanted }: Pick<DaemonConfig, "wanted">,
): TeamConfig {
  const config = {
    rootDir: settings.read({
      key: "team.dir",
      variable: "TMUXWIRE_TEAM_DIR",
      ...pathSetting(inputs),
      fallback: join(inputs.homeDir, ".pi", "agent", "tmux"),
    }),
    workerArgv: settings.read<readonly string[]>({
      key: "team.workerArgv",
      variable: "PI_TEAM_WORKER_ARGV",
      schema: argv,
      expected: 'a program and its arguments as a JSON array, such as ["pi"]',
      fallback: DEFAULT_WORKER_ARGV,
    }),
    passEnvironment: settings.read<readonly string[]>({
      key: "team.passEnvironment",
      variable: "TMUXWIRE_TEAM_PASS_ENV",
      schema: v.pipe(textList, v.everyItem(isPassable)),
      expected: "comma-separated names of variables, none of them PI_TEAMD_…",
      fallback: [],
    }),
    readyTimeoutMs: settings.read({
      key: "team.readyTimeoutMs",
      variable: "TMUXWIRE_TEAM_READY_TIMEOUT_MS",
      schema: v.pipe(wholeNumber, v.minValue(1_000), v.maxValue(600_000)),
      expected: "milliseconds from 1000 to 600000",
      fallback: DEFAULT_READY_TIMEOUT_MS,
    }),
    homeDir: inputs.homeDir,
  };
  return { ...config, announcesToPi: wanted.has("team") || settings.isConfigured("team.", /^TMUXWIRE_TEAM_/) };
}

/** teamd's own variables are never passed on. */
const isPassable = (name: string): boolean => /^(?!PI_TEAMD_)[A-Za-z_][A-Za-z0-9_]*$/.test(name);

const argv = v.pipe(
  v.union([v.array(v.string()), v.pipe(v.string(), v.trim(), v.parseJson(), v.array(v.string()))]),
  v.minLength(1),
  v.maxLength(256),
  v.check((words) => words[0] !== "" && words.every((word) => !word.includes("\0"))),
);
