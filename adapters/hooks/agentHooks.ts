/** What stands in an agent's files so that it reports its events, as the catalogue has it: which agents, where and how. */
import { isAbsolute, join } from "node:path";
import { type Agent, readAgents } from "../agents/catalogue.ts";
import { shellWord } from "../../protocol/text/shellWord.ts";
import { HOOK_COMMAND, HOOKS_DIRECTORY, scriptName } from "./hookScript.ts";
import type { HookGroups } from "./hookSettings.ts";

type AgentHooks = NonNullable<Agent["hooks"]>;
/** @template Install how; any way unless it is given */
export type HookedAgent<Install extends AgentHooks["install"] = AgentHooks["install"]> = Agent & {
  readonly hooks: Extract<AgentHooks, { readonly install: Install }>;
};

export const hookedAgents = (): readonly HookedAgent[] =>
  readAgents().filter((agent): agent is HookedAgent => agent.hooks !== undefined);

export const isHooked = <Install extends AgentHooks["install"]>(
  agent: HookedAgent,
  install: Install,
): agent is HookedAgent & HookedAgent<Install> => agent.hooks.install === install;

interface Home {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
}

/** Its configuration directory, and whether its variable names it. */
export function configDirectory(
  { hooks }: HookedAgent,
  { env, homeDir }: Home,
): { readonly directory: string; readonly isNamed: boolean } {
  const absolute = (name: string): string | undefined => (isAbsolute(env[name] ?? "") ? env[name] : undefined);
  const named = absolute(hooks.variable);
  if (named === undefined) {
    const [first, ...below] = hooks.directory;
    const config = first === ".config" ? absolute("XDG_CONFIG_HOME") : undefined;
    return {
      directory: config === undefined ? join(homeDir, ...hooks.directory) : join(config, ...below),
      isNamed: false,
    };
  }
  const isHome = hooks.install === "merge" && hooks.replacesHome;
  return { directory: isHome ? join(named, ...hooks.directory) : named, isNamed: true };
}

/** What stands there for each event, by its name. @param script the script's path as a quoted shell word */
export function hookEntries(
  { events, entry, command = HOOK_COMMAND }: HookedAgent<"merge" | "file">["hooks"],
  script: string,
  dashboardUrl: string,
): HookGroups {
  return new Map(
    events.map(({ name, route, matcher }) => {
      const words: Readonly<Record<string, string>> = { script, url: shellWord(dashboardUrl), route };
      const filled: Readonly<Record<string, string | undefined>> = {
        "{matcher}": matcher,
        "{command}": command.replaceAll(/\{(script|url|route)\}/g, (_, word: string) => words[word] ?? ""),
      };
      const fill = (_: string, value: unknown): unknown =>
        typeof value === "string" && Object.hasOwn(filled, value) ? filled[value] : value;
      return [name, JSON.parse(JSON.stringify(entry), fill) as object];
    }),
  );
}

/** For settings shared between people: each has their own script, or none. */
export const sharedScriptWord = (name: string): string =>
  `"\${XDG_DATA_HOME:-$HOME/.local/share}/${[...HOOKS_DIRECTORY, scriptName(name)].join("/")}"`;
