/**
 * `tmuxwire hooks` for agents that load a plugin file: we write and remove the whole file, and leave a file that is not
 * ours alone.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import { configDirectory, type HookedAgent, isHooked } from "../../hooks/agentHooks.ts";
import { hookFileText, isOurFile } from "../../hooks/hookFile.ts";
import { hookScript } from "../../hooks/hookScript.ts";
import { readWhole } from "../../hooks/wholeFile.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { printResult } from "../../cli/jsonOutput.ts";
import {
  hasCurl,
  hookPlace,
  installedLines,
  knownPlace,
  NO_CURL,
  NOT_INSTALLED,
  removedLines,
  removeThere,
  replaceChanged,
  replaceSecrets,
} from "./hookFiles.ts";
import { forgetInstall, rememberInstall } from "./hookInstalls.ts";
import { rememberDirectories, removeMadeDirectories } from "./hookDirectories.ts";
import { printable } from "../../cli/textTable.ts";

/** @throws AppError CONFIGURATION_INVALID, INVALID_ARGUMENT */
export async function runFileHooks(agent: HookedAgent<"file" | "plugin">, call: CommandCall): Promise<number> {
  const { io, positionals } = call;
  const [action] = positionals;
  const { name, title } = agent;
  const script = isHooked(agent, "file") ? hookScript({ name, title, guard: agent.hooks.guard }) : undefined;
  const { url: askedUrl, token, data, scriptPath, secretsPath } = hookPlace(name, call);
  const { directory, isNamed } = configDirectory(agent, io);
  const asked = { data, settings: join(directory, ...agent.hooks.file), isNamed, url: askedUrl };
  const { settings: filePath, url } = knownPlace(name, call, asked);
  const where = { scope: "user", settings: filePath, dashboard: url };
  const wanted = hookFileText(agent, { dashboardUrl: url, secretsPath, scriptPath });
  const there = readWhole(filePath);
  const found = there === undefined ? undefined : Buffer.from(there).toString();
  // A symbolic link is not ours.
  const isLink = lstatSync(filePath, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const isForeign = isLink || (found !== undefined && !isOurFile(found));
  if (action === "status") {
    const isScriptRight = script === undefined || Buffer.from(readWhole(scriptPath) ?? "").toString() === script;
    const installed = found === wanted && !isForeign && isScriptRight;
    const otherwise = isForeign ? "not ours" : found === undefined ? "not installed" : "outdated";
    const state = installed ? "installed" : otherwise;
    const lines = [`${printable(filePath)}: ${state}`, `dashboard: ${url}`];
    await printResult(call, { installed, state, ...where }, lines);
    return installed ? 0 : NOT_INSTALLED;
  }
  if (action === "install") {
    if (isForeign)
      throw new AppError(
        "CONFIGURATION_INVALID",
        `${filePath} was not written by tmuxwire and was left unchanged; move it and try again`,
      );
    rememberDirectories(data, [filePath]);
    const changed = [
      ...replaceSecrets(secretsPath, token),
      ...(script === undefined ? [] : replaceChanged(scriptPath, script, 0o644)),
      ...replaceChanged(filePath, wanted, 0o644),
    ];
    rememberInstall(data, name, { scope: "user", settings: filePath, url });
    const curl = script === undefined || hasCurl(io) ? [] : [NO_CURL];
    await printResult(call, { installed: true, changed, ...where }, [...installedLines(changed, title, url), ...curl]);
    return 0;
  }
  const changed = [...(isForeign ? [] : removeThere(filePath)), ...removeThere(secretsPath)];
  if (script !== undefined) changed.push(...removeThere(scriptPath));
  forgetInstall(data, name, filePath);
  removeMadeDirectories(data, [filePath]);
  await printResult(call, { installed: false, changed, ...where }, removedLines(changed));
  return 0;
}
