/**
 * Reads one setting at a time: where its value may come from, in which order, and the one-line message if it is not usable.
 * Flags take precedence over the environment, the environment over the configuration file, the file over the default. Each
 * value is reported with its source, secrets without their value.
 */
import type * as v from "valibot";
import { tryParse } from "../../protocol/api/parse.ts";
import { AppError, messageOf } from "../../protocol/errors.ts";
import { type Fields, isFields } from "../../protocol/text/jsonObject.ts";

type SettingSource = "flag" | "environment" | "file" | "default";

/** One row of `tmuxwire config`. */
export interface SettingReport {
  readonly key: string;
  /** As in JSON; `"(set)"` for a secret that is set. */
  readonly value: unknown;
  readonly source: SettingSource;
  /** The flag, variable or file that it came from. */
  readonly from: string | undefined;
  /** Why the given value is not usable; `value` is the default then. */
  readonly problem?: string | undefined;
}

/** A command-line flag for a setting; the setting's schema checks its value. */
export interface FlagSpec {
  /** Without dashes. */
  readonly name: string;
  /** `flag` takes no value, `list` may be given more than once. */
  readonly type: "flag" | "text" | "list";
  /** The value's name in help; for every type but `flag`. */
  readonly value?: string | undefined;
  /** One sentence in lower case, without a period. */
  readonly description: string;
  /** The default, for the help text. */
  readonly default?: string | undefined;
  /** What shells complete: paths, or likely words. */
  readonly complete?: "file" | "directory" | readonly string[] | undefined;
  /** Of two flags for one setting, the one that means false. */
  readonly negates?: boolean | undefined;
}

const textFlag = (name: string, value: string, description: string, fallback: string): FlagSpec => ({
  name,
  type: "text",
  value,
  description,
  default: fallback,
});

/** @param whose in help: `the dashboard's` */
export const hostFlag = (name: string, whose: string, fallback: string): FlagSpec =>
  textFlag(name, "HOST", `address of ${whose} listener`, fallback);
export const portFlag = (name: string, whose: string, fallback: string): FlagSpec =>
  textFlag(name, "PORT", `port of ${whose} listener, 0 for any`, fallback);
/** Of a file or a socket. */
export const pathFlag = (name: string, description: string, fallback: string): FlagSpec => ({
  ...textFlag(name, "PATH", description, fallback),
  complete: "file",
});

interface Setting<T> {
  /** The setting's path in the configuration file, such as `addin.port`. */
  readonly key: string;
  /** If there are several, they are mutually exclusive. */
  readonly flags?: readonly FlagSpec[] | undefined;
  readonly variable?: string | undefined;
  readonly schema: v.GenericSchema<unknown, T>;
  /** Completes the message "X must be …". */
  readonly expected: string;
  readonly fallback: T;
  readonly secret?: boolean | undefined;
}

/** The inputs that settings are read from. */
export interface SettingInputs {
  /** Command-line options by name, without dashes. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: { readonly path: string; readonly text: string } | undefined;
}

interface Candidate {
  readonly raw: unknown;
  readonly source: SettingSource;
  readonly from: string;
}

/** Reads settings and records where each came from. */
export class SettingReader {
  readonly #inputs: SettingInputs;
  readonly #fileValues: ReadonlyMap<string, unknown>;
  readonly #reports: SettingReport[] = [];
  /** The problems of the part that is being read; undefined outside a part. */
  #problems: AppError[] | undefined;

  /** @throws AppError CONFIGURATION_INVALID when the file is not a JSON object. */
  constructor(inputs: SettingInputs) {
    this.#inputs = inputs;
    this.#fileValues = inputs.file === undefined ? new Map() : parseFile(inputs.file);
  }

  get reports(): readonly SettingReport[] {
    return this.#reports;
  }

  /**
   * Reads the settings of one part. An invalid value from the environment or the file does not throw: the default is used,
   * and the problem is returned for code that needs the part. @throws AppError CONFIGURATION_INVALID if a flag is invalid
   */
  part<Values>(read: () => Values): { readonly values: Values; readonly problem: AppError | undefined } {
    const problems: AppError[] = [];
    this.#problems = problems;
    try {
      return { values: read(), problem: problems[0] };
    } finally {
      this.#problems = undefined;
    }
  }

