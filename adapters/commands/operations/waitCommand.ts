/** `tmuxwire wait`: waits until a pane prints something, falls silent, is at its prompt, or ends. */
import type { NativePredicates, NativeWaitRequest, NativeWaitResponse } from "../../client/client.ts";
import type { Predicate } from "../../../daemon/waits/predicates/predicate.ts";
import { PREDICATES } from "../../../daemon/waits/predicates/predicateTable.ts";
import type { CommandCall, OptionSpec } from "../../cli/commandTypes.ts";
import { INPUT_OPTIONS, inputOf } from "./inputParts.ts";
import { operationCommand } from "./operationCommand.ts";
import { PANE_OR_THIS, TIMEOUT_OPTION, timeoutOf } from "./paneArguments.ts";
import { usageError } from "../../cli/parseCommand.ts";
import { printable } from "../../cli/textTable.ts";

export const waitCommand = operationCommand<NativeWaitResponse>({
  operation: "wait",
  name: "wait",
  details: [
    "All given conditions must hold; with --any, one is enough. Only output from now on counts, unless --from says " +
      "otherwise. With --send, the wait is armed before the text is typed, and the echo of the text does not count. Prints " +
      "the matched text. Exits with 124 on a timeout.",
  ],
  positionals: [PANE_OR_THIS],
  members: [],
  options: [
    ...PREDICATES.flatMap((row: Predicate): readonly OptionSpec[] => row.flags),
    { name: "any", type: "flag", description: "end when any one of the conditions holds" },
    {
      name: "from",
      type: "text",
      value: "WHERE",
      description: "where in the output to start: now, tail:LINES, or a position such as k3Jd9:1024",
      default: "now",
      complete: ["now"],
    },
    {
      name: "on",
      type: "text",
      value: "WHERE",
      description: "stream: match the output; screen: also match what the screen shows, without trailing blanks",
      default: "stream",
      choices: ["stream", "screen"],
    },
    { name: "send", short: "s", type: "text", value: "TEXT", description: "type this once the wait is armed" },
    ...INPUT_OPTIONS,
    TIMEOUT_OPTION,
  ],
  examples: [
    {
      line: "tmuxwire wait work --send 'make test' --enter --regex '(passed|failed)$'",
      does: "type, and wait for the result",
    },
    {
      line: "tmuxwire wait work --send python3 --enter --regex '>>>$' --on screen",
      does: "a prompt as it looks on the screen",
    },
    { line: "tmuxwire wait work --prompt --stable 0.5", does: "the shell is at its prompt and quiet" },
    { line: "tmuxwire wait agent --ready --timeout 600", does: "the agent is ready for a prompt" },
    { line: "tmuxwire wait build --any --bell --exit --timeout 600", does: "the bell rings, or the program ends" },
    { line: "tmuxwire wait build --exit --timeout 600", does: "the program of a pane made with `new --keep` ends" },
  ],
  input: async (call): Promise<NativeWaitRequest> => {
    const { options } = call;
    const sent = options.text("send");
    const parts = await inputOf(call, sent === undefined ? [] : [sent]);
    return {
      ...asked(call),
      from: options.text("from"),
      on: options.text("on") === "screen" ? "screen" : undefined,
      ...timeoutOf(call),
      send: parts && { parts },
    };
  },
  show: async ({ io }, { matched }) => {
    const text = matched.find((match) => match.text !== undefined)?.text;
    if (text !== undefined) await io.out(`${text.split("\n").map(printable).join("\n")}\n`);
  },
});

/** The predicates: all of them, or any of them. @throws AppError INVALID_ARGUMENT when there is none. */
function asked({ options }: CommandCall): NativePredicates | { anyOf: NativePredicates[] } {
  const isAny = options.flag("any");
  const sets = PREDICATES.flatMap((row: Predicate): NativePredicates[] => {
    const values = row.asked(options);
    if (values.length > 1 && !isAny) {
      throw usageError(`${words(row, " and ")} can be combined only with --any`);
    }
    return values.map((value) => ({ [row.field]: value }));
  });
  if (sets.length === 0) {
    const flags = PREDICATES.map((row: Predicate) => words(row, ", "));
    throw usageError(`nothing to wait for: give ${flags.slice(0, -1).join(", ")} or ${flags.at(-1)}`);
  }
  return isAny ? { anyOf: sets } : Object.assign({}, ...sets);
}

/** The flags that set the predicate. */
const words = ({ flags }: Predicate, between: string): string =>
  flags.flatMap(({ name, isModifier }) => (isModifier === true ? [] : [`--${name}`])).join(between);
