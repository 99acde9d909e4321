/**
 * A command that performs one operation of the API: its input comes from positionals and from options derived from the
 * operation's schema; with --json it prints the operation's output unchanged.
 */
import type { OperationName } from "../../../protocol/api/operationRoutes.ts";
import { OPERATION_FACTS, type OperationFacts } from "../../operations/operationFacts.ts";
import { SCOPE_NAMES } from "../../operations/scopes.ts";
import type { SchemaMember } from "../../operations/schemaMembers.ts";
import { CLIENT_OPTIONS, connect, paneNamed, startDirectory } from "../connection/clientConnection.ts";
import type { CommandCall, CommandSpec, Example, OptionSpec, PositionalSpec } from "../../cli/commandTypes.ts";
import { usageError } from "../../cli/parseCommand.ts";

/** `gives`: what the word sets, the target (`server`, `session`, `pane`) or a member of the input. */
export type GivingPositional = PositionalSpec & {
  readonly gives: string;
  /** Names a pane; `.`, or no word where it is optional, means the pane this process runs in. */
  readonly isPane?: true;
};

export interface OperationCommand<Output> {
  readonly operation: OperationName;
  readonly name: string;
  readonly aliases?: readonly string[] | undefined;
  /** Default: the operation's description. */
  readonly details?: readonly string[] | undefined;
  readonly positionals?: readonly GivingPositional[] | undefined;
  readonly tail?: string | undefined;
  /** The members that become options; default: all that are not positionals. */
  readonly members?: readonly string[] | undefined;
  /** Overrides of the options derived from the schema. */
  readonly tweak?: Readonly<Record<string, Partial<OptionSpec>>> | undefined;
  /** Options that are not members: `input` reads them, except the `--key` of an idempotent operation. */
  readonly options?: readonly OptionSpec[] | undefined;
  readonly examples: readonly Example[];
  /** Further members; they override those from the options. @throws AppError INVALID_ARGUMENT */
  readonly input?: ((call: CommandCall) => object | Promise<object>) | undefined;
  /** Prints the output when --json is not given; default: print nothing. */
  readonly show?: ((call: CommandCall, output: Output) => Promise<void> | void) | undefined;
  /** Other spellings of the positionals. @throws AppError INVALID_ARGUMENT */
  readonly respelled?: ((words: readonly string[]) => readonly string[]) | undefined;
  /** What of the output is wanted; default: all. @throws AppError NOT_FOUND */
  readonly selected?: ((call: CommandCall, output: Output) => Output) | undefined;
  /** Default 0. */
  readonly exitCode?: ((output: Output) => number) | undefined;
}

export function operationCommand<Output extends object>(command: OperationCommand<Output>): CommandSpec {
  const { operation: id, name, aliases, positionals = [], examples } = command;
  const operation = OPERATION_FACTS[id];
  const details = command.details ?? (operation.description === undefined ? undefined : [operation.description]);
  const members = new Map(operation.members);
  const taken = new Set(positionals.map(({ gives }) => gives));
  const optional = command.members ?? [...members.keys()].filter((member) => !taken.has(member));
  const options = memberOptions(id, optional, command.tweak);
  return {
    name,
    aliases,
    summary: helpText(operation.summary),
    details,
    positionals,
    tail: command.tail,
    options: [...options.values(), ...(command.options ?? []), ...CLIENT_OPTIONS],
    examples,
    run: async (given) => {
      const call = { ...given, positionals: command.respelled?.(given.positionals) ?? given.positionals };
      const { io } = call;
      const input: Record<string, unknown> = {};
      const names: Record<string, string> = {};
      for (const [at, positional] of positionals.entries()) {
        const words = call.positionals.slice(at, positional.many === true ? undefined : at + 1);
        const [word] = words;
        if (positional.isPane === true) {
          const pane = await paneNamed(call, word);
          if (isName(operation, positional.gives)) names[positional.gives] = pane;
          else input[positional.gives] = pane;
        } else if (isName(operation, positional.gives)) names[positional.gives] = word ?? "";
        else if (word !== undefined) input[positional.gives] = valueOf(call, members, positional.gives, words);
      }
      for (const [member, option] of options) {
        // Where the server is a member it is an option of its own (`--on`); `--server` says the same.
        const value = optionValue(call, option) ?? (member === "server" ? call.options.text("server") : undefined);
        if (value !== undefined) input[member] = valueOf(call, members, member, value);
      }
      Object.assign(input, await command.input?.(call));
      const client = await connect(call);
      const idempotencyKey = operation.idempotent === true ? call.options.text("key") : undefined;
      const whole = await client.perform<Output>(id, names, input, { signal: io.signal, idempotencyKey });
      const output = command.selected?.(call, whole) ?? whole;
      if (call.options.flag("json")) await io.out(`${JSON.stringify(output)}\n`);
      else {
        await command.show?.(call, output);
        sayUnreachable(call, output);
      }
      return command.exitCode?.(output) ?? 0;
    },
  };
}

