/** The daemon's configuration as this process sees it: its flags, its environment, its file. */
import {
  type ConfigInputs,
  DAEMON_FLAGS,
  type DaemonConfig,
  readDaemon,
  ENABLED_KEY,
} from "../../../daemon/ops/daemonConfig.ts";
import { type FlagSpec, SettingReader, type SettingReport } from "../../../daemon/ops/settings.ts";
import { AppError } from "../../../protocol/errors.ts";
import { ADAPTER_NAMES, type AdapterConfigs, type AdapterName, ADAPTERS, OPT_IN_NAMES } from "../../adapters.ts";
import type { OptionSpec, OptionValues } from "../../cli/commandTypes.ts";
import type { Io } from "../../cli/cliIo.ts";
import { readConfigFile } from "./configFile.ts";

/** Reading an adapter's settings throws when they are not usable, so only code that needs them fails. */
export interface Config extends AdapterConfigs {
  readonly daemon: DaemonConfig;
  readonly problems: ReadonlyMap<AdapterName, AppError>;
  /** Why plain `serve` leaves an adapter out; undefined when it does not. */
  offBecause(name: AdapterName): string | undefined;
  /** What `tmuxwire config` shows. */
  readonly settings: readonly SettingReport[];
}

const optionOf = ({ negates: _negates, ...flag }: FlagSpec): OptionSpec => flag;

/** The flags of some adapters, and the daemon's own. */
export const optionsOf = (adapters: readonly { readonly flags: readonly FlagSpec[] }[]): readonly OptionSpec[] =>
  [...adapters.flatMap(({ flags }) => flags), ...DAEMON_FLAGS].map(optionOf);

export const CONFIG_OPTIONS = optionsOf(ADAPTERS);

/**
 * @throws AppError CONFIGURATION_INVALID with one line that names the setting and says what it must be: for the daemon's own
 * settings here, for an adapter's when they are read from the result.
 */
export function loadConfig(inputs: ConfigInputs): Config {
  const settings = new SettingReader(inputs);
  const daemon = readDaemon(settings, inputs);
  const parts = new Map(
    ADAPTERS.map((adapter) => [adapter.name, settings.part(() => adapter.readConfig(settings, inputs, daemon))]),
  );
  settings.requireFileUnderstood();
  const unknown = [...daemon.wanted].find((name) => !(ADAPTER_NAMES as readonly string[]).includes(name));
  if (unknown !== undefined) {
    const names = OPT_IN_NAMES.join(", ");
    throw new AppError(
      "CONFIGURATION_INVALID",
      `${ENABLED_KEY} and --with take ${names}; "${unknown}" is none of them`,
    );
  }
  const problems = new Map(
    [...parts].flatMap(([name, { problem }]) => (problem === undefined ? [] : [[name, problem]])),
  );
  const config = {
    daemon,
    settings: settings.reports,
    problems,
    offBecause: (name: AdapterName) =>
      ADAPTERS.find((adapter) => adapter.name === name)?.offBecause?.(parts.get(name)?.values),
  };
  for (const [name, { values, problem }] of parts) {
    const get = (): unknown => {
      if (problem !== undefined) throw problem;
      return values;
    };
    Object.defineProperty(config, name, { get, enumerable: problem === undefined });
  }
  return config as unknown as Config;
}

/** @throws AppError CONFIGURATION_INVALID */
export function configurationOf(io: Io, options: OptionValues, defaults: ConfigInputs["defaults"] = "service"): Config {
  return loadConfig({
    options: options.all,
    env: io.env,
    file: readConfigFile(io.env, io.homeDir),
    cwd: io.cwd,
    homeDir: io.homeDir,
    tmpDir: io.tmpDir,
    platform: io.platform,
    uid: process.getuid?.(),
    defaults,
  });
}
