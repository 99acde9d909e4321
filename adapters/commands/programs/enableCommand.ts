/** `tmuxwire enable` and `disable`: what plain `serve` starts in addition, kept in the configuration file. */
import { isFields, parseJson } from "../../../protocol/text/jsonObject.ts";
import { ENABLED_KEY } from "../../../daemon/ops/daemonConfig.ts";
import { AppError } from "../../../protocol/errors.ts";
import { OPT_IN_NAMES } from "../../adapters.ts";
import { replaceUserFile } from "../../hooks/userFiles.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { configFilePath, readConfigFile } from "../connection/configFile.ts";

const NEW_FILE_MODE = 0o600;
const NAME = {
  name: "NAME",
  description: "addin: the add-in's bridge; team: the file that tells the team's extension where the daemon is",
  choices: OPT_IN_NAMES,
};

const command = (name: "enable" | "disable", summary: string, does: string): CommandSpec => ({
  name,
  summary,
  details: ["Changes only this setting in the configuration file. Takes effect when the daemon next starts."],
  positionals: [NAME],
  options: [],
  examples: [{ line: `tmuxwire ${name} addin`, does }],
  run: async (call) => {
    const [one = ""] = call.positionals;
    const path = configFilePath(call.io.env, call.io.homeDir);
    const changed = change(call, (names) =>
      name === "enable" ? [...names, one] : names.filter((each) => each !== one),
    );
    const now = name === "enable" ? "starts" : "does not start";
    await call.io.out(
      changed ? `${one} ${now} when the daemon next starts (${path})\n` : `${one}: nothing to change in ${path}\n`,
    );
    return 0;
  },
});

export const enableCommand = command(
  "enable",
  "let `serve` also start an optional part",
  "it makes its certificate authority at the next start",
);
export const disableCommand = command("disable", "undo `enable`", "the certificates stay; see docs/addin.md");

/** Whether the file was changed. @throws AppError CONFIGURATION_INVALID when the file has an unexpected shape */
function change({ io }: CommandCall, edit: (names: readonly string[]) => readonly string[]): boolean {
  const path = configFilePath(io.env, io.homeDir);
  const root = rootOf(path, readConfigFile(io.env, io.homeDir)?.text ?? "{}");
  const [section = "", key = ""] = ENABLED_KEY.split(".");
  const serve = root[section] ?? {};
  if (!isFields(serve)) throw notUnderstood(path, section);
  const names = namesIn(serve[key]);
  if (names === undefined) throw notUnderstood(path, ENABLED_KEY);
  const wanted = [...new Set(edit(names))];
  if (wanted.length === names.length) return false;
  replaceUserFile(
    path,
    `${JSON.stringify({ ...root, [section]: { ...serve, [key]: wanted } }, undefined, 2)}\n`,
    NEW_FILE_MODE,
  );
  return true;
}

function rootOf(path: string, text: string): Record<string, unknown> {
  const root = parseJson(text);
  if (isFields(root)) return root;
  throw new AppError("CONFIGURATION_INVALID", `${path} must contain one JSON object; nothing was changed`);
}

/** A list, or comma-separated words, as the setting allows. */
function namesIn(value: unknown): readonly string[] | undefined {
  if (value === undefined) return [];
  if (typeof value === "string") return value.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  return Array.isArray(value) && value.every((name) => typeof name === "string") ? value : undefined;
}

const notUnderstood = (path: string, key: string): AppError =>
  new AppError("CONFIGURATION_INVALID", `"${key}" in ${path} has an unexpected value; correct it by hand`);
