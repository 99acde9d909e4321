/**
 * The key names tmux knows (key-string.c `key_string_table`, tmux(1) KEY BINDINGS): a name that tmux does not know would
 * be typed as text by `send-keys`, so it is refused here. Mouse keys are left out: they need a position.
 */
const NAMED_KEYS: ReadonlySet<string> = new Set(
  [
    Array.from({ length: 12 }, (_unused, index) => `F${index + 1}`),
    ["IC", "Insert", "DC", "Delete", "Home", "End", "NPage", "PageDown", "PgDn", "PPage", "PageUp", "PgUp"],
    ["BTab", "Space", "BSpace", "Enter", "Escape", "Tab", "Up", "Down", "Left", "Right"],
    ["KP/", "KP*", "KP-", "KP+", "KP.", "KPEnter"],
    Array.from({ length: 10 }, (_unused, digit) => `KP${digit}`),
  ]
    .flat()
    .map((name) => name.toLowerCase()),
);

const MODIFIERS = /^(?:[CMScms]-)+/;

/** What has no control form: tmux would type `C-~` as three characters (key-string.c `key_string_lookup_string`). */
const WITHOUT_CONTROL = '"$%&*{|}~';

/** Whether `send-keys` takes `name` as one key: a named key or one printable character, modifiers before it. */
export function isKeyName(name: string): boolean {
  const caret = /^\^(.+)$/.exec(name);
  if (caret?.[1] !== undefined) return isSingleAscii(caret[1], true);
  const modifiers = MODIFIERS.exec(name)?.[0] ?? "";
  const base = name.slice(modifiers.length);
  if (base === "") return isSingleCharacter(name);
  if (NAMED_KEYS.has(base.toLowerCase())) return true;
  return modifiers === "" ? isSingleCharacter(base) : isSingleAscii(base, /c/i.test(modifiers));
}

/** One character that is no control character. */
function isSingleCharacter(text: string): boolean {
  return Array.from(text).length === 1 && !/\p{C}/u.test(text);
}

function isSingleAscii(text: string, control: boolean): boolean {
  return text.length === 1 && text > " " && text < "\u007f" && !(control && WITHOUT_CONTROL.includes(text));
}
