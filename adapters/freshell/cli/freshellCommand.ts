/**
 * A row of the command table of `freshell`: what it takes, the request that it makes, and how the response is shown. Its options
 * and arguments are the members of that request. With `--json` stdout holds exactly one document, on success and on failure;
 * without, text for a person.
 */
import { resolve } from "node:path";
import { type AppError, ERROR_SURFACES, toAppError } from "../../../protocol/errors.ts";
import { type Io, Interrupted } from "../../cli/cliIo.ts";
import type { CommandCall, CommandSpec, OptionSpec, PositionalSpec } from "../../cli/commandTypes.ts";
import { oneLine, printable, table } from "../../cli/textTable.ts";
import { deviceIdentity } from "./deviceIdentity.ts";
import type { CommandFailure } from "./freshellRequest.ts";
import { type Call, FreshellSession } from "./freshellSession.ts";

/** The member of the request that it gives; default for options: their name in camel case; null: none. */
type Giving<Spec> = Spec & { readonly gives?: string | null | undefined };
export type Option = Giving<OptionSpec>;
/** `complete` marks a path, as with options. */
type Positional = Giving<PositionalSpec> & { readonly complete?: OptionSpec["complete"] };
type Example = readonly [line: string, does: string];

export interface FreshellCall extends CommandCall {
  /** The command's name, for messages. */
  readonly name: string;
  readonly session: FreshellSession;
  /** What options and arguments give, as the request has it. */
  readonly members: Readonly<Record<string, unknown>>;
}

export interface FreshellRow<Data> extends Pick<CommandSpec, "name" | "summary" | "details"> {
  readonly positionals?: readonly Positional[];
  readonly options?: readonly Option[];
  /** Without the name of the program. */
  readonly examples?: readonly Example[];
  /** What the server is asked. Refuses bad input before. @throws AppError */
  readonly asks?: (call: FreshellCall) => Call | Promise<Call>;
  /** Instead, for what is more than one request. @throws AppError */
  readonly perform?: (call: FreshellCall) => Promise<Data> | Data;
  /** For a person; default nothing. */
  readonly show?: ((data: Data) => string) | undefined;
}

export function freshellCommand<Data>(row: FreshellRow<Data>): CommandSpec {
  const { name, summary, details, positionals = [], options: own = [], examples = [], asks, perform, show } = row;
  return {
    name,
    summary,
    details,
    positionals,
    options: [...own, flag("json", "print one JSON document")],
    examples: examples.map(([line, does]) => ({ line: `freshell ${line}`, does })),
    run: async (command) => {
      const { io, options } = command;
      const session = new FreshellSession(io);
      makeIdentity(io);
      const call = { ...command, name, session, members: membersOf(command, own, positionals) };
      const data = await (asks === undefined ? perform?.(call) : session.call<Data>(await asks(call)));
      if (options.flag("json")) await io.out(`${JSON.stringify({ status: "ok", data })}\n`);
      else await io.out(show?.(data as Data) ?? "");
      return 0;
    },
  };
}

/** Undefined for what is not given, and for a flag that is off: requests leave it out. */
function membersOf(
  { io, options, positionals: words }: CommandCall,
  own: readonly Option[],
  positionals: readonly Positional[],
): FreshellCall["members"] {
  const given = (value: unknown, { complete }: Pick<Option, "complete">): unknown =>
    complete === "file" || complete === "directory" ? absolutePath(io, value as string | undefined) : value;
  return Object.fromEntries([
    ...positionals.flatMap((spec, at) => {
      const word = spec.many === true ? words.slice(at) : words[at];
      return typeof spec.gives === "string" && word !== undefined ? [[spec.gives, given(word, spec)] as const] : [];
    }),
    ...own.flatMap((spec) => {
      const { name, gives = name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase()) } = spec;
      const value = options.all[name];
      return gives === null || value === undefined ? [] : [[gives, given(value, spec)] as const];
    }),
  ]);
}

/** The path that a value names: it means the same everywhere on this machine. A quoted `~` is the home directory too. */
const absolutePath = (io: Io, path: string | undefined): string | undefined =>
  path === undefined || path === ""
    ? path
    : resolve(
        io.cwd,
        path.replace(/^~(?=\/|$)/, () => io.homeDir),
      );

/** By the first command, whichever it is. Only commands that need it fail without: the home may be read-only. */
function makeIdentity(io: Io): void {
  try {
    deviceIdentity(io);
  } catch {
    // Commands that need it try again, and fail.
  }
}

/** Reports a command's failure, and returns the exit code. */
export async function reportFreshellFailure(io: Io, thrown: unknown, json: boolean): Promise<number> {
  const reason = [thrown, io.signal.reason].find((one) => one instanceof Interrupted);
  if (reason !== undefined) return reason.exitCode;
  const error: AppError & Partial<CommandFailure> = toAppError(thrown);
  const { code, message, details = {}, stage, exitCode = ERROR_SURFACES[code].exitCode } = error;
  if (json) await io.out(`${JSON.stringify({ status: "error", code, message, details, stage })}\n`);
  io.err(`freshell: ${oneLine(message)} (${code})\n`);
  return exitCode;
}

// Short forms to declare rows with.
type More = Partial<Option>;
export const text = (name: string, value: string, description: string, more: More = {}): Option => {
  return { name, type: "text", value, description, ...more };
};
export const number = (name: string, value: string, description: string, more: More = {}): Option => {
  return { ...text(name, value, description, more), type: "number" };
};
export const flag = (name: string, description: string, short?: string): Option => {
  return { name, short, type: "flag", description };
};
export const word = (name: string, description: string, more: Partial<Positional> = {}): Positional => {
  return { name, description, ...more };
};

export const get = (path: string): Call => ({ method: "GET", path });
export const post = (path: string, body: object): Call => ({ method: "POST", path, body });

type Columns<Row> = readonly (readonly [head: string, cell: (row: Row) => string])[];
/** Shows a list as a table. */
export const listed =
  <Row>(columns: Columns<Row>) =>
  (rows: readonly Row[]): string =>
    table(
      columns.map(([head]) => head),
      rows.map((row) => columns.map(([, cell]) => cell(row))),
    );

/** Shows names and values, a line each. */
export const facts = (width: number, rows: readonly (readonly [name: string, value: string])[]): string =>
  rows.map(([name, value]) => `${name.padEnd(width)}${printable(value)}\n`).join("");

/** Unix milliseconds as an ISO time. */
export const isoTime = (unixMs: number): string => new Date(unixMs).toISOString();

export const TAB_OPTION = text("tab", "TAB", "the tab of pane-index:N: tab:ID, tab-name:NAME or tab-index:N");
export const DEVICE_OPTION = text("device", "DEVICE", "the device that has the pane", {
  default: "this command line",
  gives: null,
});
