/**
 * Measures untrusted JSON text before it is parsed: Node parses any depth, but overflows the stack when it serializes such a
 * value again; and a text of only tiny values takes a hundred times its length in memory.
 */

/** Requests of every contract need five levels; a tool's input that a hook or a program passes on may be a whole document. */
export const MAX_JSON_DEPTH = 256;
/** Objects, lists and their members in one request. With more, parsing and validating take too long for one turn. */
export const MAX_JSON_VALUES = 65_536;

interface JsonShape {
  readonly depth: number;
  readonly values: number;
}

/** The result is arbitrary for text that is not JSON. */
export function jsonShape(text: string): JsonShape {
  let level = 0;
  let depth = 0;
  let values = 1;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === COMMA) values += 1;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      values += 1;
      level += 1;
      if (level > depth) depth = level;
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) level -= 1;
  }
  return { depth, values };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