/** Options for members of an operation's input, by their names. */
export function memberOptions(
  operation: OperationName,
  names: readonly string[],
  tweak: OperationCommand<object>["tweak"] = {},
): ReadonlyMap<string, OptionSpec> {
  const members = new Map(OPERATION_FACTS[operation].members);
  return new Map(names.map((name) => [name, { ...optionOf(name, members.get(name)), ...tweak[name] }]));
}

/** A list says which machines it lacks; in JSON it has them. */
function sayUnreachable({ io }: CommandCall, output: object): void {
  const { unreachable = [] } = output as { readonly unreachable?: readonly string[] };
  if (unreachable.length > 0)
    io.err(`tmuxwire: without what is on ${unreachable.join(", ")}, which did not respond; run \`tmuxwire hosts\`\n`);
}

const isName = ({ scope }: OperationFacts, word: string): boolean =>
  (SCOPE_NAMES[scope] as readonly string[]).includes(word);

/** Derived from the schema. */
function optionOf(name: string, member: SchemaMember | undefined): OptionSpec {
  if (member === undefined) throw new TypeError(`the operation has no member ${name}`);
  const { kind, description = "", choices, min, max } = member;
  const spec = { name, description: helpText(description) };
  switch (kind) {
    case "flag":
      return { ...spec, type: "flag" };
    case "number":
      return { ...spec, type: "number", value: "N", min, max };
    case "record":
      return { ...spec, type: "list", value: "NAME=VALUE" };
    case "list":
      return { ...spec, type: "list", value: name.toUpperCase() };
    case "text":
    case "numberOrText":
    case "other":
      return { ...spec, type: "text", value: name.toUpperCase(), choices };
  }
}

function optionValue(
  { options }: CommandCall,
  { name, type }: OptionSpec,
): boolean | string | readonly string[] | undefined {
  switch (type) {
    case "flag":
      return options.flag(name) ? true : undefined;
    case "number":
      return options.number(name)?.toString();
    case "list":
      return options.list(name).length === 0 ? undefined : options.list(name);
    case "text":
      return options.text(name);
  }
}

/** The schema's value from the word given on the command line. */
function valueOf(
  call: CommandCall,
  members: ReadonlyMap<string, SchemaMember>,
  name: string,
  given: boolean | string | readonly string[],
): unknown {
  if (typeof given === "boolean") return given;
  const words = typeof given === "string" ? [given] : given;
  const [word = ""] = words;
  switch (members.get(name)?.kind) {
    case "number":
      if (!/^\d+(?:\.\d+)?$/.test(word))
        throw usageError(`${name.toUpperCase()} must be a number, not ${JSON.stringify(word)}`);
      return Number(word);
    case "numberOrText":
      return /^\d+$/.test(word) ? Number(word) : word;
    case "list":
      return words;
    case "record":
      return Object.fromEntries(words.map((each) => variable(name, each)));
    case "text":
    case "flag":
    case "other":
    case undefined:
      return name === "cwd" ? startDirectory(call, word) : words.join(" ");
  }
}

function variable(name: string, given: string): readonly [string, string] {
  const at = given.indexOf("=");
  if (at < 1) throw usageError(`--${name} must be NAME=VALUE, not ${JSON.stringify(given)}`);
  return [given.slice(0, at), given.slice(at + 1)];
}

/** The first sentence in help's form: lower case, without a period. */
function helpText(text: string): string {
  const [first = ""] = text.split(/\.(?: |$)/, 1);
  return first.charAt(0).toLowerCase() + first.slice(1);
}
