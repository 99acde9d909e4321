/** `tmuxwire hooks`: has an agent program tell the dashboard what it is doing, or no longer, or says whether it does. */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import {
  CLAUDE_HOOK_EVENTS,
  CLAUDE_HOOK_SCRIPT,
  claudeHookGroup,
  SCRIPT_PATH,
  SECRETS_FILE,
  SHARED_SCRIPT_WORD,
  shellWord,
} from "../hooks/claudeHook.ts";
import { type HookGroups, readSettings, stateOf, withHooks, withoutHooks } from "../hooks/claudeSettings.ts";
import { readWhole, removeFile, replaceWhole } from "../hooks/wholeFile.ts";
import type { CommandCall, CommandSpec } from "./commandTypes.ts";
import { JSON_OPTION } from "./configCommand.ts";
import { configurationOf } from "./configuration.ts";
import {
  dashboardUrl,
  given,
  indented,
  isOnPath,
  NOT_INSTALLED,
  removeEmpty,
  removeThere,
  replaceChanged,
  secretsOf,
} from "./hookFiles.ts";
import { isPluginAgent, runPluginHooks } from "./pluginHooks.ts";
import { printable } from "./textTable.ts";

const ACTIONS = ["install", "uninstall", "status"] as const;
const AGENTS = ["claude", "pi", "opencode", "copilot"] as const;
const SCOPES = ["user", "project"] as const;

export const hooksCommand: CommandSpec = {
  name: "hooks",
  summary: "have an agent tell the dashboard what it is doing",
  details: [
    "install writes hooks for eight events into Claude Code's settings ($CLAUDE_CONFIG_DIR or ~/.claude; with --scope " +
      "project .claude/settings.json of the directory you are in) and the script they run into " +
      "~/.local/share/tmuxwire/hooks. Nothing else in the settings changes, and uninstall gives back what was there. " +
      "Agents that run already take the hooks up when they are started again.",
    "pi and opencode get a file of ours alone: ~/.pi/agent/extensions/tmuxwire.ts ($PI_CODING_AGENT_DIR) and " +
      "~/.config/opencode/plugin/tmuxwire.js ($OPENCODE_CONFIG_DIR), for all your sessions.",
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
    if (agent === "copilot") {
      throw new AppError(
        "INVALID_ARGUMENT",
        "no hook of Copilot CLI is known to fire and to carry its pane, so nothing is installed; its screen is read instead",
      );
    }
    if (isPluginAgent(agent)) return runPluginHooks(agent, call);
    switch (call.positionals[0] as (typeof ACTIONS)[number]) {
      case "install":
        return install(call);
      case "uninstall":
        return uninstall(call);
      case "status":
        return status(call);
    }
  },
};

interface Place {
  readonly scope: (typeof SCOPES)[number];
  readonly settingsPath: string;
  readonly scriptPath: string;
  readonly secretsPath: string;
  readonly url: string;
  readonly groups: HookGroups;
  readonly token: string | undefined;
}

function placeOf({ io, options }: CommandCall): Place {
  const { env, homeDir, cwd } = io;
  const scope = options.text("scope") === "project" ? "project" : "user";
  const directory =
    scope === "project" ? join(cwd, ".claude") : (given(env["CLAUDE_CONFIG_DIR"]) ?? join(homeDir, ".claude"));
  const { dashboard } = configurationOf(io, options);
  const url = dashboardUrl(options.text("dashboard"), dashboard.host, dashboard.port);
  const scriptPath = join(given(env["XDG_DATA_HOME"]) ?? join(homeDir, ".local", "share"), ...SCRIPT_PATH);
  const word = scope === "project" ? SHARED_SCRIPT_WORD : shellWord(scriptPath);
  return {
    scope,
    settingsPath: join(directory, "settings.json"),
    scriptPath,
    secretsPath: join(dirname(scriptPath), SECRETS_FILE),
    url,
    groups: new Map(CLAUDE_HOOK_EVENTS.map((event) => [event.name, claudeHookGroup(event, word, url)])),
    token: dashboard.token,
  };
}

