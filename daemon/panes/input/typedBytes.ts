/**
 * What a job types, as bytes: text and pastes unchanged, keys as a terminal in its default modes sends them. tmux sends
 * a few differently when the program has enabled it (application cursor keys, extended keys, bracketed paste); that is
 * not known here.
 */
import type { InputPart } from "../../tmux/io.ts";

const ESC = "\u001b";
const CSI = `${ESC}[`;

/** Keys that send the same characters with any modifier. */
const PLAIN: Readonly<Record<string, string>> = {
  enter: "\r",
  kpenter: "\n",
  escape: ESC,
  tab: "\t",
  btab: `${CSI}Z`,
  space: " ",
  bspace: "\u007f",
};

/** Cursor keys and F1 to F4 end with a letter, other keys with a number and a tilde; modifiers come before that. */
const LETTERS: Readonly<Record<string, string>> = { up: "A", down: "B", right: "C", left: "D" };
/** These end with a number alone, and with a letter when a modifier is held. */
const HELD_LETTERS: Readonly<Record<string, string>> = { home: "H", end: "F" };
const FIRST_FUNCTION_KEYS = ["f1", "f2", "f3", "f4"];
const NUMBERS: Readonly<Record<string, number>> = {
  home: 1,
  ic: 2,
  insert: 2,
  dc: 3,
  delete: 3,
  end: 4,
  ppage: 5,
  pageup: 5,
  pgup: 5,
  npage: 6,
  pagedown: 6,
  pgdn: 6,
  f5: 15,
  f6: 17,
  f7: 18,
  f8: 19,
  f9: 20,
  f10: 21,
  f11: 23,
  f12: 24,
};

/** A key by its name, which `isKeyName` knows. */
function keyText(name: string): string {
  const modifiers = /^(?:[CMS]-)+/i.exec(name)?.[0].toLowerCase() ?? "";
  const base = name.slice(modifiers.length);
  if (name.length > 1 && name.startsWith("^")) return control(name.slice(1));
  const [ctrl, meta, shift] = ["c-", "m-", "s-"].map((held) => modifiers.includes(held));
  const code = 1 + (shift === true ? 1 : 0) + (meta === true ? 2 : 0) + (ctrl === true ? 4 : 0);
  const key = base.toLowerCase();
  const letter = LETTERS[key] ?? (code === 1 ? undefined : HELD_LETTERS[key]);
  if (letter !== undefined) return code === 1 ? CSI + letter : `${CSI}1;${code}${letter}`;
  const nth = FIRST_FUNCTION_KEYS.indexOf(key);
  if (nth !== -1) return code === 1 ? `${ESC}O${"PQRS"[nth]}` : `${CSI}1;${code}${"PQRS"[nth]}`;
  const number = NUMBERS[key];
  if (number !== undefined) return `${CSI}${number}${code === 1 ? "" : `;${code}`}~`;
  const text = PLAIN[key] ?? (/^kp.$/.test(key) ? base.slice(2) : base);
  return `${meta === true ? ESC : ""}${ctrl === true ? control(text) : text}`;
}

/** As VT220s have it. */
const CONTROLS: Readonly<Record<string, string>> = {
  " ": "\0",
  "2": "\0",
  "3": "\u001b",
  "4": "\u001c",
  "5": "\u001d",
  "6": "\u001e",
  "7": "\u001f",
  "8": "\u007f",
  "?": "\u007f",
  "/": "\u001f",
  "-": "\u001f",
};

/** `a` to `_` and their capitals are 1 to 31; what has no control form stays unchanged. */
function control(text: string): string {
  const known = CONTROLS[text];
  if (known !== undefined) return known;
  const code = text.length === 1 ? text.toUpperCase().charCodeAt(0) - 64 : -1;
  return code >= 0 && code < 32 ? String.fromCharCode(code) : text;
}

const encoder = new TextEncoder();

export function typedBytes(parts: readonly InputPart[]): Uint8Array {
  const pieces = parts.map((part) =>
    part.kind === "keys" ? encoder.encode(part.keys.map(keyText).join("")) : part.bytes,
  );
  return Buffer.concat(pieces);
}
