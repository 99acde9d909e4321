/** Output for a program to read, of commands that take `--json`. */
import type { CommandCall, OptionSpec } from "./commandTypes.ts";

export const JSON_OPTION: OptionSpec = {
  name: "json",
  type: "flag",
  description: "print JSON on stdout, errors too",
};

/** With --json the value as a line of JSON, otherwise the text, or its lines. */
export function printResult(
  { io, options }: CommandCall,
  value: object,
  text: string | readonly string[],
): Promise<void> {
  if (options.flag("json")) return io.out(`${JSON.stringify(value)}\n`);
  return io.out(typeof text === "string" ? text : `${text.join("\n")}\n`);
}
