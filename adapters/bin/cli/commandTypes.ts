/**
 * What a command is: one row of the command table. Help, completions, validation and exit codes are all derived from these
 * rows, so a command that parses is a command that is documented.
 */
import type { ErrorCode } from "../../../protocol/errors.ts";
import type { Io } from "./cliIo.ts";

/** What completes a value in a shell: paths, or words that are likely but not the only ones. */
type Completion = "file" | "directory" | readonly string[];

/** Names that a daemon can tell, for completions. */
export const NAME_KINDS = ["pane", "session", "server"] as const;
export type NameKind = (typeof NAME_KINDS)[number];

export interface OptionSpec {
  /** The long name, without dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string | undefined;
  /** `list` may be given more than once. */
  readonly type: "flag" | "text" | "number" | "list";
  /** What the value is called in help; for every type but `flag`. */
  readonly value?: string | undefined;
  /** One sentence in lower case, without a period. */
  readonly description: string;
  /** Its value when it is given without one; another one is then written `--name=VALUE`, unless the command takes no words. */
  readonly implied?: string | undefined;
  /** What holds when it is not given, as help shows it. */
  readonly default?: string | undefined;
  readonly choices?: readonly string[] | undefined;
  readonly complete?: Completion | undefined;
  readonly names?: NameKind | undefined;
  /** Its value may begin with a dash, as `-S -5`: only a word that is an option of the command is a forgotten value. */
  readonly dashed?: boolean | undefined;
  /** For `number`: both ends included. */
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

export interface PositionalSpec {
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean | undefined;
  /** Takes all that is left; only the last one. */
  readonly many?: boolean | undefined;
  /** Words of a command line for somebody else: `-l` behind the first of them is theirs or ours, and is refused. */
  readonly verbatim?: boolean | undefined;
  /** Begins a command line for somebody else: every word from here on is theirs, options too. Only the last one. */
  readonly takesRest?: boolean | undefined;
  readonly names?: NameKind | undefined;
  readonly choices?: readonly string[] | undefined;
}

export interface Example {
  readonly line: string;
  readonly does: string;
}

export interface CommandSpec {
  readonly name: string;
  /** Other names that it answers to. */
  readonly aliases?: readonly string[] | undefined;
  /** One line, lower case, without a period. */
  readonly summary: string;
  /** Paragraphs below the usage line. */
  readonly details?: readonly string[] | undefined;
  readonly positionals: readonly PositionalSpec[];
  readonly options: readonly OptionSpec[];
  readonly examples: readonly Example[];
  /** How a failure of ours ends where the command's own status is somebody else's; default: the one table. */
  readonly exitCodeOf?: ((code: ErrorCode) => number) | undefined;
  /** Returns the exit code. @throws AppError */
  readonly run: (call: CommandCall) => Promise<number> | number;
}

export type OptionValue = boolean | string | number | readonly string[];

/** An executable of the package: its table, and what help, messages and completions call it. */
export interface Program {
  readonly name: string;
  /** One line, lower case, without a period. */
  readonly about: string;
  /** In the order in which help lists them. */
  readonly commands: readonly CommandSpec[];
  version(): string;
  /** Tells how a command failed, and returns the exit code. */
  fail(io: Io, thrown: unknown, json: boolean, exitCodeOf?: CommandSpec["exitCodeOf"]): Promise<number>;
}

export interface CommandCall {
  readonly io: Io;
  /** The program that the command is a row of. */
  readonly program: Program;
  /** Validated by the table: a `number` is a number in its range, a choice one of its choices. */
  readonly options: OptionValues;
  readonly positionals: readonly string[];
}

/** The values of one call, by option name. */
export class OptionValues {
  readonly #values: Readonly<Record<string, OptionValue | undefined>>;

  constructor(values: Readonly<Record<string, OptionValue | undefined>>) {
    this.#values = values;
  }

  /** As the configuration takes them. */
  get all(): Readonly<Record<string, OptionValue | undefined>> {
    return this.#values;
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  number(name: string): number | undefined {
    const value = this.#values[name];
    return typeof value === "number" ? value : undefined;
  }

  list(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? (value as readonly string[]) : [];
  }
}
