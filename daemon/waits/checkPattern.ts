/** A pattern is checked when it arrives: a fault is reported at once. */
import { encodeUtf8 } from "../../protocol/text/utf8.ts";
import { analyseRegex } from "./regex/regexAnalysis.ts";
import { invalid, tooMuch } from "./requestErrors.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { CheckedPattern, WaitPattern } from "./waitPattern.ts";

/** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
export function checkPattern(pattern: WaitPattern, limits: WaitLimits): CheckedPattern {
  if (pattern.text === "") throw invalid("the pattern is empty");
  const bytes = encodeUtf8(pattern.text);
  if (bytes.length > limits.maxPatternBytes) throw tooMuch("pattern bytes", bytes.length, limits.maxPatternBytes);
  // Plain text has LF for CR LF; a pattern copied from a terminal means the same.
  if (pattern.kind === "literal")
    return { kind: "literal", bytes: Buffer.from(pattern.text.replaceAll("\r\n", "\n"), "utf8") };
  // Encoded and decoded: a lone surrogate would swallow the next character in re2-wasm.
  const text = Buffer.from(bytes).toString("utf8");
  const { ignoreCase = false, multiline = true, dotAll = false } = pattern;
  return { kind: "regex", analysis: analyseRegex(text, { ignoreCase, multiline, dotAll }, limits) };
}
