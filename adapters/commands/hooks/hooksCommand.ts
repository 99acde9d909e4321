/**
 * `tmuxwire hooks`: installs, removes or checks the hooks through which an agent reports to the dashboard. They are in one
 * file of the agent, among its settings or alone (`AgentFile`); most call our script, which is beside the secrets.
 */
import { existsSync, lstatSync } from "node:fs";
import { delimiter, join } from "node:path";
import { baseDir } from "../../../daemon/ops/runtimePaths.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import { shellWord } from "../../../protocol/text/shellWord.ts";
import { readSettings, stateOf, withHooks, withoutHooks } from "../../hooks/hookSettings.ts";
import {
  configDirectory,
  type HookedAgent,
  hookedAgents,
  hookEntries,
  isHooked,
  sharedScriptWord,
} from "../../hooks/agentHooks.ts";
import { hookFileText, isOurFile } from "../../hooks/hookFile.ts";
import { HOOKS_DIRECTORY, hookScript, scriptName, secretsName } from "../../hooks/hookScript.ts";
import { readUserFile, removeUserFile, replaceIfDifferent, replaceUserFile, textAt } from "../../hooks/userFiles.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { JSON_OPTION, printResult } from "../../cli/jsonOutput.ts";
import { printable } from "../../cli/textTable.ts";
import { urlHost } from "../../kit/peers/addresses.ts";
import { configurationOf } from "../connection/configuration.ts";
import { rememberDirectories, removeMadeDirectories } from "./hookDirectories.ts";
import * as v from "valibot";
import { tryParse } from "../../../protocol/api/parse.ts";

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
  const { directory, file, variable } = agent.hooks;
  const project = hasProjects(agent)
    ? `; with --scope project ${join(...directory, ...file)} of the directory you are in`
    : "";
  return `${agent.title}: ${join("~", ...directory, ...file)} ($${variable})${project}`;
}

const hasProjects = (agent: HookedAgent): boolean => isHooked(agent, "merge") && agent.hooks.inProjects;

interface Place {
  readonly agent: HookedAgent;
  readonly scope: (typeof SCOPES)[number];
  /** The agent's file. */
  readonly path: string;
  readonly file: AgentFile;
  /** The dashboard that the hooks report to. */
  readonly url: string;
  readonly token: string | undefined;
  /** The directory of our own files. */
  readonly data: string;
  readonly scriptPath: string;
  /** Undefined for an agent that reports without a script. */
  readonly script: string | undefined;
  readonly secretsPath: string;
}

/** `status` and `uninstall` use the file and the dashboard of the last `install`. @throws AppError INVALID_ARGUMENT, CONFIGURATION_INVALID */
function placeOf(agent: HookedAgent, { io, options, positionals: [action] }: CommandCall): Place {
  const { name, title, hooks } = agent;
  const scope = options.text("scope") === "project" ? "project" : "user";
  if (scope === "project" && !hasProjects(agent)) throw withoutProjects(name);
  const { dashboard } = configurationOf(io, options);
  const data = join(baseDir(io.env["XDG_DATA_HOME"], join(io.homeDir, ".local", "share")), ...HOOKS_DIRECTORY);
  const own = configDirectory(agent, io);
  const isNamed = scope === "project" || own.isNamed;
  const asked = join(scope === "project" ? join(io.cwd, ...hooks.directory) : own.directory, ...hooks.file);
  const askedUrl = options.text("dashboard");
  const checkedUrl = dashboardUrl(askedUrl, dashboard.host, dashboard.port);
  const known = action === "install" ? undefined : findInstall(data, name, { settings: asked, isNamed });
  const place = {
    agent,
    scope,
    path: known?.settings ?? asked,
    url: askedUrl === undefined && known !== undefined ? known.url : checkedUrl,
    token: dashboard.token,
    data,
    scriptPath: join(data, scriptName(name)),
    script: hooks.install === "plugin" ? undefined : hookScript({ name, title, guard: hooks.guard }),
    secretsPath: join(data, secretsName(name)),
  } as const;
  return { ...place, file: isHooked(agent, "merge") ? settingsFile(agent, place) : ownFile(agent, place) };
}

function withoutProjects(name: string): AppError {
  const names = hookedAgents()
    .filter(hasProjects)
    .map((agent) => agent.name);
  return invalidArgument(
    `--scope project works only with ${names.join(" and ")}: ${name}'s hooks apply to all your sessions`,
  );
}

interface FileState {
  readonly state: "installed" | "outdated" | "partly" | "not installed" | "not ours";
  /** Of settings: each event's, and whether the user has disabled all hooks. */
  readonly events?: ReturnType<typeof stateOf>["events"];
  readonly disabled?: boolean;
}

/** An agent's file as text; undefined if there is none. */
interface AgentFile {
  /** @throws AppError CONFIGURATION_INVALID */
  read(): string | undefined;
  /** @throws AppError CONFIGURATION_INVALID if the file is not ours */
  withHooks(text: string | undefined): string;
  withoutHooks(text: string): string | undefined;
  stateOf(text: string | undefined): FileState;
}

