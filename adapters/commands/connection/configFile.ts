/** The configuration file, as text: a client command reads it without the settings of every adapter. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { baseDir } from "../../../daemon/ops/runtimePaths.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { Io } from "../../cli/cliIo.ts";

/** The path of the configuration file. */
export const configFilePath = (env: Io["env"], homeDir: string): string =>
  join(baseDir(env["XDG_CONFIG_HOME"], join(homeDir, ".config")), "tmuxwire", "config.json");

/** The configuration file, if it exists. @throws AppError CONFIGURATION_INVALID */
export function readConfigFile(env: Io["env"], homeDir: string): { path: string; text: string } | undefined {
  const path = configFilePath(env, homeDir);
  try {
    return { path, text: readFileSync(path, "utf8") };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const message = `cannot read ${path} (${code ?? "unknown error"}); make it readable`;
    throw new AppError("CONFIGURATION_INVALID", message, { cause: error });
  }
}
