/**
 * The output ends in what looks like a shell prompt: `$`, `#`, `>` or `%`, blanks after it allowed, and nothing more for
 * `settleMs`. A shell that has just switched bracketed paste on (`?2004h`) is believed at once, whatever its prompt. Latches.
 *
 * Best effort, with false positives: a question that ends in `>`, a progress line that stops at `#`, a quoted mail, a
 * password prompt of `su` ending in `#`, a program that prints `$ ` and thinks. `50%` is not taken for one (a digit
 * before `%`). Never let a destructive step depend on it alone: add a pattern, or `exit`.
 */
import * as v from "valibot";
import type { FoundText } from "../text/patternWatch.ts";
import { predicate } from "./predicate.ts";

export const prompt = predicate({
  name: "prompt",
  field: "prompt",
  schema: v.pipe(
    v.boolean(),
    v.description(
      "The output ends in what looks like a shell's prompt. Best effort: other programs end a line so, too.",
    ),
  ),
  flags: [{ name: "prompt", type: "flag", description: "the output ends in what looks like a shell's prompt" }],
  asked: (given) => (given.flag("prompt") ? [true] : []),
  check: (isAsked) => (isAsked ? isAsked : undefined),
  arm: (_checked, context) => {
    const armed: { found: FoundText | undefined } = { found: undefined };
    context.readPrompt(context.owner((found) => void (armed.found ??= found)));
    return armed;
  },
  dueMs: ({ found }, { nowMs }) => (found === undefined ? undefined : nowMs),
  progress: ({ found }) => found !== undefined,
  found: ({ found }) => found,
});
