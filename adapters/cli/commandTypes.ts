/**
 * A command: one row of the command table. Help, completions, validation and exit codes are all derived from these rows,
 * so a command that parses is documented.
 */
import type { ErrorCode } from "../../protocol/errors.ts";
import type { Io } from "./cliIo.ts";

/** What completes a value in a shell: paths, or likely words among others, which a function gathers when they are asked for. */
type Completion = "file" | "directory" | readonly string[] | (() => readonly string[]);

/** Names that the daemon lists, for completions. */
export const NAME_KINDS = ["pane", "session", "server"] as const;
export type NameKind = (typeof NAME_KINDS)[number];

export interface OptionSpec {
  /** The long name, without dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string | undefined;
  /** `list` may be given more than once. */
  readonly type: "flag" | "text" | "number" | "list";
  /** The value's name in help; for every type but `flag`. */
  readonly value?: string | undefined;
  /** One sentence in lower case, without a period. */
  readonly description: string;
  /** Its value when given without one; a value must then be `--name=VALUE`, unless the command takes no words. */
  readonly implied?: string | undefined;
  /** The default, as help shows it. */
  readonly default?: string | undefined;
  readonly choices?: readonly string[] | undefined;
  readonly complete?: Completion | undefined;
  readonly names?: NameKind | undefined;
  /** Its value may begin with a dash, as in `-S -5`: only an option of the command means that the value was forgotten. */
  readonly dashed?: boolean | undefined;
  /** For `number`, inclusive. */
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

export interface PositionalSpec {
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean | undefined;
  /** Takes all remaining words; only for the last one. */
  readonly many?: boolean | undefined;
  /** Words of another program's command line: `-l` after the first is ambiguous, and refused. */
  readonly verbatim?: boolean | undefined;
  /** Begins another program's command line: all words from here on are its own, options too. Only for the last one. */
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
  /** Alternative names. */
  readonly aliases?: readonly string[] | undefined;
  /** One line, lower case, without a period. */
  readonly summary: string;
  /** Paragraphs below the usage line. */
  readonly details?: readonly string[] | undefined;
  readonly positionals: readonly PositionalSpec[];
  readonly options: readonly OptionSpec[];
  readonly examples: readonly Example[];
  /** Exit codes of our failures when the command's own status is another program's; default: the one table. */
  readonly exitCodeOf?: ((code: ErrorCode) => number) | undefined;
  /** Returns the exit code. @throws AppError */
  readonly run: (call: CommandCall) => Promise<number> | number;
}

export type OptionValue = boolean | string | number | readonly string[];

/** An executable of the package: its table, and its name in help, messages and completions. */
export interface Program {
  readonly name: string;
  /** One line, lower case, without a period. */
  readonly about: string;
  /** In the order in which help lists them. */
  readonly commands: readonly CommandSpec[];
  version(): string;
  /** Reports a command's failure, and returns the exit code. */
  fail(io: Io, thrown: unknown, json: boolean, exitCodeOf?: CommandSpec["exitCodeOf"]): Promise<number>;
}

export interface CommandCall {
  readonly io: Io;
  /** The command's program. */
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

  /** For the configuration. */
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
