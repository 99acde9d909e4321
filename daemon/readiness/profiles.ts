/** The profiles that a daemon judges by, and which of them fits a program. */
import { invalidArgument } from "../../protocol/errors.ts";
import { isCalled } from "../host/programNames.ts";
import { loadProfile, MAX_ROW_CHARACTERS, type Profile } from "./profile.ts";
import generic from "./profiles/generic.json" with { type: "json" };
import shell from "./profiles/shell.json" with { type: "json" };
import { compareVersions, isInRange, newestOf } from "./versions.ts";

export const SHELL_PROFILE = loadProfile(shell);
export const GENERIC_PROFILE = loadProfile(generic);

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

/** What is known of programs: agents' profiles as they were given, a shell's, and `generic` for what nobody knows. */
export class Profiles {
  /** In the order in which they are guessed. */
  readonly all: readonly Profile[];

  /** @param own a person's: they stand in front, and one for all versions takes the place of another with its name */
  constructor(agents: readonly Profile[], own: readonly Profile[] = []) {
    const names = new Set(own.filter(({ versions }) => versions === undefined).map(({ name }) => name));
    this.all = [...own, ...[...agents, SHELL_PROFILE, GENERIC_PROFILE].filter(({ name }) => !names.has(name))];
  }

  /**
   * Of several with this name the one for this version of the program; if there is none, or the version is unknown, the one
   * for all versions, else the one that was tested with the newest.
   * @throws AppError INVALID_ARGUMENT
   */
  named(name: string, version?: string): Profile {
    const profile = fitting(
      this.all.filter((one) => one.name === name),
      version,
    );
    if (profile !== undefined) return profile;
    const names = [...new Set(this.all.map((one) => one.name))].join(", ");
    throw invalidArgument(`there is no profile ${JSON.stringify(name)}; use ${names}`);
  }

  /**
   * An agent by the name of any process that reads from the pane, whatever runs it; else by tmux's name for the foreground;
   * for a program that runs or shows others by a title that only one sets, then by what stands on the screen. `generic` when
   * unknown.
   */
  guess({ command, title, rows = [], processes = [], isShown }: ProgramTraits): Profile {
    const agent = this.#firstAgent(processes);
    if (agent !== undefined) return agent;
    const name = programName(command);
    const named = this.all.find((profile) => profile.programs.has(name));
    if (named !== undefined && named.kind === "agent") return named;
    const head = title.slice(0, MAX_ROW_CHARACTERS);
    const byTitle = this.all.find((profile) => profile.titleHints.some((hint) => hint.test(head)));
    if ([name, ...processes.map(programOf)].some((host) => HOSTS.has(host))) {
      return byTitle ?? this.#withSignature(rows) ?? named ?? GENERIC_PROFILE;
    }
    // A shell may be the name of a wrapper that stays in front of an agent (`sh -c 'agent; …'`), or a title was left behind.
    if (named?.kind === "shell" && processes.length === 0 && byTitle !== undefined && isShown?.(byTitle) === true) {
      return byTitle;
    }
    return named ?? GENERIC_PROFILE;
  }

  /** The outermost: what an agent runs belongs to it. */
  #firstAgent(processes: readonly (readonly string[])[]): Profile | undefined {
    for (const names of processes) {
      const agent = this.all.find(({ kind, programs }) => kind === "agent" && isCalled(names, programs));
      if (agent !== undefined) return agent;
    }
    return undefined;
  }

  #withSignature(rows: readonly string[]): Profile | undefined {
    return this.all.find((profile) =>
      rows.some((row) => profile.signatures.some((sign) => sign.test(row.trim().slice(0, MAX_ROW_CHARACTERS)))),
    );
  }
}

function fitting(profiles: readonly Profile[], version: string | undefined): Profile | undefined {
  const isFor = ({ versions }: Profile): boolean =>
    version !== undefined && versions !== undefined && isInRange(version, versions);
  const chosen = profiles.find(isFor) ?? profiles.find(({ versions }) => versions === undefined);
  if (chosen !== undefined) return chosen;
  const newest = newestOf(profiles.flatMap(({ seenWith }) => seenWith));
  return profiles.find(({ seenWith }) => newest !== undefined && seenWith.includes(newest)) ?? profiles[0];
}

/** Whether a version is newer than all that the profile was tested with. */
export function isNewFor({ seenWith }: Profile, version: string): boolean {
  const newest = newestOf(seenWith);
  return newest !== undefined && compareVersions(version, newest) > 0;
}

/**
 * Programs that run another one under their own name, or show what runs elsewhere: of these the client is the addressee,
 * and an end inside cannot be told from outside (docs/agentFacts.md, What is left).
 */
const HOSTS: ReadonlySet<string> = new Set(
  "bun deno docker kubectl mosh-client node npx podman python python3 screen script ssh tmux tmux:client uv".split(" "),
);

const programOf = ([comm = "", program = comm]: readonly string[]): string => programName(program);

/** `-zsh`, `/usr/bin/bash`, `node-20` → `zsh`, `bash`, `node`. */
export const programName = (command: string): string =>
  command
    .slice(0, MAX_ROW_CHARACTERS)
    .replace(/^.*\//, "")
    .replace(": ", ":")
    .replace(/^-/, "")
    .replace(/[-.\d]+$/, (version, offset: number) => (offset > 0 ? "" : version));
