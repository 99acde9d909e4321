/**
 * Parses a command line by the command table: the command, and its options and positionals, validated. Anything that is not
 * in the table is refused with one line that says what would be right.
 */
import { parseArgs } from "node:util";
import { nameFor, nearestName } from "../../protocol/text/nearestName.ts";
import { type AppError, invalidArgument } from "../../protocol/errors.ts";
import type { CommandSpec, OptionSpec, OptionValue, Program } from "./commandTypes.ts";
import { OptionValues } from "./commandTypes.ts";

/** Options of every command. */
const COMMON_OPTIONS: readonly OptionSpec[] = [
  { name: "help", short: "h", type: "flag", description: "show help for this command" },
];

/** All options of a command. */
export const optionsOf = (command: CommandSpec): readonly OptionSpec[] => [...command.options, ...COMMON_OPTIONS];

interface ParsedCommand {
  readonly options: OptionValues;
  readonly positionals: readonly string[];
  readonly tail: readonly string[];
  readonly help: boolean;
}

export function usageError(message: string): AppError {
  return invalidArgument(message);
}

/**
 * The words of a command whose first word says what to do; without one it does the first of `words`.
 * @param words what each takes after itself, by names for messages
 * @throws AppError INVALID_ARGUMENT
 */
export function actionWords<Action extends string>(
  given: readonly string[],
  words: Readonly<Record<Action, readonly string[]>>,
): readonly [Action, ...string[]] {
  const [action = Object.keys(words)[0] as Action, ...rest] = given as [Action?, ...string[]];
  const wanted = words[action];
  if (rest.length < wanted.length) throw usageError(`missing ${wanted[rest.length]}`);
  if (rest.length > wanted.length) throw usageError(`unexpected ${JSON.stringify(rest.at(-1))}`);
  return [action, ...rest];
}

/** The command with this name. @throws AppError INVALID_ARGUMENT with the nearest name, if one is near. */
export function findCommand(
  { name: program, commands, topics = [] }: Pick<Program, "name" | "commands" | "topics">,
  name: string,
): CommandSpec {
  const command = commandNamed(commands, name);
  if (command !== undefined) return command;
  if (name.startsWith("-")) {
    const words = JSON.stringify(name);
    throw usageError(`there is no command ${words}; put options after the command: ${program} COMMAND ${name}`);
  }
  const near = nearestName(name, [
    ...commands.flatMap((candidate) => [candidate.name, ...(candidate.aliases ?? [])]),
    "help",
    ...topics.map((topic) => topic.name),
  ]);
  const hint = near === undefined ? `\`${program} help\` lists the commands` : `did you mean "${near}"?`;
  throw usageError(`there is no command ${JSON.stringify(name)}; ${hint}`);
}

/** By its name or an alias. */
export const commandNamed = (commands: readonly CommandSpec[], name: string | undefined): CommandSpec | undefined =>
  commands.find((candidate) => candidate.name === name || candidate.aliases?.includes(name ?? "") === true);

/** @throws AppError INVALID_ARGUMENT */
export function parseCommand(program: string, command: CommandSpec, args: readonly string[]): ParsedCommand {
  const end = command.tail === undefined ? -1 : args.indexOf("--");
  const [before, tail] = end < 0 ? [args, []] : [args.slice(0, end), args.slice(end + 1)];
  const own = ownWords(command, before);
  const { values, positionals } = parseTokens(program, command, own);
  const help = values["help"] === true;
  if (!help) {
    positionals.push(...restOf(program, command, before.slice(own.length)));
    checkPositionals(program, command, positionals);
  }
  return { options: new OptionValues(values), positionals, tail, help };
}

/** The words up to another program's command line (`takesRest`). */
export function ownWords(command: CommandSpec, args: readonly string[]): readonly string[] {
  const before = command.positionals.length - 1;
  if (command.positionals[before]?.takesRest !== true) return args;
  const { tokens } = tokensOf(optionsOf(command), args);
  const last = tokens.filter(({ kind }) => kind === "positional")[before - 1];
  return last === undefined ? args : args.slice(0, last.index + 1);
}

/** Drops one leading `--`; without it, a leading dash means a misplaced option, and so does an option of ours at the end. */
function restOf(program: string, command: CommandSpec, rest: readonly string[]): readonly string[] {
  const { name, positionals } = command;
  const [first = ""] = rest;
  if (first === "--") return rest.slice(1);
  const behind = optionBehind(command, rest);
  if (behind !== undefined) {
    const target = positionals.at(-2)?.name ?? "it";
    throw usageError(
      `${name}: ${behind} behind ${target} would be part of the command; put it before ${target}, or -- before the command ` +
        `if that is what you mean; see \`${program} help ${name}\``,
    );
  }
  if (!first.startsWith("-")) return rest;
  throw usageError(
    `${name}: ${first} is not a ${positionals.at(-1)?.name ?? "command"}; put options before ` +
      `${positionals.at(-2)?.name ?? "it"}, and -- before a command that begins with a dash; see \`${program} help ${name}\``,
  );
}

/** Options that hardly any other program has. */
const OURS_ALONE: ReadonlySet<string> = new Set(["server", "socket", "token-file"]);
/** A server of another machine, which no other program has: `run` takes it at the end. */
export const isServerElsewhere = (name: string): boolean => /^[\w-]+@[\w.-]+$/.test(name);

/**
 * An option of ours at the end: one that hardly any other program has; one with a value behind a command of one word; any
 * behind a whole line in one word.
 */
