/** Shared by the installers of hooks: write files that differ, remove files that exist. */
import { existsSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import { readWhole, removeFile, replaceWhole } from "../../hooks/wholeFile.ts";
import { printable } from "../cli/textTable.ts";

export const onlyClaudesProjects = (agent: string): AppError =>
  new AppError("INVALID_ARGUMENT", `--scope project is for claude: ${agent}'s hooks are for all your sessions`);

/** The exit code of `systemctl status` for a missing unit. */
export const NOT_INSTALLED = 3;

/** @throws AppError INVALID_ARGUMENT, CONFIGURATION_INVALID */
export function dashboardUrl(asked: string | undefined, host: string, port: number): string {
  if (asked === undefined) {
    if (port === 0)
      throw new AppError("CONFIGURATION_INVALID", "the dashboard's port is any: say which with --dashboard URL");
    // One that listens on all addresses is reached on loopback.
    const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
    return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
  }
  const url = URL.canParse(asked) ? new URL(asked) : undefined;
  const isUsable =
    url !== undefined && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "" && url.username === "";
  if (isUsable) return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  throw new AppError("INVALID_ARGUMENT", "--dashboard is an address such as http://127.0.0.1:5055, without ? and #");
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

/** curl's own syntax: inside double quotes only these two are escaped. */
export const secretsOf = (token: string): string =>
  `header = "Authorization: Bearer ${token.replaceAll(/[\\"]/g, "\\$&")}"\n`;

export const isOnPath = (path: string | undefined, program: string): boolean =>
  (path ?? "").split(delimiter).some((directory) => directory !== "" && existsSync(join(directory, program)));

export const given = (path: string | undefined): string | undefined =>
  path !== undefined && isAbsolute(path) ? path : undefined;

export const indented = (paths: readonly string[]): readonly string[] => paths.map((path) => `  ${printable(path)}`);
