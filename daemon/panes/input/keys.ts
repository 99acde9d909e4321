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

/** One character that is not a control character. */
function isSingleCharacter(text: string): boolean {
  return Array.from(text).length === 1 && !/\p{C}/u.test(text);
}

function isSingleAscii(text: string, control: boolean): boolean {
  return text.length === 1 && text > " " && text < "\u007f" && !(control && WITHOUT_CONTROL.includes(text));
}

/** Other names for the same keys, from people and other programs. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  esc: "Escape",
  return: "Enter",
  backspace: "BSpace",
  bs: "BSpace",
  del: "Delete",
  ins: "Insert",
  pgup: "PageUp",
  pgdn: "PageDown",
  arrowup: "Up",
  arrowdown: "Down",
  arrowleft: "Left",
  arrowright: "Right",
};
const OTHER_MODIFIERS: readonly (readonly [RegExp, string])[] = [
  [/^(?:ctrl|control|ctl|c)[-+ ]/i, "C-"],
  [/^(?:alt|meta|option|opt|m)[-+ ]/i, "M-"],
  [/^(?:shift|s)[-+ ]/i, "S-"],
];
const SPELT = "Enter Escape Tab BTab Space BSpace Up Down Left Right Home End Delete Insert PageUp PageDown".split(" ");

/** The key probably meant by an unknown name; undefined when none is near. */
export function nearestKeyName(name: string): string | undefined {
  let base = name.trim();
  let modifiers = "";
  for (let found = OTHER_MODIFIERS.find(([pattern]) => pattern.test(base)); found !== undefined;) {
    modifiers += found[1];
    base = base.replace(found[0], "");
    found = OTHER_MODIFIERS.find(([pattern]) => pattern.test(base));
  }
  const plain = modifiers !== "" && /^[A-Z]$/.test(base) ? base.toLowerCase() : base;
  const meant = [
    plain,
    OTHER_NAMES[base.toLowerCase()],
    SPELT.find((spelt) => isNear(spelt.toLowerCase(), base.toLowerCase())),
  ];
  return meant
    .filter((one) => one !== undefined)
    .map((one) => modifiers + one)
    .find((one) => one !== name && isKeyName(one));
}

/** One letter added, missing or different, or two swapped. */
function isNear(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  if (long.length - short.length > 1 || long.length < 3) return false;
  let same = 0;
  while (same < short.length && short[same] === long[same]) same += 1;
  if (short.length < long.length) return short.slice(same) === long.slice(same + 1);
  const isSwapped = short[same] === long[same + 1] && short[same + 1] === long[same];
  return (
    short.slice(same + 1) === long.slice(same + 1) || (isSwapped && short.slice(same + 2) === long.slice(same + 2))
  );
}
