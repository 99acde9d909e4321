/**
 * The arguments of `tmuxwire hooks install`, recorded beside the scripts, so that `status` and `uninstall` find the same
 * files and the same dashboard.
 */
import { join } from "node:path";
import * as v from "valibot";
import { tryParse } from "../../../protocol/api/parse.ts";
import { removeUserFile, replaceUserFile, textAt } from "../../hooks/userFiles.ts";

const installSchema = v.strictObject({ scope: v.picklist(["user", "project"]), settings: v.string(), url: v.string() });
const installsSchema = v.array(installSchema);
type HookInstall = v.InferOutput<typeof installSchema>;

const recordOf = (data: string, agent: string): string => join(data, `${agent}.installs.json`);

/** Newest last; empty if the record is unreadable. */
function installsOf(data: string, agent: string): readonly HookInstall[] {
  try {
    const record = JSON.parse(textAt(recordOf(data, agent)) ?? "[]") as unknown;
    const parsed = tryParse(installsSchema, record, { mayBeArray: true });
    return parsed.success ? parsed.output : [];
  } catch {
    return [];
  }
}

/** The install into this file; if no file was named, else the newest one for all sessions. */
export function findInstall(
  data: string,
  agent: string,
  { settings, isNamed }: { readonly settings: string; readonly isNamed: boolean },
): HookInstall | undefined {
  const installs = installsOf(data, agent);
  const exact = installs.find((one) => one.settings === settings);
  return exact ?? (isNamed ? undefined : installs.findLast(({ scope }) => scope === "user"));
}

export const otherInstalls = (data: string, agent: string, settings: string): readonly HookInstall[] =>
  installsOf(data, agent).filter((one) => one.settings !== settings);

/** @throws AppError CONFIGURATION_INVALID */
export function rememberInstall(data: string, agent: string, install: HookInstall): void {
  write(data, agent, [...otherInstalls(data, agent, install.settings), install]);
}

/** @throws AppError CONFIGURATION_INVALID */
export function forgetInstall(data: string, agent: string, settings: string): void {
  const left = otherInstalls(data, agent, settings);
  if (left.length > 0) write(data, agent, left);
  else removeUserFile(recordOf(data, agent));
}

const write = (data: string, agent: string, installs: readonly HookInstall[]): void =>
  replaceUserFile(recordOf(data, agent), `${JSON.stringify(installs, undefined, 2)}\n`, 0o600);
