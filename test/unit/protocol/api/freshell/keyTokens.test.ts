import { describe, expect, test } from "vitest";
import { isKeyName } from "../../../../../daemon/panes/input/keys.ts";
import { KEY_NAMES, keyOf, keyTokenParts } from "../../../../../protocol/api/freshell/keyTokens.ts";

const keys = (...names: string[]) => ({ kind: "keys", keys: names });
const text = (typed: string) => ({ kind: "text", text: typed });

describe("F072 the name of a key", () => {
  test.each(KEY_NAMES.map((name) => [name]))("%s, in any case", (name) => {
    for (const token of [name, name.toLowerCase(), name.toUpperCase()]) expect(keyOf(token)).toBe(name);
  });

  test.each([
    ["C-c", "C-c"],
    ["c-C", "C-c"],
    ["C-[", "C-["],
    ["C-_", "C-_"],
    ["M-x", "M-x"],
    ["m-X", "M-X"],
    ["M-~", "M-~"],
    ["C-M-d", "C-M-d"],
    ["M-Enter", "M-Enter"],
    ["C-left", "C-Left"],
    ["S-Up", "S-Up"],
    ["C-Space", "C-Space"],
    ["M--", "M--"],
  ])("%s", (token, key) => expect(keyOf(token)).toBe(key));

  test("is one that tmux takes, whatever is before it", () => {
    const characters = Array.from({ length: 94 }, (_, at) => String.fromCodePoint(33 + at));
    const tokens = ["", "C-", "M-", "S-", "C-M-"].flatMap((before) =>
      [...KEY_NAMES, ...characters].map((base) => before + base),
    );
    const known = tokens.map(keyOf).filter((key) => key !== undefined);
    expect(known.length).toBeGreaterThan(200);
    expect(known.filter((key) => !isKeyName(key))).toEqual([]);
  });
});

describe("F073 any other token is text", () => {
  test.each([
    "hello",
    "Enter ",
    "Enterx",
    "^C",
    "C-",
    "C-c ",
    "C-cc",
    "C-é",
    "C-~",
    "S-a",
    "x",
    "F13",
    "F0",
    "Delete",
    "-l",
    "M-x y",
    "C",
    "C-C-",
    "é",
    "__proto__",
  ])("%j", (token) => expect(keyOf(token)).toBeUndefined());
});

describe("a job of tokens", () => {
  test("F071 F076 is in the order given, with nothing between two of them", () => {
    expect(keyTokenParts(["abc", "def", "Enter", "Up", "C-c", "x"], false)).toEqual([
      text("abcdef"),
      keys("Enter", "Up", "C-c"),
      text("x"),
    ]);
  });

  test("F074 F076 with -l is text joined with one space", () => {
    expect(keyTokenParts(["-l", "Enter", "C-c", ""], true)).toEqual([text("-l Enter C-c ")]);
  });

  test("has nothing for empty tokens", () => {
    expect(keyTokenParts(["", "a", "", "Enter", ""], false)).toEqual([text("a"), keys("Enter")]);
    expect(keyTokenParts([""], true)).toEqual([]);
    expect(keyTokenParts([], false)).toEqual([]);
  });

  test("of very many tokens is made in time that grows with them", () => {
    const many = Array.from({ length: 200_000 }, (_, at) => (at % 2 === 0 ? "Up" : "up"));
    expect(keyTokenParts(many, false)).toEqual([{ kind: "keys", keys: many.map(() => "Up") }]);
  });
});
