/** `isKeyName` against tmux's own parser: a name that we take and tmux does not would be typed as text. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isKeyName } from "../../daemon/panes/input/keys.ts";
import { quote } from "../../protocol/command/encode.ts";
import { ownDirectory } from "../support/daemon/ownDirectory.ts";

const NAMED = [
  Array.from({ length: 13 }, (_unused, index) => `F${index}`),
  ["IC", "Insert", "DC", "Delete", "Home", "End", "NPage", "PageDown", "PgDn", "PPage", "PageUp", "PgUp", "BTab"],
  ["Space", "BSpace", "Enter", "Escape", "Tab", "Up", "Down", "Left", "Right", "KP/", "KP*", "KP-", "KP+", "KP."],
  ["KPEnter", "KP0", "KP5", "KP9", "Esc", "Return", "Backspace", "Del", "KP", "F", "enter", "ESCAPE", "pgdn"],
].flat();
const SINGLE = [
  Array.from({ length: 95 }, (_unused, index) => String.fromCharCode(32 + index)),
  ["é", "€", "漢", "🙂", "\u007f", "\u0080", "\u009f", "\u00a0", "\u0301", "\u200b", "ab", "éé", ""],
].flat();
const PREFIXES = ["", "C-", "M-", "S-", "c-", "C-M-", "M-C-S-", "C-C-", "^", "^M-", "X-", "C", "C-^"];

/** tmux's replies to `bind-key -T test NAME`, one per name: whether it knows the key. */
function knownToTmux(names: readonly string[]): boolean[] {
  const directory = ownDirectory();
  const tmux = (...args: string[]): string =>
    spawnSync("tmux", ["-u", "-S", join(directory, "s"), "-f", "/dev/null", ...args], { encoding: "utf8" }).stdout;
  try {
    tmux("new-session", "-d", "cat");
    const input = `${names.map((name) => `bind-key -T test -- ${quote(name)} display-message`).join("\n")}\n`;
    const done = spawnSync("tmux", ["-u", "-S", join(directory, "s"), "-C", "attach"], { encoding: "utf8", input });
    const answers = [...done.stdout.matchAll(/^%begin (\d+ \d+) 1\n[^]*?^%(end|error) \1 1$/gm)];
    return answers.map(([, , word]) => word === "end");
  } finally {
    tmux("kill-server");
  }
}

const ALL = PREFIXES.flatMap((prefix) => [...NAMED, ...SINGLE].map((base) => prefix + base));

test("a name that tmux would type as text is not a key", () => {
  const known = knownToTmux(ALL);
  expect(known).toHaveLength(ALL.length);
  expect(ALL.filter((name, index) => isKeyName(name) && known[index] !== true)).toEqual([]);
});

test("tmux's named keys are keys to us, modifiers before them", () => {
  const names = ["", "C-", "M-", "S-", "M-C-S-"].flatMap((prefix) => NAMED.map((base) => prefix + base));
  const known = knownToTmux(names);
  expect(known).toHaveLength(names.length);
  expect(names.filter((name, index) => !isKeyName(name) && known[index] === true)).toEqual([]);
});
