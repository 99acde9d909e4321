/** `wait-for` and `session-wait`: the server waits for the output and responds once; there is no polling. */
import type { FreshellWaitResponse, FreshellWaitMatch } from "../../../protocol/api/freshell/freshellHttp.ts";
import { AppError } from "../../../protocol/errors.ts";
import { CommandFailure, failureOf } from "./commandFailure.ts";
import type { Io } from "../../bin/cli/cliIo.ts";
import type { CommandCall, OptionSpec } from "../../bin/cli/commandTypes.ts";
import { printable } from "../../bin/cli/textTable.ts";
import { DEVICE_OPTION, TAB_OPTION, waitTarget } from "./commandTargets.ts";
import { freshellCommand } from "./freshellCommand.ts";
import { rehearseResponse } from "./freshellRequest.ts";
import type { FreshellSession } from "./freshellSession.ts";

/** For every wait. */
export const WAIT_OPTIONS: readonly OptionSpec[] = [
  {
    name: "from",
    type: "text",
    value: "WHERE",
    description: "now, or tail:N for the last N lines as well",
    default: "now",
    complete: ["now", "tail:"],
  },
  { name: "pattern", short: "p", type: "text", value: "PATTERN", dashed: true, description: "the output shows this" },
  { name: "literal", type: "flag", description: "the pattern is text (which it is without --regex)" },
  { name: "regex", type: "flag", description: "the pattern is a regular expression in RE2 syntax" },
  { name: "stable", type: "number", value: "SECONDS", description: "no output for this long" },
  { name: "exit", type: "flag", description: "the program has ended" },
  { name: "timeout", short: "T", type: "number", value: "SECONDS", description: "give up then", default: "30" },
];

export const waitForCommand = freshellCommand<FreshellWaitResponse>({
  name: "wait-for",
  summary: "wait until the output of a terminal or session shows something, stands still, or its program ends",
  details: [
    "All that is asked for must hold. --stable looks at the moment in which everything else holds as well.",
    "--prompt is a guess: a line that ends in $, #, > or % looks like a prompt, a progress bar or quoted mail too. Add " +
      "--stable or a pattern before you rely on it.",
  ],
  positionals: [],
  options: [
    {
      name: "target",
      type: "text",
      value: "TARGET",
      description: "terminal:ID, pane:ID, pane-index:N or session:PROVIDER:ID",
    },
    TAB_OPTION,
    DEVICE_OPTION,
    ...WAIT_OPTIONS,
    { name: "prompt", type: "flag", description: "the last line looks like a shell's prompt" },
  ],
  examples: [
    { line: "freshell wait-for --target terminal:ID -p 'tests passed' -T 600", does: "ten minutes at most" },
    {
      line: "freshell wait-for --target terminal:ID --regex -p '(PASS|FAIL)$' --from tail:50",
      does: "also what stands",
    },
    { line: "freshell wait-for --target terminal:ID --exit --stable 1", does: "ended, and silent for a second" },
  ],
  perform: async (call, session) => {
    const predicates = predicatesOf("wait-for", call);
    return waitFor(call, session, await waitTarget(call, session, "wait-for"), predicates);
  },
  show: shownWait,
});

/** @throws AppError, CommandFailure */
export async function waitFor(
  call: CommandCall,
  session: () => FreshellSession,
  target: object,
  predicates: object,
): Promise<FreshellWaitResponse> {
  try {
    const body = { target, ...predicates };
    const meanwhile = (): void => rehearse(call.io, session().url);
    return await session().call({ method: "POST", path: "/api/waits", body, changes: false, meanwhile });
  } catch (error) {
    throw withHint(error, call);
  }
}

export function shownWait({ matched, exitCode }: FreshellWaitResponse): string {
  return matched.map((match) => shown(match, exitCode)).join("");
}

/** Warms up the code that will report the response. */
function rehearse(io: Io, url: string): void {
  rehearseResponse({ url });
  shown({ predicate: "pattern", text: "" }, undefined);
  void io.out("");
}

/** @throws AppError INVALID_ARGUMENT */
export function predicatesOf(command: string, { options }: CommandCall): object {
  const [pattern, stableSec, timeoutSec] = [
    options.text("pattern"),
    options.number("stable"),
    options.number("timeout"),
  ];
  const [literal, regex, exit, prompt] = ["literal", "regex", "exit", "prompt"].map((name) => options.flag(name));
  if (literal === true && regex === true) throw invalid("--literal and --regex exclude each other");
  if (pattern === undefined && (literal === true || regex === true)) {
    throw invalid(`--${regex === true ? "regex" : "literal"} is about a pattern: give -p PATTERN`);
  }
  if (pattern === undefined && stableSec === undefined && exit !== true && prompt !== true) {
    throw invalid(
      `${command} needs something to wait for: -p PATTERN, --stable SECONDS, or another of \`freshell help ${command}\``,
    );
  }
  const from = options.text("from");
  return {
    ...(pattern === undefined ? {} : { pattern }),
    ...(literal === true ? { literal } : {}),
    ...(regex === true ? { regex } : {}),
    ...(from === undefined ? {} : { from }),
    ...(stableSec === undefined ? {} : { stableSec }),
    ...(exit === true ? { exit } : {}),
    ...(prompt === true ? { prompt } : {}),
    ...(timeoutSec === undefined ? {} : { timeoutSec }),
  };
}

/** Users of grep write a regular expression, and wait in vain for its literal text. */
function withHint(error: unknown, { options }: CommandCall): unknown {
  const isMeant = !options.flag("regex") && REGEX_LIKE.test(options.text("pattern") ?? "");
  const { fault } = failureOf(error);
  if (fault.code !== "TIMEOUT" || !isMeant) return error;
  const message = `${fault.message}; the pattern was taken as text: add --regex if it is a regular expression`;
  return new CommandFailure({ ...fault, message }, { cause: error });
}

const REGEX_LIKE = /^\^|\$$|\.[*+]|\\[dsw]|\w\|\w/;

/** The text is foreign. */
function shown({ predicate, text }: FreshellWaitMatch, exitCode: number | undefined): string {
  const what = predicate === "exit" && exitCode !== undefined ? String(exitCode) : text;
  return what === undefined ? `${predicate}\n` : `${predicate}: ${printable(what)}\n`;
}

const invalid = (message: string): AppError => new AppError("INVALID_ARGUMENT", message);
