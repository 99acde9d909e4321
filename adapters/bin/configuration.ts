/** The daemon's configuration as this process sees it: its flags, its environment, its file. */
import { readFileSync } from "node:fs";
import type { Config, ConfigInputs } from "../../daemon/ops/config.ts";
import { configFilePath, loadConfig } from "../../daemon/ops/config.ts";
import { AppError } from "../../protocol/errors.ts";
import type { OptionValues } from "./commandTypes.ts";
import type { Io } from "./io.ts";

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

/** The configuration file, when there is one. @throws AppError CONFIGURATION_INVALID */
export function readConfigFile(env: Io["env"], homeDir: string): { path: string; text: string } | undefined {
  const path = configFilePath(env, homeDir);
  try {
    return { path, text: readFileSync(path, "utf8") };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const message = `${path} cannot be read (${code ?? "unknown error"}); make it readable for you`;
    throw new AppError("CONFIGURATION_INVALID", message, { cause: error });
  }
}
