/**
 * The page's own keys. Everything else belongs to the pane: programs use Ctrl and Alt, the browser Ctrl+Shift, so the
 * page has only Alt+Shift. Keys are identified by `code`, because Alt changes their characters on some systems.
 */
import type { Side } from "./paneBoxes.ts";

export type DeviceAction =
  | { readonly kind: "newTab" | "closeTab" | "renameTab" | "nextTab" | "previousTab" }
  | { readonly kind: "splitRight" | "splitDown" | "closePane" | "zoom" | "find" | "renamePane" | "swap" }
  | { readonly kind: "grow" | "shrink" }
  | { readonly kind: "settings" | "help" | "undo" }
  | { readonly kind: "tab"; readonly index: number }
  | { readonly kind: "focus"; readonly side: Side };

interface KeyRow {
  readonly code: string;
  /** As the help shows it. */
  readonly key: string;
  readonly words: string;
  readonly action: DeviceAction;
}

const row = (code: string, key: string, words: string, action: DeviceAction): KeyRow => ({ code, key, words, action });

export const DEVICE_KEYS: readonly KeyRow[] = [
  row("KeyT", "T", "new tab with a terminal", { kind: "newTab" }),
  row("KeyQ", "Q", "close the tab", { kind: "closeTab" }),
  row("KeyR", "R", "rename the tab", { kind: "renameTab" }),
  row("BracketRight", "]", "next tab", { kind: "nextTab" }),
  row("BracketLeft", "[", "previous tab", { kind: "previousTab" }),
  row("KeyD", "D", "split side by side", { kind: "splitRight" }),
  row("KeyS", "S", "split one above the other", { kind: "splitDown" }),
  row("KeyW", "W", "close the pane", { kind: "closePane" }),
  row("KeyN", "N", "rename the pane", { kind: "renamePane" }),
  row("KeyZ", "Z", "zoom the pane, and back", { kind: "zoom" }),
  row("KeyX", "X", "swap the pane with the next one", { kind: "swap" }),
  row("KeyF", "F", "search in the terminal", { kind: "find" }),
  row("ArrowLeft", "←", "pane on the left", { kind: "focus", side: "left" }),
  row("ArrowRight", "→", "pane on the right", { kind: "focus", side: "right" }),
  row("ArrowUp", "↑", "pane above", { kind: "focus", side: "up" }),
  row("ArrowDown", "↓", "pane below", { kind: "focus", side: "down" }),
  row("Equal", "=", "make the pane larger", { kind: "grow" }),
  row("Minus", "-", "make the pane smaller", { kind: "shrink" }),
  row("KeyU", "U", "undo what another device did last", { kind: "undo" }),
  row("Comma", ",", "settings", { kind: "settings" }),
  row("Slash", "/", "these keys", { kind: "help" }),
];

interface PressedKey {
  readonly code: string;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly isComposing?: boolean;
}

/** Undefined: the key is the pane's. */
export function actionFor(key: PressedKey): DeviceAction | undefined {
  const { code, altKey, shiftKey, ctrlKey, metaKey, isComposing } = key;
  if (!altKey || !shiftKey || ctrlKey || metaKey || isComposing === true) return undefined;
  const digit = /^(?:Digit|Numpad)([1-9])$/.exec(code)?.[1];
  if (digit !== undefined) return { kind: "tab", index: Number(digit) - 1 };
  return DEVICE_KEYS.find((one) => one.code === code)?.action;
}
