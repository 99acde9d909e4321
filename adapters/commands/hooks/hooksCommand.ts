/** `tmuxwire hooks`: installs, removes or checks the hooks through which an agent reports to the dashboard. */
import { lstatSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import { type HookGroups, readSettings, stateOf, withHooks, withoutHooks } from "../../hooks/hookSettings.ts";
import {
  configDirectory,
  type HookedAgent,
  hookedAgents,
  hookEntries,
  isHooked,
  sharedScriptWord,
} from "../../hooks/agentHooks.ts";
import { hookScript, shellWord } from "../../hooks/hookScript.ts";
import { readWhole, removeFile, replaceWhole } from "../../hooks/wholeFile.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { JSON_OPTION, printResult } from "../../cli/jsonOutput.ts";
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
  requireScope,
} from "./hookFiles.ts";
import { forgetInstall, otherInstalls, rememberInstall } from "./hookInstalls.ts";
import { rememberDirectories, removeMadeDirectories } from "./hookDirectories.ts";
import { runFileHooks } from "./fileHooks.ts";
import { printable } from "../../cli/textTable.ts";

const ACTIONS = ["install", "uninstall", "status"] as const;
const SCOPES = ["user", "project"] as const;

export const hooksCommand: CommandSpec = {
  name: "hooks",
  summary: "let an agent report to the dashboard",
  get details() {
    return [
      "install makes the agent run our script, or load our file, at its events. Nothing else in its settings changes, and " +
        "uninstall restores them. Restart agents that are already running.",
      ...hookedAgents().map(whatIsWritten),
      "The script is in ~/.local/share/tmuxwire/hooks.",
      "status and uninstall look at the files of the last install; status exits with 0 if all of them are in place, else with 3.",
    ];
  },
  positionals: [
    { name: "ACTION", description: "what to do", choices: ACTIONS },
    {
      name: "AGENT",
      description: "the agent program",
      get choices() {
        return hookedAgents().map(({ name }) => name);
      },
    },
  ],
  options: [
    {
      name: "scope",
      type: "text",
      value: "SCOPE",
      description: "user: all your sessions; project: sessions in this project, for everyone who works on it",
      choices: SCOPES,
      default: "user",
    },
    {
      name: "dashboard",
      type: "text",
      value: "URL",
      description: "the dashboard's URL",
      default: "that of `tmuxwire config`, else http://127.0.0.1:5055",
    },
    JSON_OPTION,
  ],
  get examples() {
    const [first, ...others] = hookedAgents().map(({ name }) => name);
    return [
      { line: `tmuxwire hooks install ${first}`, does: "for all your sessions" },
      { line: `tmuxwire hooks install ${first} --scope project`, does: "for this project" },
      { line: `tmuxwire hooks install ${others.at(-1)}`, does: "for another agent" },
      { line: `tmuxwire hooks status ${first}`, does: "show whether they are installed, and where" },
      { line: `tmuxwire hooks uninstall ${first}`, does: "remove them" },
    ];
  },
  run: async (call: CommandCall): Promise<number> => {
    const agent = hookedAgents().find(({ name }) => name === call.positionals[1])!;
    requireScope(agent, call.options.text("scope"));
    if (!isHooked(agent, "merge")) return runFileHooks(agent as HookedAgent<"file" | "plugin">, call);
    const place = placeOf(agent, call);
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

/** For help. */
function whatIsWritten(agent: HookedAgent): string {
  const { hooks, title } = agent;
  const file = join("~", ...hooks.directory, ...hooks.file);
  const project =
    isHooked(agent, "merge") && agent.hooks.inProjects ? join(...hooks.directory, ...hooks.file) : undefined;
  return (
    `${title}: ${file} ($${hooks.variable})` +
    (project === undefined ? "" : `; with --scope project ${project} of the directory you are in`)
  );
}

interface Place extends ReturnType<typeof hookPlace> {
  readonly agent: HookedAgent<"merge">;
  readonly scope: (typeof SCOPES)[number];
  readonly settingsPath: string;
  readonly groups: HookGroups;
}

function placeOf(agent: HookedAgent<"merge">, call: CommandCall): Place {
  const { io } = call;
  const scope = call.options.text("scope") === "project" ? "project" : "user";
  const { directory, file } = agent.hooks;
  const own = configDirectory(agent, io);
  const place = hookPlace(agent.name, call);
  const word = scope === "project" ? sharedScriptWord(agent.name) : shellWord(place.scriptPath);
  const isNamed = scope === "project" || own.isNamed;
  const settings = join(scope === "project" ? join(io.cwd, ...directory) : own.directory, ...file);
  const { settings: settingsPath, url } = knownPlace(agent.name, call, { ...place, settings, isNamed });
  return { ...place, agent, scope, url, settingsPath, groups: hookEntries(agent.hooks, word, url) };
}

const scriptOf = ({ name, title, hooks: { guard } }: HookedAgent<"merge">): string =>
  hookScript({ name, title, guard });

async function install(place: Place, call: CommandCall): Promise<number> {
  const { agent, settingsPath, scriptPath, secretsPath, token, url } = place;
  // Read first, so that a refusal comes before anything is written.
  const before = settingsAt(place);
  const after = withHooks(before, place.groups);
  rememberDirectories(dirname(scriptPath), [settingsPath]);
  const changed = [
    ...replaceChanged(scriptPath, scriptOf(agent), 0o644),
    ...replaceSecrets(secretsPath, token),
    ...replaceSettings(place, before, after),
  ];
  rememberInstall(place.data, agent.name, { scope: place.scope, settings: settingsPath, url });
  const curl = hasCurl(call.io);
  await printResult(call, { installed: true, ...whereOf(place), changed, curl }, [
    ...installedLines(changed, agent.title, url),
    ...agent.hooks.notes,
    ...(curl ? [] : [NO_CURL]),
  ]);
  return 0;
}

async function uninstall(place: Place, call: CommandCall): Promise<number> {
  const { agent, data, scope, settingsPath, scriptPath, secretsPath } = place;
  const before = settingsAt(place);
  const after = before === undefined ? undefined : withoutHooks(before);
  const changed = replaceSettings(place, before, after);
  // Another project's hooks may use the same script.
  if (scope === "user") changed.push(...removeThere(scriptPath), ...removeThere(secretsPath));
  forgetInstall(data, agent.name, settingsPath);
  removeMadeDirectories(dirname(scriptPath), [settingsPath]);
  await printResult(call, { installed: false, ...whereOf(place), changed }, removedLines(changed));
  return 0;
}

async function status(place: Place, call: CommandCall): Promise<number> {
  const { agent, settingsPath, scriptPath } = place;
  const { state, events, disabled } = stateOf(settingsAt(place), place.groups);
  const script = scriptState(place);
  const curl = hasCurl(call.io);
  const installed = state === "installed" && script === "installed";
  const overall = state === "installed" && !installed ? (script === "missing" ? "partly" : "outdated") : state;
  const others = otherInstalls(place.data, agent.name, settingsPath);
  const lacking = Object.entries(events).filter(([, one]) => one !== "installed");
  const lines = [
    `${settingsPath}: ${overall}`,
    ...(state === "partly" || state === "outdated" ? lacking.map(([event, one]) => `  ${event}: ${one}`) : []),
    `${scriptPath}: ${script}`,
    `dashboard: ${place.url}`,
    ...others.map((other) => `also installed: ${other.settings}, dashboard ${other.url}`),
    ...(disabled ? [`${agent.title} has all hooks disabled in these settings`] : []),
    ...(curl ? [] : [NO_CURL]),
    ...(installed || overall === "not installed"
      ? []
      : [`run \`tmuxwire hooks install ${agent.name}\` to repair them`]),
  ];
  const report = { installed, state: overall, ...whereOf(place), events, script_state: script, disabled, curl, others };
  await printResult(call, report, lines.map(printable));
  return installed ? 0 : NOT_INSTALLED;
}

const whereOf = ({ scope, settingsPath, scriptPath, url }: Place) => ({
  scope,
  settings: settingsPath,
  script: scriptPath,
  dashboard: url,
});

const settingsAt = ({ agent, settingsPath }: Place): string | undefined =>
  readSettings(settingsPath, readWhole(settingsPath), agent.hooks.takesComments);

/** @throws AppError REVISION_CONFLICT if another program has changed the settings meanwhile. */
function replaceSettings(place: Place, before: string | undefined, after: string | undefined): string[] {
  if (before === after) return [];
  const path = place.settingsPath;
  if (settingsAt(place) !== before) {
    throw new AppError("REVISION_CONFLICT", `another program changed ${path} at the same time; try again`);
  }
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (after !== undefined || isLink) replaceWhole(path, after ?? "{}\n");
  else removeFile(path);
  return [path];
}

function scriptState({ agent, scriptPath }: Place): "installed" | "different" | "missing" {
  const bytes = readWhole(scriptPath);
  if (bytes === undefined) return "missing";
  return Buffer.from(bytes).toString() === scriptOf(agent) ? "installed" : "different";
}
