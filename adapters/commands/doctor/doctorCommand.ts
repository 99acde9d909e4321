/** `tmuxwire doctor`: checks everything that starting the daemon depends on, and changes nothing. */
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { JSON_OPTION } from "../../cli/jsonOutput.ts";
import { printable } from "../../cli/textTable.ts";
import type { Finding, Verdict } from "../../serving/findings.ts";
import { CONFIG_OPTIONS, configurationOf } from "../connection/configuration.ts";

export const doctorCommand: CommandSpec = {
  name: "doctor",
  summary: "check what the daemon needs, and say what to do",
  details: ["Changes nothing. Exits with 1 if a part of the daemon could not start, else with 0."],
  positionals: [],
  options: [...CONFIG_OPTIONS, JSON_OPTION],
  examples: [{ line: "tmuxwire doctor", does: "run every check" }],
  run: async ({ io, options }: CommandCall): Promise<number> => {
    const { examine } = await import("./doctorChecks.ts");
    const findings = await examine(io, () => configurationOf(io, options));
    const failed = findings.some(({ verdict }) => verdict === "fail");
    const text = options.flag("json")
      ? `${JSON.stringify({ ok: !failed, checks: findings }, undefined, 2)}\n`
      : reportText(findings, io.colour);
    await io.out(text);
    return failed ? 1 : 0;
  },
};

const MARKS: Readonly<Record<Verdict, { readonly text: string; readonly colour: number }>> = {
  ok: { text: "ok  ", colour: 32 },
  warn: { text: "warn", colour: 33 },
  fail: { text: "FAIL", colour: 31 },
};

/** The report of `tmuxwire doctor`: one line per check, and how to fix each problem. */
export function reportText(findings: readonly Finding[], colour: boolean): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, verdict, message, remedy }) => {
    const { text, colour: code } = MARKS[verdict];
    const mark = colour ? `\u001b[${code}m${text}\u001b[0m` : text;
    const head = `${mark}  ${check.padEnd(width)}  ${printable(message)}`;
    return remedy === undefined ? [head] : [head, `      ${" ".repeat(width)}  → ${printable(remedy)}`];
  });
  return `${lines.join("\n")}\n\n${summary(findings)}\n`;
}

function summary(findings: readonly Finding[]): string {
  const count = (verdict: Verdict): number => findings.filter((one) => one.verdict === verdict).length;
  const [failed, warned] = [count("fail"), count("warn")];
  if (failed > 0) return `${failed} of ${findings.length} checks failed`;
  return warned > 0 ? `usable, with ${warned} warning${warned === 1 ? "" : "s"}` : "all checks passed";
}
