/** `tmuxwire hooks`: installs, removes or checks the hooks by which an agent reports to the dashboard. */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import { SHARED_SCRIPT_WORD } from "../../hooks/claudeHook.ts";
import { type HookGroups, readSettings, stateOf, withHooks, withoutHooks } from "../../hooks/claudeSettings.ts";
import { HOOKS_DIRECTORY, scriptName, secretsName, shellWord } from "../../hooks/hookScript.ts";
import { type SettingsAgent, SETTINGS_AGENTS } from "../../hooks/settingsAgents.ts";
import { readWhole, removeFile, replaceWhole } from "../../hooks/wholeFile.ts";
import type { CommandCall, CommandSpec } from "../cli/commandTypes.ts";
import { JSON_OPTION } from "./configCommand.ts";
import { configurationOf } from "../cli/configuration.ts";
import {
  dashboardUrl,
  given,
  indented,
  isOnPath,
  NOT_INSTALLED,
  removeThere,
  replaceChanged,
  onlyClaudesProjects,
  secretsOf,
} from "./hookFiles.ts";
import { rememberDirectories, removeMadeDirectories } from "./hookDirectories.ts";
import { isPluginAgent, runPluginHooks } from "./pluginHooks.ts";
import { printable } from "../cli/textTable.ts";

const ACTIONS = ["install", "uninstall", "status"] as const;
const AGENTS = ["claude", "codex", "gemini", "pi", "opencode", "copilot"] as const;
const SCOPES = ["user", "project"] as const;

export const hooksCommand: CommandSpec = {
  name: "hooks",
  summary: "have an agent tell the dashboard what it is doing",
  details: [
    "install writes hooks for eight events into Claude Code's settings ($CLAUDE_CONFIG_DIR or ~/.claude; with --scope " +
      "project .claude/settings.json of the directory you are in) and the script they run into " +
      "~/.local/share/tmuxwire/hooks. Nothing else in the settings changes, and uninstall gives back what was there. " +
      "Agents that run already take the hooks up when they are started again.",
    "Gemini CLI the same, five events in ~/.gemini/settings.json ($GEMINI_CLI_HOME); Codex seven in ~/.codex/hooks.json " +
      "($CODEX_HOME), which Codex has you review at its next start.",
    "pi, opencode and Copilot CLI get a file of ours alone: ~/.pi/agent/extensions/tmuxwire.ts ($PI_CODING_AGENT_DIR), " +
      "~/.config/opencode/plugin/tmuxwire.js ($OPENCODE_CONFIG_DIR) and ~/.copilot/hooks/tmuxwire.json ($COPILOT_HOME), " +
      "for all your sessions.",
    "status exits with 0 when all of them are there, with 3 when not.",
  ],
  positionals: [
    { name: "ACTION", description: "what to do", choices: ACTIONS },
    { name: "AGENT", description: "the agent program", choices: AGENTS },
  ],
  options: [
    {
      name: "scope",
      type: "text",
      value: "SCOPE",
      description: "all your sessions, or those in this project for everybody who works on it",
      choices: SCOPES,
      default: "user",
    },
    {
      name: "dashboard",
      type: "text",
      value: "URL",
      description: "where the dashboard is",
      default: "as `tmuxwire config` has it, else http://127.0.0.1:5055",
    },
    JSON_OPTION,
  ],
  examples: [
    { line: "tmuxwire hooks install claude", does: "for all your sessions" },
    { line: "tmuxwire hooks install claude --scope project", does: "for this project" },
    { line: "tmuxwire hooks install pi", does: "an extension of pi" },
    { line: "tmuxwire hooks status claude", does: "whether they are installed, and where" },
    { line: "tmuxwire hooks uninstall claude", does: "take them out again" },
  ],
  run: async (call: CommandCall): Promise<number> => {
    const agent = call.positionals[1]!;
    if (isPluginAgent(agent)) return runPluginHooks(agent, call);
    const place = placeOf(SETTINGS_AGENTS[agent]!, call);
    switch (call.positionals[0] as (typeof ACTIONS)[number]) {
      case "install":
        return install(place, call);
      case "uninstall":
        return uninstall(place, call);
      case "status":
        return status(place, call);
    }
  },
};

interface Place {
  readonly agent: SettingsAgent;
  readonly scope: (typeof SCOPES)[number];
  readonly settingsPath: string;
  readonly scriptPath: string;
  readonly secretsPath: string;
  readonly url: string;
  readonly groups: HookGroups;
  readonly token: string | undefined;
}

function placeOf(agent: SettingsAgent, { io, options }: CommandCall): Place {
  const { env, homeDir, cwd } = io;
  const scope = options.text("scope") === "project" ? "project" : "user";
  if (scope === "project" && agent.name !== "claude") throw onlyClaudesProjects(agent.name);
  const { directory, directoryVariable, isHomeVariable = false } = agent;
  const named = given(env[directoryVariable]);
  const ofUser = named === undefined || isHomeVariable ? join(named ?? homeDir, directory) : named;
  const { dashboard } = configurationOf(io, options);
  const url = dashboardUrl(options.text("dashboard"), dashboard.host, dashboard.port);
  const data = join(given(env["XDG_DATA_HOME"]) ?? join(homeDir, ".local", "share"), ...HOOKS_DIRECTORY);
  const scriptPath = join(data, scriptName(agent.name));
  const word = scope === "project" ? SHARED_SCRIPT_WORD : shellWord(scriptPath);
  return {
    agent,
    scope,
    settingsPath: join(scope === "project" ? join(cwd, directory) : ofUser, agent.file),
    scriptPath,
    secretsPath: join(data, secretsName(agent.name)),
    url,
    groups: new Map(agent.events.map((event) => [event.name, agent.group(event, word, url)])),
    token: dashboard.token,
  };
}

