/** The profiles there are, and which of them fits a program. */
import { AppError } from "../../protocol/errors.ts";
import { loadProfile, MAX_ROW_CHARACTERS, type Profile } from "./profile.ts";
import claude from "./profiles/claude.json" with { type: "json" };
import codex from "./profiles/codex.json" with { type: "json" };
import gemini from "./profiles/gemini.json" with { type: "json" };
import generic from "./profiles/generic.json" with { type: "json" };
import opencode from "./profiles/opencode.json" with { type: "json" };
import pi from "./profiles/pi.json" with { type: "json" };
import shell from "./profiles/shell.json" with { type: "json" };

/** In the order in which they are guessed. */
export const PROFILES: readonly Profile[] = [claude, codex, gemini, opencode, pi, shell, generic].map(loadProfile);

const BY_NAME = new Map(PROFILES.map((profile) => [profile.name, profile]));

/** @throws AppError INVALID_ARGUMENT */
export function profileNamed(name: string): Profile {
  const profile = BY_NAME.get(name);
  if (profile !== undefined) return profile;
  throw new AppError(
    "INVALID_ARGUMENT",
    `there is no profile ${JSON.stringify(name)}; use ${[...BY_NAME.keys()].join(", ")}`,
  );
}

export const SHELL_PROFILE = profileNamed("shell");
export const GENERIC_PROFILE = profileNamed("generic");

export interface ProgramTraits {
  /** `pane_current_command`; a path or a login shell's dash before it does not matter. */
  readonly command: string;
  readonly title: string;
  /** The screen's rows, for a program that runs under its interpreter's name. */
  readonly rows?: readonly string[] | undefined;
}

/** By the program's name, then by a title that only one sets, then by what stands on the screen. `generic` when unknown. */
export function guessProfile({ command, title, rows = [] }: ProgramTraits): Profile {
  const name = programName(command);
  const named = PROFILES.find((profile) => profile.programs.has(name));
  if (named !== undefined && named.kind === "agent") return named;
  // A shell may be the name of a wrapper that stays in front of an agent (`sh -c 'agent; …'`).
  const head = title.slice(0, MAX_ROW_CHARACTERS);
  const isInterpreter = INTERPRETERS.has(name) || named?.kind === "shell";
  const byTitle = isInterpreter
    ? PROFILES.find((profile) => profile.titleHints.some((hint) => hint.test(head)))
    : undefined;
  if (named === undefined && byTitle !== undefined) return byTitle;
  const bySign = isInterpreter && named === undefined ? withSignature(rows) : undefined;
  return bySign ?? named ?? GENERIC_PROFILE;
}

/** Programs that run another one under their own name. */
const INTERPRETERS = new Set(["node", "bun", "deno", "python", "python3", "npx", "uv"]);

const withSignature = (rows: readonly string[]): Profile | undefined =>
  PROFILES.find((profile) =>
    rows.some((row) => profile.signatures.some((sign) => sign.test(row.trim().slice(0, MAX_ROW_CHARACTERS)))),
  );

/** `-zsh`, `/usr/bin/bash`, `node-20` → `zsh`, `bash`, `node`. */
export const programName = (command: string): string =>
  command
    .slice(0, MAX_ROW_CHARACTERS)
    .replace(/^.*\//, "")
    .replace(/^-/, "")
    .replace(/[-.\d]+$/, (version, offset: number) => (offset > 0 ? "" : version));
