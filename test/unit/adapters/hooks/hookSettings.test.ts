/** Hooks in and out of settings of every shape: nothing else changes, and what was there is there again, byte for byte. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hookedAgents, hookEntries, isHooked } from "../../../../adapters/hooks/agentHooks.ts";
import { isOurCommand } from "../../../../adapters/hooks/hookScript.ts";
import {
  type HookGroups,
  readSettings,
  stateOf,
  withHooks,
  withoutHooks,
} from "../../../../adapters/hooks/hookSettings.ts";
import { AppError } from "../../../../protocol/errors.ts";

function groupsFor(url: string): HookGroups {
  const claude = hookedAgents().find(({ name }) => name === "claude")!;
  if (!isHooked(claude, "merge")) throw new Error("its settings take hooks");
  return hookEntries(claude.hooks, "'/d/tmuxwire/hooks/claude.sh'", url);
}
const groups = groupsFor("http://127.0.0.1:5055");

interface Settings {
  readonly hooks?: Readonly<Record<string, readonly { readonly hooks?: readonly { readonly command?: unknown }[] }[]>>;
}

/** What the settings mean without our hooks. */
function others(text: string): unknown {
  const settings = JSON.parse(text) as Settings;
  const hooks = Object.entries(settings.hooks ?? {}).flatMap(([event, all]) => {
    const theirs = all.filter((group) => group.hooks?.some(({ command }) => isOurCommand(command)) !== true);
    return theirs.length === 0 ? [] : [[event, theirs] as const];
  });
  return { ...settings, hooks: Object.fromEntries(hooks) };
}

const oddly: Record<string, string> = {
  "two spaces": `{\n  "model": "opus",\n  "env": {\n    "A": "1"\n  }\n}\n`,
  "four spaces, no line end at the end": `{\n    "a": [1, 2],\n    "b": null\n}`,
  tabs: `{\n\t"a": {\n\t\t"b": true\n\t}\n}\n`,
  CRLF: `{\r\n  "a": 1\r\n}\r\n`,
  "on one line": `{"a":1,"b":{"c":[]}}`,
  "on one line, with blanks": `{ "a": 1, "b": 2 }\n`,
  empty: `{}`,
  "empty, with blanks": ` { } \n`,
  "empty, on two lines": `{\n}\n`,
  "hooks of others": `{\n  "hooks": {\n    "Stop": [\n      {\n        "hooks": [{ "type": "command", "command": "say done" }]\n      }\n    ]\n  },\n  "z": 1\n}\n`,
  "hooks of others on one line": `{\n  "hooks": {"Stop":[{"matcher":"*","hooks":[{"type":"command","command":"x"}]}]}\n}\n`,
  "no hooks yet": `{\n  "hooks": {},\n  "z": 1\n}\n`,
  "no hooks yet, on two lines": `{\n  "hooks": {\n  }\n}\n`,
  "an event without hooks": `{\n  "hooks": {\n    "Stop": [],\n    "PreToolUse": [ ],\n    "SessionEnd": [\n    ]\n  }\n}\n`,
  "a group without hooks": `{\n  "hooks": {\n    "Stop": [{}]\n  }\n}\n`,
  "strings that look like structure": `{\n  "a\\"}": "{\\"hooks\\": [\\\\",\n  "ключ": "→ \\u0000 🦊"\n}\n`,
  "a name twice": `{\n  "hooks": {"a": []},\n  "hooks": {}\n}\n`,
};

/** As Gemini takes them. */
const commented: Record<string, string> = {
  "above and beside": `// mine\n{\n  // the model\n  "model": "x", // best\n  "url": "http://a//b", /* kept */\n  "z": 1 // last\n}\n// end\n`,
  "before the first": `{ // settings\n  "a": { /* none */ },\n  "b": [1 /* one */, 2]\n}\n`,
  "nothing but a comment": `{\n  // nothing yet\n}\n`,
  "on one line": `{/* a */"a":1/* b */}`,
  "in hooks": `{\n  "hooks": {\n    // none of mine\n  }\n}\n`,
  "in hooks of others": `{\n  "hooks": {\n    "Stop": [\n      // a bell\n      { "hooks": [{ "type": "command", "command": "say \\"/*\\"" }] } // rings\n    ]\n  }\n}\n`,
};

