/**
 * JSON from outside, for every listener. Nesting is bounded: Node parses any depth, but whatever writes such a value again,
 * as an answer, a record or an event, runs out of stack.
 */
import { AppError } from "../../protocol/errors.ts";

/** Requests of every contract need five; a tool's input that a hook hands on may be a whole document. */
const MAX_JSON_DEPTH = 256;

/** @throws AppError INVALID_ARGUMENT */
export function parseJsonText(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new AppError("INVALID_ARGUMENT", "Invalid JSON body.", { cause: error });
  }
  // Each level takes two characters.
  if (text.length > 2 * MAX_JSON_DEPTH) requireShallow(value);
  return value;
}

/** Level by level, without recursion. */
function requireShallow(root: unknown): void {
  let level = [root].filter(isNested);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH) {
      throw new AppError("INVALID_ARGUMENT", `Invalid JSON body: nested deeper than ${MAX_JSON_DEPTH} levels.`);
    }
    const next: object[] = [];
    for (const value of level) for (const member of Object.values(value)) if (isNested(member)) next.push(member);
    level = next;
  }
}

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;
