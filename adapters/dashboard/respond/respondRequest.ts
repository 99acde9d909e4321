/** From the body of `POST /api/respond/:id` to an answer, or the contract's refusal of it (docs/contracts/dashboard.md §2). */
import { isKeyName } from "../../../daemon/panes/input/keys.ts";
import { MAX_INPUT_BYTES } from "../../../protocol/limits.ts";
import { MAX_ANSWERS, MAX_KEYS, MAX_OPTION_INDEX } from "../dashboardLimits.ts";
import { fieldsOf, textOf } from "../../../protocol/text/jsonObject.ts";
import { bodyFields } from "../dashboardRoutes.ts";
import { type Failure, failure } from "./failures.ts";

export type RespondRequest = { readonly dialogId: string | undefined } & (
  | { readonly mode: "text" | "other"; readonly text: string }
  | { readonly mode: "select"; readonly index: number; readonly label: string | undefined }
  | { readonly mode: "multi_select"; readonly answers: readonly MultiAnswer[] }
  | { readonly mode: "keys"; readonly keys: readonly string[] }
);

/** The options chosen for one question; `isMulti` where several may be. */
export interface MultiAnswer {
  readonly indices: readonly number[];
  readonly isMulti: boolean;
}

const refused = (errorType: string, message: string): Failure => failure(400, errorType, message);

/** A body that is no object counts as an empty one, as the contract's clients know it. */
export function parseRespond(bytes: Uint8Array): RespondRequest | Failure {
  const body = bodyFields(bytes) ?? {};
  const mode: unknown = body["mode"] ?? "text";
  const dialogId = textOf(body["dialog_id"]);
  switch (mode) {
    case "text":
    case "other":
      return textAnswer(mode, textOf(body["text"]) ?? "", dialogId);
    case "select": {
      const index = body["option_index"];
      if (!isIndex(index)) {
        return refused("invalid_option_index", "option_index must be a non-negative integer.");
      }
      return { mode: "select", index, label: textOf(body["option_label"]), dialogId };
    }
    case "multi_select": {
      const answers = answersOf(body["answers"]);
      return typeof answers === "string"
        ? refused("invalid_answers", answers)
        : { mode: "multi_select", answers, dialogId };
    }
    case "keys":
      return keysOf(body["keys"]);
    default:
      return refused(
        "invalid_mode",
        `Invalid mode '${shown(mode)}'. Must be 'text', 'select', 'other', or 'multi_select'.`,
      );
  }
}

function textAnswer(mode: "text" | "other", text: string, dialogId: string | undefined): RespondRequest | Failure {
  if (text.trim() === "") {
    return refused(
      "missing_text",
      mode === "text" ? "Response text is required." : "Text is required for 'other' mode.",
    );
  }
  if (text.includes("\0")) {
    return refused("invalid_text", "The text holds a NUL character, which no prompt takes.");
  }
  if (/\p{Surrogate}/u.test(text)) {
    return refused("invalid_text", "The text holds half of a surrogate pair; send whole characters.");
  }
  if (Buffer.byteLength(text) > MAX_INPUT_BYTES) {
    return refused("invalid_text", `The text is longer than ${MAX_INPUT_BYTES} bytes; shorten it.`);
  }
  return { mode, text, dialogId };
}

const isIndex = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_OPTION_INDEX;

function answersOf(value: unknown): readonly MultiAnswer[] | string {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_ANSWERS) {
    return "answers must be a non-empty array for 'multi_select' mode.";
  }
  const answers: MultiAnswer[] = [];
  for (const [place, raw] of (value as readonly unknown[]).entries()) {
    const answer = fieldsOf(raw);
    if (answer === undefined) return `answers[${place}] must be an object.`;
    const { option_index: index, option_indices: indices } = answer;
    if (Array.isArray(indices) && indices.length > 0 && indices.length <= MAX_OPTION_INDEX && indices.every(isIndex)) {
      answers.push({ indices: [...new Set<number>(indices)].sort((a, b) => a - b), isMulti: true });
    } else if (isIndex(index)) answers.push({ indices: [index], isMulti: false });
    else return `answers[${place}] must have option_index (int >= 0) or option_indices (non-empty list).`;
  }
  return answers;
}

function keysOf(value: unknown): RespondRequest | Failure {
  const keys = Array.isArray(value) ? (value as readonly unknown[]) : [];
  const isFine = keys.length > 0 && keys.length <= MAX_KEYS && keys.every((key) => typeof key === "string");
  if (!isFine) {
    return refused("invalid_keys", `keys must be a list of 1 to ${MAX_KEYS} key names.`);
  }
  const unknown = keys.find((key) => !isKeyName(key));
  if (unknown !== undefined) {
    return refused("invalid_keys", `'${shown(unknown)}' is no key; keys are Enter, Escape, Up, C-c, 1 …`);
  }
  return { mode: "keys", keys, dialogId: undefined };
}

const shown = (value: unknown): string => {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
};
