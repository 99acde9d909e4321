/** The page's own keys: what each does, and when it belongs to a text field or a pane instead. */

type Shortcut =
  | { readonly kind: "next" }
  | { readonly kind: "previous" }
  | { readonly kind: "option"; readonly digit: string }
  | { readonly kind: "text" }
  | { readonly kind: "pane" }
  | { readonly kind: "help" }
  /** Leaves the text field, help or pane view. */
  | { readonly kind: "leave" }
  /** Ends control of a pane. */
  | { readonly kind: "release" };

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
  if (/^[1-9]$/.test(press.key)) return { kind: "option", digit: press.key };
  switch (press.key) {
    case "j":
    case "ArrowDown":
      return { kind: "next" };
    case "k":
    case "ArrowUp":
      return { kind: "previous" };
    case "/":
      return { kind: "text" };
    case "o":
      return { kind: "pane" };
    case "?":
      return { kind: "help" };
    // From outside: any other key.
    default:
      return undefined;
  }
}

/** Two, because some systems take the first themselves; no program in a pane can receive either. */
const isRelease = ({ key, code, ctrlKey, shiftKey }: KeyPress): boolean =>
  ctrlKey && shiftKey && (key === "Escape" || code === "Space");

/** For the help: keys and what they do. */
export const SHORTCUT_HELP: readonly (readonly [string, string])[] = [
  ["j  ↓", "next agent"],
  ["k  ↑", "previous agent"],
  ["1 – 9", "choose that option of the selected agent's question"],
  ["/", "write an answer"],
  ["Enter", "send what is written"],
  ["Shift+Enter", "new line"],
  ["o", "open or close the selected agent's pane"],
  ["Ctrl+Shift+Esc  Ctrl+Shift+Space", "give back control of a pane"],
  ["Esc", "leave the text, the help or the pane"],
  ["?", "this help"],
];
