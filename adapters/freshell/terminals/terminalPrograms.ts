/**
 * Which program a terminal runs: a shell known to the system, or an agent by its name. Everything is checked before
 * anything is made, and nothing here starts a process.
 */
import { readFile, stat } from "node:fs/promises";
import { basename, delimiter, isAbsolute, join } from "node:path";
import { findProgram, isExecutable } from "../../../daemon/host/findProgram.ts";
import type { TerminalMode } from "../../../protocol/api/freshell/freshellHttp.ts";
import { type AppError, invalidArgument } from "../../../protocol/errors.ts";
import type { Agent } from "../../agents/catalogue.ts";
import { MAX_CWD_CHARS } from "../freshellLimits.ts";
import type { TerminalIdentity } from "./terminal.ts";

export interface ProgramInputs {
  /** A pane's environment: `PATH`, `SHELL`, `HOME`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The daemon's own, for `NAME_CMD`: where an agent's program is. */
  readonly daemonEnv: Readonly<Record<string, string | undefined>>;
  readonly agents: readonly Agent[];
}

/** A terminal's default title. */
export const titleOf = (mode: TerminalMode, { agents }: ProgramInputs): string =>
  mode === "shell" ? "Shell" : (agents.find(({ name }) => name === mode)?.label ?? mode);

/** Shells that upstream's pages request on other systems; here each means the system's shell. */
const SYSTEM_SHELLS: ReadonlySet<string> = new Set(["system", "cmd", "powershell", "wsl"]);
/** Without `$SHELL`. */
const LAST_SHELL = "/bin/sh";

/** The argv of a terminal's program. @throws AppError INVALID_ARGUMENT */
export async function programOf(
  { mode, shell, resumeSessionId }: Pick<TerminalIdentity, "mode" | "shell" | "resumeSessionId">,
  inputs: ProgramInputs,
): Promise<readonly string[]> {
  if (mode === "shell") {
    if (resumeSessionId !== undefined) throw noResume(mode, inputs);
    return [await shellPath(shell, inputs), "-l"];
  }
  return [await agentPath(mode, inputs), ...resumeWords(mode, resumeSessionId, inputs)];
}

function resumeWords(mode: TerminalMode, session: string | undefined, inputs: ProgramInputs): readonly string[] {
  if (session === undefined) return [];
  // It would be parsed as an option of the agent's.
  if (session.startsWith("-")) throw invalidArgument("resumeSessionId begins with -, so it cannot be a session");
  const { resume } = inputs.agents.find(({ name }) => name === mode) ?? {};
  if (resume === undefined) throw noResume(mode, inputs);
  return [...resume, session];
}

function noResume(mode: TerminalMode, { agents }: ProgramInputs): AppError {
  const resuming = agents.filter(({ resume }) => resume !== undefined).map(({ name }) => name);
  return invalidArgument(`resumeSessionId works only with ${resuming.join(" and ")}: ${mode} has no session to resume`);
}

async function shellPath(shell: string, { env }: ProgramInputs): Promise<string> {
  if (SYSTEM_SHELLS.has(shell)) {
    const own = env["SHELL"];
    return own !== undefined && isAbsolute(own) && (await isExecutable(own)) ? own : LAST_SHELL;
  }
  if (isAbsolute(shell)) {
    if (await isExecutable(shell)) return shell;
    throw invalidArgument("shell is not an executable file: use system, an absolute path, or a name from /etc/shells");
  }
  const known = await readFile("/etc/shells", "utf8").catch(() => "");
  for (const line of known.split("\n").map((each) => each.trim())) {
    if (isAbsolute(line) && basename(line) === shell && (await isExecutable(line))) return line;
  }
  throw invalidArgument("shell is unknown: use system, an absolute path, or a name from /etc/shells");
}

/** Where an agent's program is. @throws AppError INVALID_ARGUMENT */
export async function agentPath(mode: TerminalMode, { env, daemonEnv }: ProgramInputs): Promise<string> {
  const variable = `${mode.toUpperCase()}_CMD`;
  const asked = daemonEnv[variable];
  const command = asked === undefined || asked.trim() === "" ? mode : asked.trim();
  // No relative entries: a terminal's directory is chosen by its caller.
  const path = (env["PATH"] ?? "").split(delimiter).filter(isAbsolute).join(delimiter);
  const isFindable = isAbsolute(command) || (!command.includes("/") && path !== "");
  const found = isFindable ? await findProgram(command, path, "/") : undefined;
  if (found !== undefined) return found;
  throw invalidArgument(`${mode} was not found: install it, or set ${variable} to its program and restart the daemon`);
}

/** An existing directory, absolute; `~` is the home directory. @throws AppError INVALID_ARGUMENT */
export async function directoryOf(cwd: string | undefined, homeDir: string): Promise<string> {
  const path = cwd === undefined || cwd === "~" ? homeDir : cwd.startsWith("~/") ? join(homeDir, cwd.slice(2)) : cwd;
  if (!isAbsolute(path)) throw invalidArgument("cwd must be an absolute path");
  if (encodeURIComponent(path).length > MAX_CWD_CHARS)
    throw invalidArgument(`cwd is longer than ${MAX_CWD_CHARS} characters`);
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return path;
  throw invalidArgument("cwd is not an existing directory");
}
