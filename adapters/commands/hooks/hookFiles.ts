/** Shared by the installers of hooks: write files that differ, remove files that exist. */
import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import { type HookedAgent, hookedAgents, isHooked } from "../../hooks/agentHooks.ts";
import { HOOKS_DIRECTORY, scriptName, secretsName } from "../../hooks/hookScript.ts";
import { readWhole, removeFile, replaceWhole } from "../../hooks/wholeFile.ts";
import type { Io } from "../../cli/cliIo.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { configurationOf } from "../connection/configuration.ts";
import { findInstall } from "./hookInstalls.ts";
import { printable } from "../../cli/textTable.ts";

/** @throws AppError INVALID_ARGUMENT */
export function requireScope(agent: HookedAgent, scope: string | undefined): void {
  if (scope !== "project" || hasProjects(agent)) return;
  const names = hookedAgents()
    .filter(hasProjects)
    .map(({ name }) => name);
  throw new AppError(
    "INVALID_ARGUMENT",
    `--scope project works only with ${names.join(" and ")}: ${agent.name}'s hooks apply to all your sessions`,
  );
}

const hasProjects = (agent: HookedAgent): boolean => isHooked(agent, "merge") && agent.hooks.inProjects;

/** The exit code of `systemctl status` for a missing unit. */
export const NOT_INSTALLED = 3;

/** The dashboard that an agent's hooks report to, and our files for them. @throws AppError INVALID_ARGUMENT, CONFIGURATION_INVALID */
export function hookPlace(agent: string, { io, options }: CommandCall) {
  const { dashboard } = configurationOf(io, options);
  const data = join(given(io.env["XDG_DATA_HOME"]) ?? join(io.homeDir, ".local", "share"), ...HOOKS_DIRECTORY);
  return {
    url: dashboardUrl(options.text("dashboard"), dashboard.host, dashboard.port),
    token: dashboard.token,
    data,
    scriptPath: join(data, scriptName(agent)),
    secretsPath: join(data, secretsName(agent)),
  };
}

interface AskedPlace {
  readonly data: string;
  readonly settings: string;
  /** The caller named the file. */
  readonly isNamed: boolean;
  readonly url: string;
}

/** The settings file and dashboard of a call; `status` and `uninstall` use those of the last `install`. */
export function knownPlace(
  agent: string,
  { positionals: [action], options }: CommandCall,
  asked: AskedPlace,
): { readonly settings: string; readonly url: string } {
  const known = action === "install" ? undefined : findInstall(asked.data, agent, asked);
  if (known === undefined) return asked;
  return options.text("dashboard") === undefined ? known : { ...known, url: asked.url };
}

/** @throws AppError INVALID_ARGUMENT, CONFIGURATION_INVALID */
function dashboardUrl(asked: string | undefined, host: string, port: number): string {
  if (asked === undefined) {
    if (port === 0)
      throw new AppError(
        "CONFIGURATION_INVALID",
        "the dashboard's port is chosen at start: name it with --dashboard URL",
      );
    // A dashboard that listens on all addresses is reached over loopback.
    const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
    return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
  }
  const url = URL.canParse(asked) ? new URL(asked) : undefined;
  const isUsable =
    url !== undefined && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" && url.username === "";
  if (isUsable) return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  throw new AppError(
    "INVALID_ARGUMENT",
    "--dashboard must be a URL such as http://127.0.0.1:5055, without a query or fragment",
  );
}

export function replaceChanged(path: string, text: string, mode: number): string[] {
  const bytes = readWhole(path);
  if (bytes !== undefined && Buffer.from(bytes).toString() === text) return [];
  replaceWhole(path, text, mode);
  return [path];
}

export function removeThere(path: string): string[] {
  if (!existsSync(path)) return [];
  removeFile(path);
  return [path];
}

/** The token in curl's config syntax: inside double quotes only these two are escaped. Without a token, no file. */
export function replaceSecrets(path: string, token: string | undefined): string[] {
  if (token === undefined) return removeThere(path);
  const escaped = token.replaceAll(/[\\"]/g, "\\$&");
  return replaceChanged(path, `header = "Authorization: Bearer ${escaped}"\n`, 0o600);
}

export const hasCurl = ({ env }: Io): boolean =>
  (env["PATH"] ?? "").split(delimiter).some((directory) => directory !== "" && existsSync(join(directory, "curl")));
export const NO_CURL = "curl is not on PATH: install it; the hooks do nothing without it";

const given = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;

/** @param title of the agent */
export const installedLines = (changed: readonly string[], title: string, url: string): readonly string[] => [
  ...(changed.length === 0 ? ["nothing to do: the hooks are installed"] : ["written:", ...indented(changed)]),
  `${title} reports to ${url}; restart agents that are already running`,
];

export const removedLines = (changed: readonly string[]): readonly string[] =>
  changed.length === 0 ? ["nothing to do: no hooks are installed"] : ["changed:", ...indented(changed)];

const indented = (paths: readonly string[]): readonly string[] => paths.map((path) => `  ${printable(path)}`);