function optionBehind(command: CommandSpec, rest: readonly string[]): string | undefined {
  for (const words of [rest.slice(-2), rest.slice(-1)]) {
    const [, optionName, inline] = /^--([a-z-]+)(?:=(.*))?$/.exec(words[0] ?? "") ?? [];
    const spec = command.options.find((each) => each.name === optionName);
    if (spec === undefined || rest.length === words.length) continue;
    const isFlag = spec.type === "flag";
    const isWhole = (words.length === 2) === (!isFlag && inline === undefined);
    const isLast = rest.length === words.length + 1 && (!isFlag || /\s/.test(rest[0] ?? ""));
    const isOurs = OURS_ALONE.has(spec.name) || isLast;
    const isElsewhere = spec.name === "server" && isServerElsewhere(inline ?? words[1] ?? "");
    if (isWhole && isOurs && !isElsewhere) return words.join(" ");
  }
  return undefined;
}

function parseTokens(
  program: string,
  command: CommandSpec,
  args: readonly string[],
): { values: Record<string, OptionValue>; positionals: string[] } {
  const specs = optionsOf(command);
  const { tokens } = tokensOf(specs, args);
  const values: Record<string, OptionValue> = {};
  const positionals: string[] = [];
  /** Index of the word taken by the preceding option. */
  let taken = -1;
  for (const [at, token] of tokens.entries()) {
    if (token.kind === "positional" && token.index !== taken) positionals.push(token.value);
    if (token.kind !== "option") continue;
    const spec = specs.find((candidate) => candidate.name === token.name);
    const last = command.positionals.at(-1);
    if (last?.verbatim === true && positionals.length > 0 && (spec === undefined || !token.rawName.startsWith("--"))) {
      const advice = `put options before ${last.name}, and -- before words that begin with a dash`;
      throw usageError(
        `${token.rawName} after ${JSON.stringify(positionals[0])} could be an option or a word: ${advice}`,
      );
    }
    if (spec === undefined) throw unknownOption(program, command, specs, token.rawName);
    // In a command without positionals, the word after an option with an optional value is its value.
    const next = spec.implied !== undefined && command.positionals.length === 0 ? tokens[at + 1] : undefined;
    const follows = token.value === undefined && next?.kind === "positional" && next.index === token.index + 1;
    if (follows) taken = next.index;
    const value = token.value ?? (follows ? next.value : spec.implied);
    const mayBegin = token.inlineValue === true || (spec.dashed === true && !isOption(specs, value));
    takeValue(values, spec, token.rawName, value, mayBegin);
  }
  return { values, positionals };
}

const tokensOf = (specs: readonly OptionSpec[], args: readonly string[]) =>
  parseArgs({
    args: [...args],
    options: Object.fromEntries(
      specs.map(({ name, short, type, implied }) => [
        name,
        {
          type: type === "flag" || implied !== undefined ? ("boolean" as const) : ("string" as const),
          ...(short === undefined ? {} : { short }),
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

/** Whether a word is one of the command's options. */
const isOption = (specs: readonly OptionSpec[], word: string | undefined): boolean =>
  specs.some(({ name, short }) => word === `--${name}` || (short !== undefined && word === `-${short}`));

function takeValue(
  values: Record<string, OptionValue>,
  spec: OptionSpec,
  rawName: string,
  value: string | undefined,
  mayBeginWithDash: boolean,
): void {
  if (spec.type === "flag") {
    if (value !== undefined) throw usageError(`${rawName} takes no value`);
    values[spec.name] = true;
    return;
  }
  // `--lines --json`: a value that looks like an option means that the value is missing, unless written `--text=--json`.
  if (value === undefined || (!mayBeginWithDash && value.startsWith("-") && value.length > 1)) {
    throw usageError(
      `${rawName} needs a value (${spec.value ?? "VALUE"}); write one that begins with - as ${rawName}=-…`,
    );
  }
  const checked = checkValue(spec, rawName, value);
  if (spec.type === "list") values[spec.name] = [...((values[spec.name] as string[] | undefined) ?? []), value];
  else values[spec.name] = checked;
}

function checkValue(spec: OptionSpec, rawName: string, value: string): OptionValue {
  if (spec.choices !== undefined && !spec.choices.includes(value)) {
    throw usageError(`${rawName} must be one of ${spec.choices.join(", ")}, not ${JSON.stringify(value)}`);
  }
  if (spec.type !== "number") return value;
  const [min, max] = [spec.min ?? 0, spec.max ?? Number.MAX_SAFE_INTEGER];
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) {
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    throw usageError(`${rawName} must be a number ${range}, not ${JSON.stringify(value)}`);
  }
  return number;
}

function unknownOption(program: string, command: CommandSpec, specs: readonly OptionSpec[], rawName: string): AppError {
  const given = rawName.replace(/^-+/, "");
  const names = specs.map((spec) => spec.name);
  const near = nameFor(given, names) ?? nearestName(given, names);
  const hint = near === undefined ? `see \`${program} help ${command.name}\`` : `did you mean --${near}?`;
  return usageError(`${command.name} has no option ${rawName}; ${hint}`);
}

function checkPositionals(program: string, command: CommandSpec, given: readonly string[]): void {
  const specs = command.positionals;
  const missing = specs.slice(given.length).find((spec) => spec.optional !== true);
  if (missing !== undefined) {
    throw usageError(
      `${command.name}: missing ${missing.name} (${missing.description}); see \`${program} help ${command.name}\``,
    );
  }
  const takesMany = specs.at(-1)?.many === true;
  if (!takesMany && given.length > specs.length) {
    throw usageError(
      `${command.name}: unexpected argument ${JSON.stringify(given[specs.length])}; see \`${program} help ${command.name}\``,
    );
  }
  for (const [at, spec] of specs.entries()) {
    const value = given[at];
    if (value !== undefined && spec.choices !== undefined && !spec.choices.includes(value)) {
      throw usageError(`${spec.name} must be one of ${spec.choices.join(", ")}, not ${JSON.stringify(value)}`);
    }
  }
}
