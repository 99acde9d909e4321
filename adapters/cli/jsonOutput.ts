/** Machine-readable output of commands that take `--json`. */
import type { CommandCall, OptionSpec } from "./commandTypes.ts";

export const JSON_OPTION: OptionSpec = {
  name: "json",
  type: "flag",
  description: "print JSON on stdout, including errors",
};

/** Prints the value as a line of JSON with --json, otherwise the text or lines. */
export function printResult(
  { io, options }: CommandCall,
  value: object,
  text: string | readonly string[],
): Promise<void> {
  if (options.flag("json")) return io.out(`${JSON.stringify(value)}\n`);
  return io.out(typeof text === "string" ? text : `${text.join("\n")}\n`);
}
