/**
 * Measures untrusted JSON text before it is parsed: Node parses any depth, but overflows the stack when it serializes such a
 * value again; and a text of only tiny values takes a hundred times its length in memory.
 */

/** Requests of every contract need five levels; a tool's input that a hook or a program passes on may be a whole document. */
export const MAX_JSON_DEPTH = 256;
/** Objects, lists and fields in one request. With more, parsing and validating take too long for one turn. */
export const MAX_JSON_MEMBERS = 65_536;
/** The same, including the items of lists: the 256 parts of 1,024 keys that one input may have, and their envelope. */
export const MAX_JSON_VALUES = 266_240;

interface JsonShape {
  readonly depth: number;
  /** Objects, lists, and gaps between two members of an object. */
  readonly members: number;
  /** The same, and gaps between two members of a list. */
  readonly values: number;
}

/** The result is arbitrary for text that is not JSON. */
export function jsonShape(text: string): JsonShape {
  let level = 0;
  let depth = 0;
  let members = 1;
  let items = 0;
  const isList: boolean[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
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

/** Where the string ends that begins here; the text's end if it does not. Found by searching, because most of a long body is one string. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let first = at;
    while (text.charCodeAt(first - 1) === BACKSLASH && first - 1 > from) first -= 1;
    if ((at - first) % 2 === 0) return at;
  }
  return text.length;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