async function install(place: Place, { io, options }: CommandCall): Promise<number> {
  const { agent, settingsPath, scriptPath, secretsPath, token } = place;
  // Read first: a refusal comes before anything is written.
  const before = settingsAt(place);
  const after = withHooks(before, place.groups);
  rememberDirectories(dirname(scriptPath), [settingsPath]);
  const changed = [
    ...replaceChanged(scriptPath, agent.script, 0o644),
    ...(token === undefined ? removeThere(secretsPath) : replaceChanged(secretsPath, secretsOf(token), 0o600)),
    ...replaceSettings(place, before, after),
  ];
  const hasCurl = isOnPath(io.env["PATH"], "curl");
  if (options.flag("json")) {
    await io.out(`${JSON.stringify({ installed: true, ...whereOf(place), changed, curl: hasCurl })}\n`);
    return 0;
  }
  const lines = [
    ...(changed.length === 0 ? ["nothing to do: the hooks are installed"] : ["written:", ...indented(changed)]),
    `${agent.title} tells ${place.url}; agents that run already do so once they are started again`,
    ...agent.notes,
    ...(hasCurl ? [] : ["curl was not found on PATH: install it, the hooks do nothing without it"]),
  ];
  await io.out(`${lines.join("\n")}\n`);
  return 0;
}

async function uninstall(place: Place, { io, options }: CommandCall): Promise<number> {
  const { scope, settingsPath, scriptPath, secretsPath } = place;
  const before = settingsAt(place);
  const after = before === undefined ? undefined : withoutHooks(before);
  const changed = replaceSettings(place, before, after);
  // Another project's hooks may use the same script.
  if (scope === "user") changed.push(...removeThere(scriptPath), ...removeThere(secretsPath));
  removeMadeDirectories(dirname(scriptPath), [settingsPath]);
  if (options.flag("json")) {
    await io.out(`${JSON.stringify({ installed: false, ...whereOf(place), changed })}\n`);
    return 0;
  }
  const lines =
    changed.length === 0 ? ["nothing to do: there are no hooks of ours"] : ["changed:", ...indented(changed)];
  await io.out(`${lines.join("\n")}\n`);
  return 0;
}

async function status(place: Place, { io, options }: CommandCall): Promise<number> {
  const { agent, settingsPath, scriptPath } = place;
  const { state, events, disabled } = stateOf(settingsAt(place), place.groups);
  const script = scriptState(place);
  const hasCurl = isOnPath(io.env["PATH"], "curl");
  const isWhole = state === "installed" && script === "installed";
  const overall = state === "installed" && !isWhole ? (script === "missing" ? "partly" : "outdated") : state;
  if (options.flag("json")) {
    const report = {
      installed: isWhole,
      state: overall,
      ...whereOf(place),
      events,
      script_state: script,
      disabled,
      curl: hasCurl,
    };
    await io.out(`${JSON.stringify(report)}\n`);
    return isWhole ? 0 : NOT_INSTALLED;
  }
  const lacking = Object.entries(events).filter(([, one]) => one !== "installed");
  const lines = [
    `${settingsPath}: ${overall}`,
    ...(state === "partly" || state === "outdated" ? lacking.map(([event, one]) => `  ${event}: ${one}`) : []),
    `${scriptPath}: ${script}`,
    `dashboard: ${place.url}`,
    ...(disabled ? [`${agent.title} has all hooks switched off in these settings`] : []),
    ...(hasCurl ? [] : ["curl was not found on PATH: install it, the hooks do nothing without it"]),
    ...(isWhole || overall === "not installed" ? [] : [`\`tmuxwire hooks install ${agent.name}\` puts it right`]),
  ];
  await io.out(`${lines.map(printable).join("\n")}\n`);
  return isWhole ? 0 : NOT_INSTALLED;
}

const whereOf = ({ scope, settingsPath, scriptPath, url }: Place) => ({
  scope,
  settings: settingsPath,
  script: scriptPath,
  dashboard: url,
});

const settingsAt = ({ agent, settingsPath }: Place): string | undefined =>
  readSettings(settingsPath, readWhole(settingsPath), agent.takesComments);

/** @throws AppError REVISION_CONFLICT when the settings were written meanwhile. */
function replaceSettings(place: Place, before: string | undefined, after: string | undefined): string[] {
  if (before === after) return [];
  const path = place.settingsPath;
  if (settingsAt(place) !== before) {
    throw new AppError("REVISION_CONFLICT", `${path} was changed at this moment by another program; try again`);
  }
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (after !== undefined || isLink) replaceWhole(path, after ?? "{}\n");
  else removeFile(path);
  return [path];
}

function scriptState({ agent, scriptPath }: Place): "installed" | "different" | "missing" {
  const bytes = readWhole(scriptPath);
  if (bytes === undefined) return "missing";
  return Buffer.from(bytes).toString() === agent.script ? "installed" : "different";
}