/** The agent's own settings, of which we change only our hooks. */
function settingsFile(agent: HookedAgent<"merge">, { scope, scriptPath, path, url }: Omit<Place, "file">): AgentFile {
  const word = scope === "project" ? sharedScriptWord(agent.name) : shellWord(scriptPath);
  const groups = hookEntries(agent.hooks, word, url);
  return {
    read: () => readSettings(path, readUserFile(path), agent.hooks.takesComments),
    withHooks: (text) => withHooks(text, groups),
    withoutHooks,
    stateOf: (text) => stateOf(text, groups),
  };
}

/** A file that the agent loads and that is ours as a whole. One that we did not write, or a link, is left alone. */
function ownFile(agent: HookedAgent, { scriptPath, secretsPath, path, url }: Omit<Place, "file">): AgentFile {
  const wanted = hookFileText(agent as HookedAgent<"file" | "plugin">, { dashboardUrl: url, secretsPath, scriptPath });
  const isForeign = (text: string | undefined): boolean => isLink(path) || (text !== undefined && !isOurFile(text));
  return {
    read: () => textAt(path),
    withHooks: (text) => {
      if (!isForeign(text)) return wanted;
      throw new AppError(
        "CONFIGURATION_INVALID",
        `${path} was not written by tmuxwire and was left unchanged; move it and try again`,
      );
    },
    withoutHooks: (text) => (isForeign(text) ? text : undefined),
    stateOf: (text) => {
      if (isForeign(text)) return { state: "not ours" };
      return { state: text === undefined ? "not installed" : text === wanted ? "installed" : "outdated" };
    },
  };
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** @throws AppError INVALID_ARGUMENT, CONFIGURATION_INVALID */
function dashboardUrl(asked: string | undefined, host: string, port: number): string {
  if (asked === undefined) {
    if (port === 0)
      throw new AppError(
        "CONFIGURATION_INVALID",
        "the dashboard's port is chosen at start: name it with --dashboard URL",
      );
    // A dashboard that listens on all addresses is reached over loopback.
    return `http://${urlHost(host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host)}:${port}`;
  }
  const url = URL.canParse(asked) ? new URL(asked) : undefined;
  const isUsable =
    url !== undefined && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" && url.username === "";
  if (isUsable) return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  throw invalidArgument("--dashboard must be a URL such as http://127.0.0.1:5055, without a query or fragment");
}

async function install(place: Place, call: CommandCall): Promise<number> {
  const { agent, file, data, path, scriptPath, script, scope, secretsPath, token, url } = place;
  // Read first, so that a refusal comes before anything is written.
  const before = file.read();
  const after = file.withHooks(before);
  rememberDirectories(data, [path]);
  const changed = [
    ...(script === undefined ? [] : replaceIfDifferent(scriptPath, script, 0o644)),
    ...replaceSecrets(secretsPath, token),
    ...replaceFile(place, before, after),
  ];
  rememberInstall(data, agent.name, { scope, settings: path, url });
  const curl = hasCurl(call);
  await printResult(call, { installed: true, ...whereOf(place), changed, curl }, [
    ...(changed.length === 0 ? ["nothing to do: the hooks are installed"] : ["written:", ...indented(changed)]),
    `${agent.title} reports to ${url}; restart agents that are already running`,
    ...(isHooked(agent, "merge") ? agent.hooks.notes : []),
    ...noCurl(place, curl),
  ]);
  return 0;
}

async function uninstall(place: Place, call: CommandCall): Promise<number> {
  const { agent, data, file, scope, path, scriptPath, secretsPath } = place;
  const before = file.read();
  const changed = replaceFile(place, before, before === undefined ? undefined : file.withoutHooks(before));
  // Another project's hooks may use the same script, and the user's own in another directory do.
  const isUsed = otherInstalls(data, agent.name, path).some((other) => other.scope === "user");
  if (scope === "user" && !isUsed) changed.push(...removeUserFile(scriptPath), ...removeUserFile(secretsPath));
  forgetInstall(data, agent.name, path);
  removeMadeDirectories(data, [path]);
  const lines = changed.length === 0 ? ["nothing to do: no hooks are installed"] : ["changed:", ...indented(changed)];
  await printResult(call, { installed: false, ...whereOf(place), changed }, lines);
  return 0;
}

/** The exit code of `systemctl status` for a missing unit. */
const NOT_INSTALLED = 3;

async function status(place: Place, call: CommandCall): Promise<number> {
  const { agent, file, data, path, scriptPath, url } = place;
  const { state, events, disabled = false } = file.stateOf(file.read());
  const script = scriptState(place);
  const curl = hasCurl(call);
  const installed = state === "installed" && script === "installed";
  const overall = state === "installed" && !installed ? (script === "missing" ? "partly" : "outdated") : state;
  const others = otherInstalls(data, agent.name, path);
  const lacking = Object.entries(events ?? {}).filter(([, one]) => one !== "installed");
  const lines = [
    `${path}: ${overall}`,
    ...(state === "partly" || state === "outdated" ? lacking.map(([event, one]) => `  ${event}: ${one}`) : []),
    ...(place.script === undefined ? [] : [`${scriptPath}: ${script}`]),
    `dashboard: ${url}`,
    ...others.map((other) => `also installed: ${other.settings}, dashboard ${other.url}`),
    ...(disabled ? [`${agent.title} has all hooks disabled in these settings`] : []),
    ...noCurl(place, curl),
    ...(overall === "partly" || overall === "outdated"
      ? [`run \`tmuxwire hooks install ${agent.name}\` to repair them`]
      : []),
  ];
  const report = {
    installed,
    state: overall,
    ...whereOf(place),
    events,
    script_state: place.script === undefined ? undefined : script,
    disabled,
    curl,
    others,
  };
  await printResult(call, report, lines.map(printable));
  return installed ? 0 : NOT_INSTALLED;
}

const whereOf = ({ scope, path, script, scriptPath, url }: Place) => ({
  scope,
  settings: path,
  script: script === undefined ? undefined : scriptPath,
  dashboard: url,
});

/** @throws AppError REVISION_CONFLICT if another program has changed the file meanwhile. */
function replaceFile({ file, path }: Place, before: string | undefined, after: string | undefined): string[] {
  if (before === after) return [];
  if (file.read() !== before)
    throw new AppError("REVISION_CONFLICT", `another program changed ${path} at the same time; try again`);
  if (after !== undefined || isLink(path)) replaceUserFile(path, after ?? "{}\n");
  else removeUserFile(path);
  return [path];
}

/** An agent without a script lacks none. */
function scriptState({ script, scriptPath }: Place): "installed" | "different" | "missing" {
  if (script === undefined) return "installed";
  const there = textAt(scriptPath);
  return there === undefined ? "missing" : there === script ? "installed" : "different";
}

/** The token in curl's config syntax: inside double quotes only these two are escaped. Without a token, no file. */
function replaceSecrets(path: string, token: string | undefined): string[] {
  if (token === undefined) return removeUserFile(path);
  const escaped = token.replaceAll(/[\\"]/g, "\\$&");
  return replaceIfDifferent(path, `header = "Authorization: Bearer ${escaped}"\n`, 0o600);
}

const hasCurl = ({ io: { env } }: CommandCall): boolean =>
  (env["PATH"] ?? "").split(delimiter).some((directory) => directory !== "" && existsSync(join(directory, "curl")));

const noCurl = ({ script }: Place, curl: boolean): readonly string[] =>
  curl || script === undefined ? [] : ["curl is not on PATH: install it; the hooks do nothing without it"];

const indented = (paths: readonly string[]): readonly string[] => paths.map((path) => `  ${printable(path)}`);

/** An install's arguments, recorded beside the scripts: `status` and `uninstall` find the same files and dashboard. */
const installSchema = v.strictObject({ scope: v.picklist(SCOPES), settings: v.string(), url: v.string() });
type HookInstall = v.InferOutput<typeof installSchema>;

const recordOf = (data: string, agent: string): string => join(data, `${agent}.installs.json`);

/** Newest last; empty if the record is unreadable. */
function installsOf(data: string, agent: string): readonly HookInstall[] {
  try {
    const record = JSON.parse(textAt(recordOf(data, agent)) ?? "[]") as unknown;
    const parsed = tryParse(v.array(installSchema), record, { mayBeArray: true });
    return parsed.success ? parsed.output : [];
  } catch {
    return [];
  }
}

/** The install into this file; if no file was named, else the newest one for all sessions. */
function findInstall(
  data: string,
  agent: string,
  { settings, isNamed }: { readonly settings: string; readonly isNamed: boolean },
): HookInstall | undefined {
  const installs = installsOf(data, agent);
  const exact = installs.find((one) => one.settings === settings);
  return exact ?? (isNamed ? undefined : installs.findLast(({ scope }) => scope === "user"));
}

const otherInstalls = (data: string, agent: string, settings: string): readonly HookInstall[] =>
  installsOf(data, agent).filter((one) => one.settings !== settings);

/** @throws AppError CONFIGURATION_INVALID */
function rememberInstall(data: string, agent: string, last: HookInstall): void {
  write(data, agent, [...otherInstalls(data, agent, last.settings), last]);
}

/** @throws AppError CONFIGURATION_INVALID */
function forgetInstall(data: string, agent: string, settings: string): void {
  const left = otherInstalls(data, agent, settings);
  if (left.length > 0) write(data, agent, left);
  else removeUserFile(recordOf(data, agent));
}

const write = (data: string, agent: string, installs: readonly HookInstall[]): void =>
  replaceUserFile(recordOf(data, agent), `${JSON.stringify(installs, undefined, 2)}\n`, 0o600);
