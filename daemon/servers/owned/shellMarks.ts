/**
 * Shells that tmux starts in an owned server mark their commands (OSC 133). Three variables of the server's global environment
 * make bash, zsh and fish read a script of ours (`daemon/shell/tmuxwire-marks`), which first restores the environment and
 * marks only if tmux itself started the shell. They are there only while the daemon is attached, so a server that outlives
 * tmuxwire does not lead a shell to files that are gone.
 */
import { displayMessage, setEnvironment, unsetEnvironment } from "../../../protocol/command/build.ts";
import { quote } from "../../../protocol/command/encode.ts";
import { rowFormat, word } from "../../../protocol/command/rowFormat.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";

/** A value of ours is recognised by its folder, wherever that is. */
const isOurs = (name: string): string => `#{m:*/tmuxwire-marks*,#{${name}}}`;
const holder = (name: string) => word(`#{?${isOurs(name)},ours,#{?#{==:#{${name}},},none,theirs}}`);
const NAMES = ["PROMPT_COMMAND", "ZDOTDIR", "XDG_DATA_DIRS"] as const;
const HOLDERS = rowFormat({
  PROMPT_COMMAND: holder("PROMPT_COMMAND"),
  ZDOTDIR: holder("ZDOTDIR"),
  XDG_DATA_DIRS: holder("XDG_DATA_DIRS"),
});

/** Characters that cannot stand in a list of paths or between quotes. */
const UNUSABLE = /[':\\\p{Cc}]/u;

function valuesOf(folder: string): Readonly<Record<(typeof NAMES)[number], string>> {
  const bash = `'${folder}/marks.bash'`;
  return {
    // A restricted shell reads no file by its path. A file that is read does not see the DEBUG trap.
    PROMPT_COMMAND: `if [[ $- != *r* && -r ${bash} ]]; then . ${bash} "$(trap -p DEBUG)"; fi`,
    ZDOTDIR: `${folder}/zsh`,
    // What programs assume without it (XDG Base Directory Specification).
    XDG_DATA_DIRS: `${folder}:/usr/local/share:/usr/share`,
  };
}

/** Commands that set our variables and remove them. */
export interface ShellMarks {
  readonly show: readonly string[];
  readonly hide: readonly string[];
}

/** The shells that they are for. Any other program that we start gets none: what it starts may outlive our files. */
export const isForShell = (command: readonly string[]): boolean => /(?:^|\/)(?:ba|z|fi)sh$/.test(command[0] ?? "");

/** Sets the variables that nobody else has set, or removes ours. @param folder of the scripts; undefined: no marks */
export async function setShellMarks(connection: ControlConnection, folder: string | undefined): Promise<ShellMarks> {
  const [holders] = await connection.rows(HOLDERS, displayMessage);
  const values = folder === undefined || UNUSABLE.test(folder) ? undefined : valuesOf(folder);
  const names = NAMES.filter((name) => holders !== undefined && holders[name] !== "theirs");
  const hide = names.map((name) => unsetEnvironment(name));
  const show = values === undefined ? [] : names.map((name) => setEnvironment(name, values[name]));
  const commands = values === undefined ? hide : show;
  if (commands.length > 0) await connection.group(commands);
  return { show, hide };
}

/** What removes ours when the daemon's client is gone, for a hook. */
export const REMOVE_SHELL_MARKS = NAMES.map(
  (name) => `if-shel -F ${quote(isOurs(name))} ${quote(unsetEnvironment(name))}`,
).join(" ; ");
