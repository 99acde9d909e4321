/** A sample by hand; `test/live/keys.test.ts` asks tmux about the rest. */
import { expect, test } from "vitest";
import { isKeyName, nearestKeyName } from "../../../../../daemon/panes/input/keys.ts";

test.each(
  [
    ["Enter", "enter", "Escape", "Tab", "BTab", "Space", "BSpace", "Up", "Down", "Left", "Right", "Home", "End"],
    ["F1", "F12", "IC", "DC", "Insert", "Delete", "PgUp", "PageUp", "PPage", "KPEnter", "KP0", "KP9", "KP/"],
    ["C-c", "c-C", "M-x", "S-Up", "C-M-Delete", "C-Space", "C-[", "C-?", "C-1", "M-~", "S-$", "^c", "^[", "^^"],
    ["a", "Z", ";", "-", "^", "~", " ", "é", "€", "漢", "🙂"],
  ].flat(),
)("%j is a key", (name) => {
  expect(isKeyName(name)).toBe(true);
});

test.each(
  [
    ["", "Enterr", "Return", "Esc", "F0", "F13", "KP", "KPx", "ab", "éé", "Enter ", " Enter", "Enter\n"],
    ["C-", "C-M-", "M-", "C-ab", "X-a", "C-Enterr", "C-é", "C- ", "^ab", "^Enter"],
    'C-~ C-$ c-{ M-C-% ^~ ^" MouseDown1Pane None Any 0x41'.split(" "),
    ["\n", "\u007f", "\u0000", "\u0085"],
  ].flat(),
)("%j is none", (name) => {
  expect(isKeyName(name)).toBe(false);
});

test.each([
  ["Ctrl+C", "C-c"],
  ["ctrl-c", "C-c"],
  ["Control+Alt+x", "C-M-x"],
  ["Alt+Enter", "M-Enter"],
  ["Shift+Tab", "S-Tab"],
  ["Esc", "Escape"],
  ["Return", "Enter"],
  ["ArrowUp", "Up"],
  ["Entre", "Enter"],
  ["Entr", "Enter"],
  ["Tba", "Tab"],
  ["Tob", "Tab"],
  ["Toy", undefined],
  ["Ta", "Tab"],
  ["Tabxy", undefined],
  ["Ux", undefined],
  [" Esc ", "Escape"],
  ["Ctrl+ENTRE", "C-Enter"],
  ["Backspace", "BSpace"],
  ["xyzzy", undefined],
  ["", undefined],
])("%j was meant to be %j", (name, meant) => {
  expect(nearestKeyName(name)).toBe(meant);
});
