/**
 * `tmuxwire hooks` for agents that load a file of ours: written whole, removed whole; a foreign file in its place is left
 * alone.
 */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import { AGENT_PLUGINS, type AgentPlugin, isOurPlugin } from "../../hooks/agentPlugins.ts";
import { HOOKS_DIRECTORY, scriptName, secretsName } from "../../hooks/hookScript.ts";
import { readWhole } from "../../hooks/wholeFile.ts";
import type { CommandCall } from "../cli/commandTypes.ts";
import { configurationOf } from "../cli/configuration.ts";
import {
  dashboardUrl,
  given,
  indented,
  isOnPath,
  NOT_INSTALLED,
  onlyClaudesProjects,
  removeThere,
  replaceChanged,
  secretsOf,
} from "./hookFiles.ts";
import { rememberDirectories, removeMadeDirectories } from "./hookDirectories.ts";
import { printable } from "../cli/textTable.ts";

type PluginAgent = keyof typeof AGENT_PLUGINS;

export const isPluginAgent = (name: string): name is PluginAgent => Object.hasOwn(AGENT_PLUGINS, name);

/** @throws AppError CONFIGURATION_INVALID, INVALID_ARGUMENT */
export async function runPluginHooks(agent: PluginAgent, { io, options, positionals }: CommandCall): Promise<number> {
  const { env, homeDir } = io;
  if (options.text("scope") === "project") throw onlyClaudesProjects(agent);
  const { title, path, directory, directoryVariable, text, script }: AgentPlugin = AGENT_PLUGINS[agent];
  const { dashboard } = configurationOf(io, options);
  const url = dashboardUrl(options.text("dashboard"), dashboard.host, dashboard.port);
  const data = join(given(env["XDG_DATA_HOME"]) ?? join(homeDir, ".local", "share"), ...HOOKS_DIRECTORY);
  const secretsPath = join(data, secretsName(agent));
  const scriptPath = join(data, scriptName(agent));
  const pluginPath = join(
    given(env[directoryVariable]) ?? configured(agent, env, join(homeDir, ...directory)),
    ...path,
  );
  const wanted = text({ dashboardUrl: url, secretsPath, scriptPath });
  const there = readWhole(pluginPath);
  const found = there === undefined ? undefined : Buffer.from(there).toString();
  // A link is somebody else's.
  const isLink = lstatSync(pluginPath, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  const isForeign = isLink || (found !== undefined && !isOurPlugin(found));
  const isScriptRight = script === undefined || Buffer.from(readWhole(scriptPath) ?? "").toString() === script;
  const isInstalled = found === wanted && !isForeign && isScriptRight;
  const tell = async (lines: readonly string[], report: object): Promise<void> => {
    const where = { scope: "user", settings: pluginPath, dashboard: url };
    await io.out(options.flag("json") ? `${JSON.stringify({ ...report, ...where })}\n` : `${lines.join("\n")}\n`);
  };
  if (positionals[0] === "status") {
    const state = isInstalled
      ? "installed"
      : isForeign
        ? "not ours"
        : found === undefined
          ? "not installed"
          : "outdated";
    await tell([`${printable(pluginPath)}: ${state}`, `dashboard: ${url}`], { installed: isInstalled, state });
    return isInstalled ? 0 : NOT_INSTALLED;
  }
  if (isForeign && positionals[0] === "install") {
    throw new AppError(
      "CONFIGURATION_INVALID",
      `${pluginPath} is not ours; it was left as it is, move it and try again`,
    );
  }
  if (positionals[0] === "install") {
    const { token } = dashboard;
    rememberDirectories(data, [pluginPath]);
    const changed = [
      ...(token === undefined ? removeThere(secretsPath) : replaceChanged(secretsPath, secretsOf(token), 0o600)),
      ...(script === undefined ? [] : replaceChanged(scriptPath, script, 0o644)),
      ...replaceChanged(pluginPath, wanted, 0o644),
    ];
    const done = changed.length === 0 ? ["nothing to do: the hooks are installed"] : ["written:", ...indented(changed)];
    const then = `${title} tells ${url}; agents that run already do so once they are started again`;
    const lacksCurl = script !== undefined && !isOnPath(env["PATH"], "curl");
    const curl = lacksCurl ? ["curl was not found on PATH: install it, the hooks do nothing without it"] : [];
    await tell([...done, then, ...curl], { installed: true, changed });
    return 0;
  }
  const changed = [...(isForeign ? [] : removeThere(pluginPath)), ...removeThere(secretsPath)];
  if (script !== undefined) changed.push(...removeThere(scriptPath));
  removeMadeDirectories(data, [pluginPath]);
  const done =
    changed.length === 0 ? ["nothing to do: there are no hooks of ours"] : ["changed:", ...indented(changed)];
  await tell(done, { installed: false, changed });
  return 0;
}

/** opencode follows XDG. */
const configured = (agent: PluginAgent, env: NodeJS.ProcessEnv, otherwise: string): string => {
  const config = agent === "opencode" ? given(env["XDG_CONFIG_HOME"]) : undefined;
  return config === undefined ? otherwise : join(config, "opencode");
};
