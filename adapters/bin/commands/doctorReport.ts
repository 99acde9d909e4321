/** What `tmuxwire doctor` finds: one line per check, and what to do about each problem. */
import type { Finding, Verdict } from "../../serving/findings.ts";
import { printable } from "../cli/textTable.ts";

const MARKS: Readonly<Record<Verdict, { readonly text: string; readonly colour: number }>> = {
  ok: { text: "ok  ", colour: 32 },
  warn: { text: "warn", colour: 33 },
  fail: { text: "FAIL", colour: 31 },
};

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
  return warned > 0 ? `usable, with ${warned} thing${warned === 1 ? "" : "s"} to look at` : "all is well";
}
