/**
 * `tmuxwire hooks` for agents that load a file of ours: written whole, removed whole; a foreign file in its place is left
 * alone.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import { AGENT_PLUGINS, type AgentPlugin, isOurPlugin } from "../../hooks/hookFile.ts";
import { readWhole } from "../../hooks/wholeFile.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { printResult } from "../../cli/jsonOutput.ts";
import {
  given,
  hasCurl,
  hookPlace,
  installedLines,
  knownPlace,
  NO_CURL,
  NOT_INSTALLED,
  onlyClaudesProjects,
  removedLines,
  removeThere,
  replaceChanged,
  replaceSecrets,
} from "./hookFiles.ts";
import { forgetInstall, rememberInstall } from "./hookInstalls.ts";
import { rememberDirectories, removeMadeDirectories } from "./hookDirectories.ts";
import { printable } from "../../cli/textTable.ts";

type PluginAgent = keyof typeof AGENT_PLUGINS;

export const isPluginAgent = (name: string): name is PluginAgent => Object.hasOwn(AGENT_PLUGINS, name);

/** @throws AppError CONFIGURATION_INVALID, INVALID_ARGUMENT */
export async function runPluginHooks(agent: PluginAgent, call: CommandCall): Promise<number> {
  const { io, options, positionals } = call;
  const [action] = positionals;
  if (options.text("scope") === "project") throw onlyClaudesProjects(agent);
  const { title, path, directory, directoryVariable, text, script }: AgentPlugin = AGENT_PLUGINS[agent];
  const { url: askedUrl, token, data, scriptPath, secretsPath } = hookPlace(agent, call);
  const named = given(io.env[directoryVariable]);
  const settings = join(named ?? configured(agent, io.env, join(io.homeDir, ...directory)), ...path);
  const asked = { data, settings, isNamed: named !== undefined, url: askedUrl };
  const { settings: pluginPath, url } = knownPlace(agent, call, asked);
  const where = { scope: "user", settings: pluginPath, dashboard: url };
  const wanted = text({ dashboardUrl: url, secretsPath, scriptPath });
  const there = readWhole(pluginPath);
  const found = there === undefined ? undefined : Buffer.from(there).toString();
  // A link is somebody else's.
  const isLink = lstatSync(pluginPath, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const isForeign = isLink || (found !== undefined && !isOurPlugin(found));
  if (action === "status") {
    const isScriptRight = script === undefined || Buffer.from(readWhole(scriptPath) ?? "").toString() === script;
    const installed = found === wanted && !isForeign && isScriptRight;
    const otherwise = isForeign ? "not ours" : found === undefined ? "not installed" : "outdated";
    const state = installed ? "installed" : otherwise;
    const lines = [`${printable(pluginPath)}: ${state}`, `dashboard: ${url}`];
    await printResult(call, { installed, state, ...where }, lines);
    return installed ? 0 : NOT_INSTALLED;
  }
  if (action === "install") {
    if (isForeign)
      throw new AppError(
        "CONFIGURATION_INVALID",
        `${pluginPath} is not ours and was left unchanged; move it and try again`,
      );
    rememberDirectories(data, [pluginPath]);
    const changed = [
      ...replaceSecrets(secretsPath, token),
      ...(script === undefined ? [] : replaceChanged(scriptPath, script, 0o644)),
      ...replaceChanged(pluginPath, wanted, 0o644),
    ];
    rememberInstall(data, agent, { scope: "user", settings: pluginPath, url });
    const curl = script === undefined || hasCurl(io) ? [] : [NO_CURL];
    await printResult(call, { installed: true, changed, ...where }, [...installedLines(changed, title, url), ...curl]);
    return 0;
  }
  const changed = [...(isForeign ? [] : removeThere(pluginPath)), ...removeThere(secretsPath)];
  if (script !== undefined) changed.push(...removeThere(scriptPath));
  forgetInstall(data, agent, pluginPath);
  removeMadeDirectories(data, [pluginPath]);
  await printResult(call, { installed: false, changed, ...where }, removedLines(changed));
  return 0;
}

/** opencode follows XDG. */
const configured = (agent: PluginAgent, env: NodeJS.ProcessEnv, otherwise: string): string => {
  const config = agent === "opencode" ? given(env["XDG_CONFIG_HOME"]) : undefined;
  return config === undefined ? otherwise : join(config, "opencode");
};
