/** All profiles, and which of them fits a program. */
import { AppError } from "../../protocol/errors.ts";
import { isCalled } from "../host/programNames.ts";
import { loadProfile, MAX_ROW_CHARACTERS, type Profile } from "./profile.ts";
import claude from "../../adapters/agents/claude/profile.json" with { type: "json" };
import codex from "../../adapters/agents/codex/profile.json" with { type: "json" };
import copilot from "../../adapters/agents/copilot/profile.json" with { type: "json" };
import gemini from "../../adapters/agents/gemini/profile.json" with { type: "json" };
import generic from "./profiles/generic.json" with { type: "json" };
import opencode from "../../adapters/agents/opencode/profile.json" with { type: "json" };
import pi from "../../adapters/agents/pi/profile.json" with { type: "json" };
import qwen from "../../adapters/agents/qwen/profile.json" with { type: "json" };
import shell from "./profiles/shell.json" with { type: "json" };

/** The daemon's own, in the order in which they are guessed. */
export const PROFILES: readonly Profile[] = [claude, codex, gemini, opencode, pi, copilot, qwen, shell, generic].map(
  loadProfile,
);

/** A person's own stand in front; one with the name of ours takes its place. */
let known: readonly Profile[] = PROFILES;

/** For the daemon's start, before anything is observed. Returns what takes it back. */
export function useProfiles(own: readonly Profile[]): () => void {
  const names = new Set(own.map(({ name }) => name));
  known = [...own, ...PROFILES.filter(({ name }) => !names.has(name))];
  return () => void (known = PROFILES);
}

/** @throws AppError INVALID_ARGUMENT */
export function profileNamed(name: string): Profile {
  const profile = known.find((one) => one.name === name);
  if (profile !== undefined) return profile;
  const names = known.map((one) => one.name).join(", ");
  throw new AppError("INVALID_ARGUMENT", `there is no profile ${JSON.stringify(name)}; use ${names}`);
}

export const SHELL_PROFILE = profileNamed("shell");
export const GENERIC_PROFILE = profileNamed("generic");

interface ProgramTraits {
  /** `pane_current_command`; a path or a login shell's dash before it does not matter. */
  readonly command: string;
  readonly title: string;
  /** The screen's rows, for a program that runs under its interpreter's name. */
  readonly rows?: readonly string[] | undefined;
  /** The names of every process that reads from the pane, the leader's first; empty where the system does not tell. */
  readonly processes?: readonly (readonly string[])[] | undefined;
  /** Whether the screen is one that the profile knows, for a shell's name where the system does not tell. */
  readonly isShown?: ((profile: Profile) => boolean) | undefined;
}

/**
 * An agent by the name of any process that reads from the pane, whatever runs it; else by tmux's name for the foreground;
 * for a program that runs or shows others by a title that only one sets, then by what stands on the screen. `generic` when
 * unknown.
 */
export function guessProfile({ command, title, rows = [], processes = [], isShown }: ProgramTraits): Profile {
  const agent = firstAgent(processes);
  if (agent !== undefined) return agent;
  const name = programName(command);
  const named = known.find((profile) => profile.programs.has(name));
  if (named !== undefined && named.kind === "agent") return named;
  const head = title.slice(0, MAX_ROW_CHARACTERS);
  const byTitle = known.find((profile) => profile.titleHints.some((hint) => hint.test(head)));
  if ([name, ...processes.map(programOf)].some((host) => HOSTS.has(host))) {
    return byTitle ?? withSignature(rows) ?? named ?? GENERIC_PROFILE;
  }
  // A shell may be the name of a wrapper that stays in front of an agent (`sh -c 'agent; …'`), or a title was left behind.
  if (named?.kind === "shell" && processes.length === 0 && byTitle !== undefined && isShown?.(byTitle) === true) {
    return byTitle;
  }
  return named ?? GENERIC_PROFILE;
}

/**
 * Programs that run another one under their own name, or show what runs elsewhere: of these the client is the addressee,
 * and an end inside cannot be told from outside (docs/agentFacts.md, What is left).
 */
const HOSTS: ReadonlySet<string> = new Set(
  "bun deno docker kubectl mosh-client node npx podman python python3 screen script ssh tmux tmux:client uv".split(" "),
);

/** The outermost: what an agent runs belongs to it. */
function firstAgent(processes: readonly (readonly string[])[]): Profile | undefined {
  for (const names of processes) {
    const agent = known.find(({ kind, programs }) => kind === "agent" && isCalled(names, programs));
    if (agent !== undefined) return agent;
  }
  return undefined;
}

const programOf = ([comm = "", program = comm]: readonly string[]): string => programName(program);

const withSignature = (rows: readonly string[]): Profile | undefined =>
  known.find((profile) =>
    rows.some((row) => profile.signatures.some((sign) => sign.test(row.trim().slice(0, MAX_ROW_CHARACTERS)))),
  );

/** `-zsh`, `/usr/bin/bash`, `node-20` → `zsh`, `bash`, `node`. */
export const programName = (command: string): string =>
  command
    .slice(0, MAX_ROW_CHARACTERS)
    .replace(/^.*\//, "")
    .replace(": ", ":")
    .replace(/^-/, "")
    .replace(/[-.\d]+$/, (version, offset: number) => (offset > 0 ? "" : version));
