/**
 * Nesting of JSON from outside is bounded: Node parses any depth, but serializing such a value again, as a response, a
 * record or an event, runs out of stack.
 */

/** Requests of every contract need five; a tool's input that a hook or a program passes on may be a whole document. */
export const MAX_JSON_DEPTH = 256;

/** Level by level, without recursion. @param chars the length of its text: each level takes two */
export function isTooDeep(root: unknown, chars: number): boolean {
  if (chars <= 2 * MAX_JSON_DEPTH) return false;
  let level = [root].filter(isNested);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MAX_JSON_DEPTH) return true;
    const next: object[] = [];
    for (const value of level) for (const member of Object.values(value)) if (isNested(member)) next.push(member);
    level = next;
  }
  return false;
}

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;
