/**
 * The output ends in what looks like a shell prompt: `$`, `#`, `>` or `%`, blanks after it allowed, and nothing more for
 * `settleMs`. A shell that has just switched bracketed paste on (`?2004h`) is believed at once, whatever its prompt. Latches.
 *
 * Best effort, with false positives: a question that ends in `>`, a progress line that stops at `#`, a quoted mail, a
 * password prompt of `su` ending in `#`, a program that prints `$ ` and thinks. `50%` is not taken for one (a digit
 * before `%`). Never let a destructive step depend on it alone: add a pattern, or `exit`.
 */
import { latched, predicate, switched } from "./predicate.ts";

export const prompt = predicate({
  ...switched(
    "prompt",
    "The output ends in what looks like a shell's prompt. Best effort: other programs end a line so, too.",
    "the output ends in what looks like a shell's prompt",
  ),
  arm: (_checked, context) => {
    const latch = context.latch();
    context.readPrompt(latch);
    return latch;
  },
  ...latched,
});