async function install({ io, options, ...call }: CommandCall): Promise<number> {
  const place = placeOf({ io, options, ...call });
  const { settingsPath, scriptPath, secretsPath, token } = place;
  // Read first: what is refused is refused before anything is written.
  const before = settingsAt(settingsPath);
  const after = withHooks(before, place.groups);
  const changed = [
    ...replaceChanged(scriptPath, CLAUDE_HOOK_SCRIPT, 0o644),
    ...(token === undefined ? removeThere(secretsPath) : replaceChanged(secretsPath, secretsOf(token), 0o600)),
    ...replaceSettings(settingsPath, before, after),
  ];
  const hasCurl = isOnPath(io.env["PATH"], "curl");
  if (options.flag("json")) {
    await io.out(`${JSON.stringify({ installed: true, ...whereOf(place), changed, curl: hasCurl })}\n`);
    return 0;
  }
  const lines = [
    ...(changed.length === 0 ? ["nothing to do: the hooks are installed"] : ["written:", ...indented(changed)]),
    `Claude Code tells ${place.url}; agents that run already do so once they are started again`,
    ...(hasCurl ? [] : ["curl was not found on PATH: install it, the hooks do nothing without it"]),
  ];
  await io.out(`${lines.join("\n")}\n`);
  return 0;
}

async function uninstall({ io, options, ...call }: CommandCall): Promise<number> {
  const place = placeOf({ io, options, ...call });
  const { scope, settingsPath, scriptPath, secretsPath } = place;
  const before = settingsAt(settingsPath);
  const after = before === undefined ? undefined : withoutHooks(before);
  const changed = replaceSettings(settingsPath, before, after);
  // The script of a project's hooks may be another project's as well.
  if (scope === "user") changed.push(...removeThere(scriptPath), ...removeThere(secretsPath));
  if (scope === "user") removeEmpty(dirname(scriptPath), dirname(dirname(scriptPath)));
  if (options.flag("json")) {
    await io.out(`${JSON.stringify({ installed: false, ...whereOf(place), changed })}\n`);
    return 0;
  }
  const lines =
    changed.length === 0 ? ["nothing to do: there are no hooks of ours"] : ["changed:", ...indented(changed)];
  await io.out(`${lines.join("\n")}\n`);
  return 0;
}

async function status({ io, options, ...call }: CommandCall): Promise<number> {
  const place = placeOf({ io, options, ...call });
  const { settingsPath, scriptPath } = place;
  const { state, events, disabled } = stateOf(settingsAt(settingsPath), place.groups);
  const script = scriptState(scriptPath);
  const hasCurl = isOnPath(io.env["PATH"], "curl");
  const isWhole = state === "installed" && script === "installed";
  const overall = state === "installed" && !isWhole ? (script === "missing" ? "partly" : "outdated") : state;
  if (options.flag("json")) {
    const answer = {
      installed: isWhole,
      state: overall,
      ...whereOf(place),
      events,
      script_state: script,
      disabled,
      curl: hasCurl,
    };
    await io.out(`${JSON.stringify(answer)}\n`);
    return isWhole ? 0 : NOT_INSTALLED;
  }
  const lacking = Object.entries(events).filter(([, one]) => one !== "installed");
  const lines = [
    `${settingsPath}: ${overall}`,
    ...(state === "partly" || state === "outdated" ? lacking.map(([event, one]) => `  ${event}: ${one}`) : []),
    `${scriptPath}: ${script}`,
    `dashboard: ${place.url}`,
    ...(disabled ? ["Claude Code's setting disableAllHooks switches them all off"] : []),
    ...(hasCurl ? [] : ["curl was not found on PATH: install it, the hooks do nothing without it"]),
    ...(isWhole || overall === "not installed" ? [] : ["`tmuxwire hooks install claude` puts it right"]),
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

const settingsAt = (path: string): string | undefined => readSettings(path, readWhole(path));

/** @throws AppError REVISION_CONFLICT when somebody else has written the settings meanwhile. */
function replaceSettings(path: string, before: string | undefined, after: string | undefined): string[] {
  if (before === after) return [];
  if (settingsAt(path) !== before) {
    throw new AppError("REVISION_CONFLICT", `${path} was changed at this moment by another program; try again`);
  }
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (after !== undefined || isLink) replaceWhole(path, after ?? "{}\n");
  else {
    removeFile(path);
    removeEmpty(dirname(path));
  }
  return [path];
}

function scriptState(path: string): "installed" | "different" | "missing" {
  const bytes = readWhole(path);
  if (bytes === undefined) return "missing";
  return Buffer.from(bytes).toString() === CLAUDE_HOOK_SCRIPT ? "installed" : "different";
}
