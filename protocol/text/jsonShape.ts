/**
 * How JSON from outside is built, read from its text before anything is made of it: Node parses any depth, but runs out of
 * stack when it writes such a value again; and a text of nothing but tiny values takes a hundred times its length.
 */

/** Requests of every contract need five; a tool's input that a hook or a program passes on may be a whole document. */
export const MAX_JSON_DEPTH = 256;
/** Objects, lists and what objects hold in one request. With more, parsing and checking take longer than a turn may. */
export const MAX_JSON_MEMBERS = 65_536;
/** The same with what lists hold: the 256 parts of 1,024 keys that one input may have, and what stands around them. */
export const MAX_JSON_VALUES = 266_240;

interface JsonShape {
  readonly depth: number;
  /** Objects, lists, and gaps between two members of an object. */
  readonly members: number;
  /** The same, and gaps between two members of a list. */
  readonly values: number;
}

/** Of text that is no JSON, any. */
export function jsonShape(text: string): JsonShape {
  let level = 0;
  let depth = 0;
  let members = 1;
  let items = 0;
  let isInString = false;
  const isList: boolean[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (isInString) {
      if (code === BACKSLASH) at += 1;
      else if (code === QUOTE) isInString = false;
    } else if (code === QUOTE) isInString = true;
    else if (code === COMMA) {
      if (isList[level] === true) items += 1;
      else members += 1;
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      members += 1;
      level += 1;
      if (level > depth) depth = level;
      isList[level] = code === OPEN_BRACKET;
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) level -= 1;
  }
  return { depth, members, values: members + items };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
