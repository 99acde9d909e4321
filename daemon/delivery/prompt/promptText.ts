/**
 * Which texts can be one prompt. A prompt is pasted, so it holds what a paste may (`pasteText.ts`).
 */
import { invalidArgument } from "../../../protocol/errors.ts";
import { MAX_INPUT_BYTES } from "../../../protocol/limits.ts";
import { holdsKeys } from "../../panes/input/pasteText.ts";

/** CR LF and CR become LF: outside of a paste a CR is Enter. @throws AppError INVALID_ARGUMENT */
export function promptText(text: string): string {
  const prompt = text.replaceAll(/\r\n?/g, "\n");
  if (prompt.trim() === "") throw invalidArgument("text is blank: there is nothing to submit");
  if (holdsKeys(prompt)) {
    throw invalidArgument(
      "text holds control characters, which a program takes for keys; leave them out, or press keys with input",
    );
  }
  if (/\p{Surrogate}/u.test(prompt)) {
    throw invalidArgument("text must be well-formed Unicode: it has half of a surrogate pair");
  }
  if (Buffer.byteLength(prompt) > MAX_INPUT_BYTES) {
    throw invalidArgument(`one prompt holds at most ${MAX_INPUT_BYTES} bytes; put the text into a file`);
  }
  return prompt;
}

/** Without bracketed paste a line end submits what is before it, and a tab completes. */
export const needsBrackets = (prompt: string): boolean => /[\n\t]/.test(prompt);
