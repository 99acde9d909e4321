/** What `tmuxwire doctor` finds: one line per check, and what to do about each that is not well. */
import { toAppError } from "../../protocol/errors.ts";
import { printable } from "./textTable.ts";

export type Verdict = "ok" | "warn" | "fail";

export interface Finding {
  /** What was looked at. */
  readonly check: string;
  readonly verdict: Verdict;
  readonly message: string;
  /** What to do, for everything but `ok`. */
  readonly remedy?: string | undefined;
}

export const ok = (check: string, message: string): Finding => ({ check, verdict: "ok", message });
export const warn = (check: string, message: string, remedy: string): Finding => ({
  check,
  verdict: "warn",
  message,
  remedy,
});
export const fail = (check: string, message: string, remedy?: string): Finding => ({
  check,
  verdict: "fail",
  message,
  remedy,
});

/** The check's finding; what it throws is one as well, and our errors' one line already says what to do. */
export async function finding(check: string, look: () => Promise<Finding> | Finding): Promise<Finding> {
  try {
    return await look();
  } catch (error) {
    return fail(check, toAppError(error).message);
  }
}

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