describe.each(Object.entries(commented))("comments %s", (_name, before) => {
  test("in and out", () => {
    expect(() => readSettings("/s", Buffer.from(before))).toThrow(/not plain JSON/);
    expect(readSettings("/s", Buffer.from(before), true)).toBe(before);
    const after = withHooks(before, groups);
    expect(readSettings("/s", Buffer.from(after), true)).toBe(after);
    expect(stateOf(after, groups).state).toBe("installed");
    expect(withHooks(after, groups)).toBe(after);
    for (const [comment] of before.matchAll(/\/\/ \w[ \w]*|\/\* \w+ \*\//g)) expect(after).toContain(comment);
    expect(withoutHooks(after)).toBe(before);
  });
});

test("what somebody writes beside our hooks stays when they go", () => {
  const after = withHooks(`{\n  "a": 1\n}\n`, groups);
  const noted = after.replace(`"hooks"`, `// tells the dashboard\n  "hooks"`);
  expect(withoutHooks(noted)).toBe(`{\n  "a": 1\n  // tells the dashboard\n  \n}\n`);
  const more = after.replace(/\}\n$/, `, // and mine\n  "b": 2\n}\n`);
  const left = withoutHooks(more);
  expect(left).toContain("// and mine");
  expect(JSON.parse(left!.replace("// and mine", ""))).toEqual({ a: 1, b: 2 });
});

test.each([`{\n "a": 1, // x\n}`, `{ /* open\n"a": 1 }`, `{ "a": 1 } // x\n /`])(
  "broken, comments or not: %j",
  (text) => {
    expect(() => readSettings("/s", Buffer.from(text), true)).toThrow(
      /^\/s is not plain JSON[^\n]*a comma after a last item is/,
    );
  },
);

describe.each(Object.entries(oddly))("%s", (_name, before) => {
  test("in and out", () => {
    const path = "/s";
    expect(readSettings(path, Buffer.from(before))).toBe(before);
    expect(stateOf(before, groups).state).toBe("not installed");
    const after = withHooks(before, groups);
    expect(stateOf(after, groups)).toMatchObject({ state: "installed", disabled: false });
    expect(others(after)).toEqual(others(before));
    expect(withHooks(after, groups)).toBe(after);
    expect(withoutHooks(after)).toBe(before);
    expect(withoutHooks(before)).toBe(before);
  });

  test("to another dashboard, and out", () => {
    const elsewhere = groupsFor("http://[::1]:8000/it's");
    const after = withHooks(withHooks(before, groups), elsewhere);
    expect(stateOf(after, elsewhere).state).toBe("installed");
    expect(stateOf(after, groups).state).toBe("outdated");
    expect(withoutHooks(after)).toBe(before);
  });
});

test("a file that was made for the hooks goes with them", () => {
  const made = withHooks(undefined, groups);
  expect(made).toBe(`${JSON.stringify({ hooks: hooksOf(made) }, undefined, 2)}\n`);
  expect(Object.keys(hooksOf(made))).toEqual([...groups.keys()]);
  expect(withoutHooks(made)).toBeUndefined();
});

test("written again by another program, they are found and taken out of it", () => {
  const before = { a: 1, hooks: { Stop: [{ hooks: [{ type: "command", command: "mine" }] }] } };
  const after = JSON.stringify(JSON.parse(withHooks(JSON.stringify(before), groups)), undefined, 4);
  expect(stateOf(after, groups).state).toBe("installed");
  expect(JSON.parse(withoutHooks(after)!)).toEqual(before);
  // Ours put beside somebody else's, in one group.
  const moved = JSON.parse(after) as { hooks: Record<string, { hooks: unknown[] }[]> };
  moved.hooks["Stop"]![0]!.hooks.unshift(moved.hooks["Stop"]!.pop()!.hooks[0]);
  const mixed = JSON.stringify(moved, undefined, 2);
  expect(stateOf(mixed, groups).state).toBe("outdated");
  expect(JSON.parse(withoutHooks(mixed)!)).toEqual(before);
});

test("some of them, and one too many", () => {
  const some = new Map([...groups].slice(0, 3));
  expect(stateOf(withHooks(undefined, some), groups).state).toBe("partly");
  expect(stateOf(withHooks(undefined, groups), some).state).toBe("outdated");
  expect(stateOf(`{"disableAllHooks": true}`, groups)).toMatchObject({ state: "not installed", disabled: true });
});

const refused: Record<string, readonly [bytes: string | Uint8Array, why: RegExp]> = {
  "a byte order mark": ["\ufeff{}", /byte order mark/],
  comments: [`{\n  // secret\n  "a": 1\n}`, /plain JSON \(line 2\)/],
  "a comma after the last item": [`{"a": 1,}`, /plain JSON/],
  "half a file": [`{"a": `, /plain JSON/],
  nothing: [" \n", /empty/],
  "a list": ["[]", /does not accept/],
  "a list of hooks": [`{"hooks": []}`, /does not accept/],
  "hooks that are none": [`{"hooks": [1]}`, /does not accept/],
  "an event that is no list": [`{"hooks": {"Stop": {}}}`, /does not accept/],
  "other bytes": [Uint8Array.of(0x7b, 0xff, 0x7d), /UTF-8/],
  "a very long file": [`{"a":"${"x".repeat(1_048_576)}"}`, /1 MiB/],
  "a very deep one": [`{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, /plain JSON/],
};

test.each(Object.entries(refused))("refused: %s", (_name, [bytes, why]) => {
  const read = (): unknown => readSettings("/the/settings.json", Buffer.from(bytes));
  expect(read).toThrow(AppError);
  expect(read).toThrow(why);
  expect(read).toThrow(/^\/the\/settings\.json .*not changed/);
  expect(read).not.toThrow(/secret/);
});

test("any settings, laid out in any way, are the same after", () => {
  const group = fc.record({ hooks: fc.array(fc.record({ command: fc.string() }), { maxLength: 2 }) });
  const event = fc.constantFrom("Stop", "PreToolUse", "Mine", "SessionStart");
  const settings = fc.record(
    {
      a: fc.jsonValue({ maxDepth: 3 }),
      hooks: fc.dictionary(event, fc.array(group, { maxLength: 3 })),
      z: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      settings,
      fc.infiniteStream(fc.constantFrom("", " ", "\n", "\n  ", "\r\n\t", "  ")),
      (value, blanks) => {
        const before = laidOut(value, blanks);
        const after = withHooks(before, groups);
        expect(stateOf(after, groups).state).toBe("installed");
        expect(others(after)).toEqual(others(before));
        expect(withoutHooks(after)).toBe(before);
      },
    ),
  );
});

/** JSON with arbitrary blanks wherever there may be some. */
function laidOut(value: unknown, blanks: Iterator<string>): string {
  const blank = (): string => String(blanks.next().value);
  const list = (items: readonly string[]): string => items.map((item) => `${blank()}${item}${blank()}`).join(",");
  if (Array.isArray(value)) {
    return value.length === 0 ? `[${blank()}]` : `[${list(value.map((item) => laidOut(item, blanks)))}]`;
  }
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([key, item]) => `${JSON.stringify(key)}${blank()}:${blank()}${laidOut(item, blanks)}`,
  );
  return members.length === 0 ? `{${blank()}}` : `{${list(members)}}`;
}

const hooksOf = (text: string): object => (JSON.parse(text) as { hooks: object }).hooks;
