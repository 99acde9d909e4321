/** `wait-for` and `session-wait`: the server waits for the output and responds once; there is no polling. */
import type { FreshellWaitResponse, FreshellWaitMatch } from "../../../protocol/api/freshell/freshellHttp.ts";
import { AppError } from "../../../protocol/errors.ts";
import { CommandFailure, failureOf } from "./commandFailure.ts";
import type { Io } from "../../cli/cliIo.ts";
import type { OptionSpec } from "../../cli/commandTypes.ts";
import { printable } from "../../cli/textTable.ts";
import { DEVICE_OPTION, flag, number, TAB_OPTION, text } from "./commandOptions.ts";
import { waitTarget } from "./commandTargets.ts";
import { type FreshellCall, freshellCommand } from "./freshellCommand.ts";
import { rehearseResponse } from "./freshellRequest.ts";

/** For every wait. */
export const WAIT_OPTIONS: readonly OptionSpec[] = [
  text("from", "WHERE", "now, or tail:N for the last N lines as well", { default: "now", complete: ["now", "tail:"] }),
  text("pattern", "PATTERN", "the output shows this", { short: "p", dashed: true }),
  flag("literal", "the pattern is text, as it is without --regex"),
  flag("regex", "the pattern is a regular expression in RE2 syntax"),
  number("stable", "SECONDS", "no output for this long"),
  flag("exit", "the program has ended"),
  number("timeout", "SECONDS", "give up after this time", { short: "T", default: "30" }),
];

export const waitForCommand = freshellCommand<FreshellWaitResponse>({
  name: "wait-for",
  summary: "wait until a terminal or session shows some text, is quiet, or its program ends",
  details: [
    "All conditions must hold at the same time. --stable is checked once all others hold.",
    "--prompt is a guess: a line that ends in $, #, > or % looks like a prompt, so do progress bars and quoted mail. Add " +
      "--stable or a pattern before you rely on it.",
  ],
  options: [
    text("target", "TARGET", "terminal:ID, pane:ID, pane-index:N or session:PROVIDER:ID"),
    TAB_OPTION,
    DEVICE_OPTION,
    ...WAIT_OPTIONS,
    flag("prompt", "the last line looks like a shell's prompt"),
  ],
  examples: [
    { line: "freshell wait-for --target terminal:ID -p 'tests passed' -T 600", does: "ten minutes at most" },
    {
      line: "freshell wait-for --target terminal:ID --regex -p '(PASS|FAIL)$' --from tail:50",
      does: "searches the last 50 lines too",
    },
    { line: "freshell wait-for --target terminal:ID --exit --stable 1", does: "ended, and no output for a second" },
  ],
  perform: async (call) => {
    const predicates = predicatesOf(call);
    return waitFor(call, await waitTarget(call), predicates);
  },
  show: shownWait,
});

/** @throws AppError, CommandFailure */
export async function waitFor(call: FreshellCall, target: object, predicates: object): Promise<FreshellWaitResponse> {
  const { io, session } = call;
  try {
    const body = { target, ...predicates };
    const meanwhile = (): void => rehearse(io, session.url);
    return await session.call({ method: "POST", path: "/api/waits", body, changes: false, meanwhile });
  } catch (error) {
    throw withHint(error, call);
  }
}

export function shownWait({ matched, exitCode, failure }: FreshellWaitResponse): string {
  const lines = matched.map((match) => shown(match, exitCode));
  return [...lines, failure === undefined ? "" : `failure: ${printable(failure)}\n`].join("");
}

/** Warms up the code that will report the response. */
function rehearse(io: Io, url: string): void {
  rehearseResponse(url);
  shown({ predicate: "pattern", text: "" }, undefined);
  void io.out("");
}

/** @throws AppError INVALID_ARGUMENT */
export function predicatesOf({ options, name }: FreshellCall): object {
  const given = (flagName: string): true | undefined => (options.flag(flagName) ? true : undefined);
  const [pattern, stableSec] = [options.text("pattern"), options.number("stable")];
  const [literal, regex, exit, prompt] = [given("literal"), given("regex"), given("exit"), given("prompt")];
  if (literal && regex) throw invalid("give --literal or --regex, not both");
  if (pattern === undefined && (literal ?? regex)) {
    throw invalid(`--${regex ? "regex" : "literal"} needs a pattern: give -p PATTERN`);
  }
  if (pattern === undefined && stableSec === undefined && !exit && !prompt) {
    throw invalid(
      `${name} needs something to wait for: -p PATTERN, --stable SECONDS, or another condition: see \`freshell help ${name}\``,
    );
  }
  const [from, timeoutSec] = [options.text("from"), options.number("timeout")];
  return { pattern, literal, regex, from, stableSec, exit, prompt, timeoutSec };
}

/** Users of grep write a regular expression, and wait in vain for its literal text. */
function withHint(error: unknown, { options }: FreshellCall): unknown {
  const isMeant = !options.flag("regex") && REGEX_LIKE.test(options.text("pattern") ?? "");
  const { fault } = failureOf(error);
  if (fault.code !== "TIMEOUT" || !isMeant) return error;
  const message = `${fault.message}; the pattern was taken as text: add --regex if it is a regular expression`;
  return new CommandFailure({ ...fault, message }, { cause: error });
}

const REGEX_LIKE = /^\^|\$$|\.[*+]|\\[dsw]|\w\|\w/;

/** The text is foreign. */
function shown(match: FreshellWaitMatch, exitCode: number | undefined): string {
  const what = match.predicate === "exit" && exitCode !== undefined ? String(exitCode) : match.text;
  return what === undefined ? `${match.predicate}\n` : `${match.predicate}: ${printable(what)}\n`;
}

const invalid = (message: string): AppError => new AppError("INVALID_ARGUMENT", message);
