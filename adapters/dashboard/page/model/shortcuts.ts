/** The page's own keys: what each does, and when it belongs to a text field or a pane instead. */

/** `leave`: the text field, the help or the pane view. `release`: the control of a pane. */
type Shortcut =
  | { readonly kind: "next" | "previous" | "asking" | "text" | "pane" | "details" | "timeline" }
  | { readonly kind: "templates" | "filter" | "start" | "help" | "leave" | "release" }
  | { readonly kind: "option"; readonly digit: string };

const KEYS: ReadonlyMap<string, Shortcut> = new Map([
  ["j", { kind: "next" }],
  ["ArrowDown", { kind: "next" }],
  ["k", { kind: "previous" }],
  ["ArrowUp", { kind: "previous" }],
  ["n", { kind: "asking" }],
  ["/", { kind: "text" }],
  ["o", { kind: "pane" }],
  ["d", { kind: "details" }],
  ["t", { kind: "timeline" }],
  ["p", { kind: "templates" }],
  ["f", { kind: "filter" }],
  ["s", { kind: "start" }],
  ["?", { kind: "help" }],
]);

interface KeyPress {
  readonly key: string;
  /** The physical key. */
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

/** Where the key was pressed: `pane` while one is under control, so that every key is the pane's. */
export type KeyPlace = "page" | "text" | "pane" | "dialog";

export function shortcutFor(press: KeyPress, place: KeyPlace): Shortcut | undefined {
  if (isRelease(press)) return { kind: "release" };
  if (place === "pane" || press.ctrlKey || press.altKey || press.metaKey) return undefined;
  if (press.key === "Escape") return { kind: "leave" };
  if (place !== "page") return undefined;
  return /^[1-9]$/.test(press.key) ? { kind: "option", digit: press.key } : KEYS.get(press.key);
}

/** Two, because some systems take the first themselves; no program in a pane can receive either. */
const isRelease = ({ key, code, ctrlKey, shiftKey }: KeyPress): boolean =>
  ctrlKey && shiftKey && (key === "Escape" || code === "Space");

/** For the help: keys and what they do. */
export const SHORTCUT_HELP: readonly (readonly [keys: readonly string[], words: string])[] = [
  [["j", "↓"], "next agent"],
  [["k", "↑"], "previous agent"],
  [["1 – 9"], "choose that option of the selected agent's question"],
  [["n"], "next agent that asks"],
  [["/"], "write an answer, or a prompt"],
  [["Enter"], "send what is written"],
  [["Shift+Enter"], "new line"],
  [["o"], "open or close the selected agent's pane"],
  [["d"], "the selected agent's details: history, name, end"],
  [["t"], "the selected agent's timeline, or everybody's"],
  [["p"], "templates: prompts that are kept, for the selected agent"],
  [["f"], "filter the agents"],
  [["s"], "start an agent"],
  [["Ctrl+Shift+Esc", "Ctrl+Shift+Space"], "give back control of a pane"],
  [["Esc"], "leave the text, the help or the pane"],
  [["?"], "this help"],
];
