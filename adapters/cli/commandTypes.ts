/**
 * A command: one row of the command table. Help, completions, validation and exit codes are all derived from these rows,
 * so that every command and option is documented.
 */
import type { ErrorCode } from "../../protocol/errors.ts";
import type { Io } from "./cliIo.ts";

/** How a shell completes a value: with paths, or with likely words (others are allowed too; a function lists them when asked). */
type Completion = "file" | "directory" | readonly string[] | (() => readonly string[]);

/** Kinds of names that the daemon can list, for completions. */
export const NAME_KINDS = ["pane", "session", "agent", "server", "host"] as const;
export type NameKind = (typeof NAME_KINDS)[number];

export interface OptionSpec {
  /** The long name, without dashes. */
  readonly name: string;
  /** One letter. */
  readonly short?: string | undefined;
  /** A `list` option may be given more than once. */
  readonly type: "flag" | "text" | "number" | "list";
  /** The value's name in help; for every type but `flag`. */
  readonly value?: string | undefined;
  /** One sentence in lower case, without a period. */
  readonly description: string;
  /** The value if the option is given without one; a value must then be written `--name=VALUE`, unless the command takes no words. */
  readonly implied?: string | undefined;
  /** The default, for the help text. */
  readonly default?: string | undefined;
  readonly choices?: readonly string[] | undefined;
  readonly complete?: Completion | undefined;
  readonly names?: NameKind | undefined;
  /** Its value may begin with a dash, as in `-S -5`, unless it is one of the command's options. */
  readonly dashed?: boolean | undefined;
  /** For `number`, inclusive. */
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

export interface PositionalSpec {
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean | undefined;
  /** Takes all remaining words; only for the last positional. */
  readonly many?: boolean | undefined;
  /** Words of another program's command line: an option after the first word would be ambiguous, and is refused. */
  readonly verbatim?: boolean | undefined;
  /** The rest is another program's command line, including options. Only for the last positional. */
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
  /** The words behind `--` are another program's arguments, by this name in help; a value of an option cannot be `--`. */
  readonly tail?: string | undefined;
  /** Alternative names. */
  readonly aliases?: readonly string[] | undefined;
  /** Our own programs run it, and the list of commands leaves it out. */
  readonly isHidden?: boolean | undefined;
  /** One line, lower case, without a period. */
  readonly summary: string;
  /** Paragraphs below the usage line. */
  readonly details?: readonly string[] | undefined;
  readonly positionals: readonly PositionalSpec[];
  readonly options: readonly OptionSpec[];
  readonly examples: readonly Example[];
  /** Exit codes of our failures, for a command that exits with another program's status; default: those of `ERROR_SURFACES`. */
  readonly exitCodeOf?: ((code: ErrorCode) => number) | undefined;
  /** Returns the exit code. @throws AppError */
  readonly run: (call: CommandCall) => Promise<number> | number;
}

export type OptionValue = boolean | string | number | readonly string[];

/** Commands that help lists together. */
export interface CommandGroup {
  readonly title: string;
  readonly names: readonly string[];
}

/** What help says about more than one command. */
export interface HelpTopic {
  readonly name: string;
  /** One line, lower case, without a period. */
  readonly summary: string;
  readonly rows: readonly { readonly head: string; readonly text: string }[];
  /** Paragraphs below. */
  readonly more: readonly string[];
}

/** An executable of the package: its command table, and its name in help, messages and completions. */
export interface Program {
  readonly name: string;
  /** One line, lower case, without a period. */
  readonly about: string;
  /** In the order in which help lists them. */
  readonly commands: readonly CommandSpec[];
  /** Absent: help lists the commands in their order. */
  readonly groups?: readonly CommandGroup[] | undefined;
  readonly topics?: readonly HelpTopic[] | undefined;
  version(): string;
  /** Reports a command's failure, and returns the exit code. */
  fail(io: Io, thrown: unknown, json: boolean, exitCodeOf?: CommandSpec["exitCodeOf"]): Promise<number>;
}

export interface CommandCall {
  readonly io: Io;
  /** The command's program. */
  readonly program: Program;
  /** Already validated: a `number` is in its range, a choice is one of the choices. */
  readonly options: OptionValues;
  readonly positionals: readonly string[];
  /** The words behind `--`, of a command that has a `tail`. */
  readonly tail: readonly string[];
}

/** The values of one call, by option name. */
export class OptionValues {
  readonly #values: Readonly<Record<string, OptionValue | undefined>>;

  constructor(values: Readonly<Record<string, OptionValue | undefined>>) {
    this.#values = values;
  }

  /** All values, for the configuration. */
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
