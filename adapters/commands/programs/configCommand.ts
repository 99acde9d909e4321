/** `tmuxwire config`: every setting, its value, and where that came from. */
import type { SettingReport } from "../../../daemon/ops/settings.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { CONFIG_OPTIONS, configurationOf } from "../connection/configuration.ts";
import { JSON_OPTION } from "../../cli/jsonOutput.ts";
import { printable, table } from "../../cli/textTable.ts";

export const configCommand: CommandSpec = {
  name: "config",
  summary: "show each setting and where its value comes from",
  details: [
    "Flags override the environment, which overrides the configuration file ($XDG_CONFIG_HOME/tmuxwire/config.json, or " +
      "~/.config/tmuxwire/config.json), which overrides the defaults. Secrets are shown only as set or not set. A value that " +
      "is not usable is shown with what it must be; it stops only the part that needs it.",
  ],
  positionals: [],
  options: [...CONFIG_OPTIONS, JSON_OPTION],
  examples: [
    { line: "tmuxwire config", does: "what `tmuxwire serve` would use" },
    { line: "TMUXWIRE_PORT=8000 tmuxwire config --json", does: "the same for a program to read" },
  ],
  run: async ({ io, options }: CommandCall): Promise<number> => {
    const { settings } = configurationOf(io, options);
    if (options.flag("json")) {
      await io.out(`${JSON.stringify({ settings: settings.map(jsonRow) }, undefined, 2)}\n`);
      return 0;
    }
    const rows = settings.map((setting) => [
      setting.key,
      setting.problem === undefined ? shown(setting.value) : "(not usable)",
      origin(setting),
    ]);
    await io.out(table(["SETTING", "VALUE", "FROM"], rows));
    return 0;
  },
};

const jsonRow = ({ key, value, source, from, problem }: SettingReport) => ({
  key,
  value: value ?? null,
  source,
  from: from ?? null,
  ...(problem === undefined ? {} : { problem }),
});

const origin = ({ source, from, problem }: SettingReport): string =>
  printable(problem ?? (from === undefined ? source : `${source}: ${from}`));

function shown(value: unknown): string {
  if (value === undefined) return "(not set)";
  if (typeof value === "string") return printable(value);
  if (Array.isArray(value)) return value.length === 0 ? "(none)" : value.map((item) => shown(item)).join(", ");
  if (isGuest(value)) return printable(`${value.name}=${value.socketPath}`);
  return JSON.stringify(value);
}

const isGuest = (value: unknown): value is { name: string; socketPath: string } =>
  typeof value === "object" && value !== null && "name" in value && "socketPath" in value;