  /** Reports settings that cannot be combined. @throws AppError CONFIGURATION_INVALID outside a part */
  refuse(message: string): void {
    const error = new AppError("CONFIGURATION_INVALID", message);
    if (this.#problems === undefined) throw error;
    this.#problems.push(error);
  }

  /** @throws AppError CONFIGURATION_INVALID: outside a part, or for a flag */
  read<T>(setting: Setting<T>): T {
    const candidate = this.#candidateFor(setting);
    if (candidate === undefined) {
      this.#report(setting, setting.fallback, { source: "default", from: undefined });
      return setting.fallback;
    }
    const parsed = tryParse(setting.schema, candidate.raw, { mayBeArray: true });
    if (parsed.success) {
      this.#report(setting, parsed.output, candidate);
      return parsed.output;
    }
    const shown = setting.secret === true ? "" : ` (it is ${JSON.stringify(candidate.raw)})`;
    const problem = `${candidate.from} must be ${setting.expected}${shown}`;
    // An invalid flag is always an error, because the user has just typed it.
    if (candidate.source === "flag") throw new AppError("CONFIGURATION_INVALID", problem);
    this.refuse(problem);
    this.#report(setting, setting.fallback, { ...candidate, problem });
    return setting.fallback;
  }

  /**
   * The variable of an adapter's setting: its own name, or the contract's name, which several adapters share, if only this
   * adapter is served and its own variable is not set.
   */
  variableOf(adapter: string, own: string, shared: string): string {
    const { options, env } = this.#inputs;
    return options["only"] === adapter && isBlank(env[own]) && !isBlank(env[shared]) ? shared : own;
  }

  /** Whether one of the settings read so far was set explicitly: by a flag, in the file, or by its own variable. */
  isConfigured(prefix: string, ownVariable: RegExp): boolean {
    return this.#reports.some(
      ({ key, source, from = "" }) =>
        key.startsWith(prefix) &&
        (source === "flag" || source === "file" || (source === "environment" && ownVariable.test(from))),
    );
  }

  /** Refuses unknown settings in the file, because a misspelt one would otherwise be ignored. */
  requireFileUnderstood(): void {
    const known = new Set(this.#reports.map((report) => report.key));
    const unknown = [...this.#fileValues.keys()].find((key) => !known.has(key));
    if (unknown === undefined) return;
    const path = this.#inputs.file?.path ?? "the configuration file";
    throw new AppError("CONFIGURATION_INVALID", `${path}: unknown setting "${unknown}"; remove it or correct its name`);
  }

  /** An empty flag or variable counts as absent. @throws AppError CONFIGURATION_INVALID */
  #candidateFor<T>({ key, flags = [], variable }: Setting<T>): Candidate | undefined {
    const { options, env, file } = this.#inputs;
    const given = flags.filter(
      ({ name }) => options[name] !== undefined && options[name] !== "" && options[name] !== false,
    );
    const [flag, other] = given;
    if (flag !== undefined && other !== undefined) {
      const message = `give --${flag.name} or --${other.name}, not both`;
      throw new AppError("CONFIGURATION_INVALID", message);
    }
    if (flag !== undefined) {
      return { raw: flag.negates === true ? false : options[flag.name], source: "flag", from: `--${flag.name}` };
    }
    const exported = variable === undefined ? undefined : env[variable];
    if (variable !== undefined && !isBlank(exported)) {
      return { raw: exported, source: "environment", from: variable };
    }
    if (file === undefined || !this.#fileValues.has(key)) return undefined;
    return { raw: this.#fileValues.get(key), source: "file", from: `"${key}" in ${file.path}` };
  }

  #report<T>(setting: Setting<T>, value: T, { source, from, problem }: Omit<SettingReport, "key" | "value">): void {
    const shown = setting.secret === true && value !== undefined ? "(set)" : value;
    this.#reports.push({ key: setting.key, value: shown, source, from, problem });
  }
}

const isBlank = (value: string | undefined): boolean => value === undefined || value.trim() === "";

/** The leaves of the file's object, by their dotted paths. */
function parseFile(file: { readonly path: string; readonly text: string }): Map<string, unknown> {
  let root: unknown;
  try {
    root = JSON.parse(file.text);
  } catch (error) {
    const reason = messageOf(error);
    throw new AppError("CONFIGURATION_INVALID", `${file.path} is not valid JSON: ${reason.split("\n", 1)[0]}`, {
      cause: error,
    });
  }
  if (!isFields(root)) throw new AppError("CONFIGURATION_INVALID", `${file.path} must contain one JSON object`);
  const leaves = new Map<string, unknown>();
  const visit = (object: Fields, prefix: string): void => {
    for (const [name, value] of Object.entries(object)) {
      if (isFields(value)) visit(value, `${prefix}${name}.`);
      else leaves.set(`${prefix}${name}`, value);
    }
  };
  visit(root, "");
  return leaves;
}
