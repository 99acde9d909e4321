/** What is said of a value that a schema refuses. */
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { OPERATIONS } from "../../../../adapters/operations/operationTable.ts";
import type { OperationName } from "../../../../protocol/api/operationRoutes.ts";
import { streamRequestSchema } from "../../../../protocol/api/native/nativeStream.ts";
import { parse, tryParse } from "../../../../protocol/api/parse.ts";

function said(schema: v.GenericSchema, given: unknown): string {
  try {
    parse(schema, given);
    return "accepted";
  } catch (error) {
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT" });
    return (error as Error).message;
  }
}

const PATTERN = "must be {literal} or {regex, ignoreCase?, multiline?, dotAll?}";
const PARTS = "must be a list of JSON objects whose `kind` is one of text, paste, keys, enter";
const SIZE = "must be a whole number from 1 to 1000";

describe("operations", () => {
  test.each<[OperationName, unknown, string]>([
    ["createSession", { session: "x" }, "there is no argument `session`; did you mean `name`?"],
    ["createSession", { colums: 80 }, "there is no argument `colums`; did you mean `cols`?"],
    ["createSession", { remain_on_exit: true }, "there is no argument `remain_on_exit`; did you mean `remainOnExit`?"],
    [
      "createSession",
      { workingDirectory: "/" },
      "there is no argument `workingDirectory`; use one of name, command, cwd, cols, rows, remainOnExit",
    ],
    [
      "createSession",
      { name: "a", session: "b" },
      "there is no argument `session`; use one of name, command, cwd, cols, rows, remainOnExit",
    ],
    ["createSession", { directory: "/" }, "there is no argument `directory`; did you mean `cwd`?"],
    [
      "createSession",
      { ["x".repeat(100)]: 1 },
      `there is no argument \`${"x".repeat(64)}…\`; use one of name, command, cwd, cols, rows, remainOnExit`,
    ],
    ["listSessions", { session: "x" }, "there is no argument `session`; this takes none"],
    ["createSession", [], "the request must be a JSON object"],
    ["createSession", "x", "the request must be a JSON object"],
    ["createSession", { name: 5 }, "name: must be text"],
    ["createSession", { name: "" }, "name: must not be empty"],
    ["createSession", { name: "x".repeat(257) }, "name: must be at most 256 characters"],
    ["createSession", { command: "make -j4 test" }, 'command: must be a list of text, such as ["make","-j4","test"]'],
    ["createSession", { command: [] }, "command: must not be empty"],
    ["createSession", { command: ["ls", 5] }, "command.1: must be text"],
    ["createSession", { cwd: "src" }, "cwd: cwd must be an absolute path"],
    ["createSession", { cols: 0 }, `cols: ${SIZE}`],
    ["createSession", { cols: 1.5 }, `cols: ${SIZE}`],
    ["createSession", { cols: "80" }, `cols: ${SIZE}, not text`],
    ["createSession", { remainOnExit: "true" }, "remainOnExit: must be true or false, not text"],
    ["resize", { cols: 80 }, `rows: is missing; it ${SIZE}`],
    ["resize", { width: 80, height: 24 }, "cols: is missing; there is no argument `width`, did you mean `cols`?"],
    ["run", { cmd: "ls" }, "command: is missing; there is no argument `cmd`, did you mean `command`?"],
    ["run", { command: "ls", format: "row" }, "format: must be one of text, raw; did you mean `raw`?"],
    ["tell", {}, "text: is missing"],
    ["wait", { pattern: { text: "x" } }, `pattern: ${PATTERN}; there is no member \`text\`; did you mean \`literal\`?`],
    ["wait", { pattern: "x" }, `pattern: ${PATTERN}, such as {"literal":"x"}`],
    ["wait", { pattern: {} }, `pattern: ${PATTERN}`],
    ["wait", { pattern: [] }, `pattern: ${PATTERN}, not a list`],
    ["wait", { pattern: { ignoreCase: true } }, `pattern: ${PATTERN}; \`regex\` is missing`],
    ["wait", { pattern: { literal: "a", regex: "b" } }, `pattern: ${PATTERN}; \`regex\` does not go with \`literal\``],
    ["wait", { pattern: { literal: 5 } }, "pattern.literal: must be text"],
    ["wait", { anyOf: [{ exit: true }, { exits: true }] }, "anyOf.1: there is no member `exits`; did you mean `exit`?"],
    [
      "wait",
      { ready: "idel" },
      "ready: must be true, or one of starting, idle, busy, asking, dead, unknown; did you mean `idle`?",
    ],
    ["wait", { stableSec: 0 }, "stableSec: must be a number from 0.01 to 3600"],
    ["wait", { timeout: 5 }, "there is no argument `timeout`; did you mean `timeoutMs`?"],
    ["wait", { send: {} }, `send.parts: is missing; it ${PARTS}`],
    ["input", { text: "ls" }, "parts: is missing; there is no argument `text`, did you mean `parts`?"],
    ["input", { parts: "ls" }, `parts: ${PARTS}`],
    ["input", { parts: [{ text: "ls" }] }, "parts.0.kind: is missing; it must be one of text, paste, keys, enter"],
    [
      "input",
      { parts: [{ kind: "key" }] },
      "parts.0.kind: must be one of text, paste, keys, enter; did you mean `keys`?",
    ],
    [
      "input",
      { parts: [{ kind: "keys", keys: "C-c Up" }] },
      'parts.0.keys: must be a list of text, such as ["C-c","Up"]',
    ],
    ["input", { parts: [{ kind: "enter", text: "x" }] }, "parts.0: there is no member `text`; use kind"],
    ["input", { parts: [[]] }, "parts.0: must be a JSON object, not a list"],
    ["split-window", { pane: "%5", size: true }, `size: ${SIZE} or text`],
    ["split-window", { pane: "%5", size: "x" }, "size: a size must be cells, or 1% to 100%"],
    ["split-window", { pane: "%5", environment: { A: 5 } }, "environment.A: must be text"],
    ["startAgent", { agent: "x", environment: { "": "y" } }, "environment: names must not be empty"],
    ["startAgent", { agent: "x", worktree: 5 }, "worktree: must be true or false, or {branch?, from?}"],
    [
      "startAgent",
      { agent: "x", worktree: { branhc: "y" } },
      "worktree: there is no member `branhc`; did you mean `branch`?",
    ],
    ["startAgent", { agent: "x", worktree: { branch: 5 } }, "worktree.branch: must be text"],
    [
      "startAgent",
      { agent: "x", where: "window" },
      "where: must be a JSON object whose `kind` is one of session, window, split",
    ],
    [
      "choose",
      { answer: { kind: "multi", answers: [1] } },
      "answer.answers.0: must be a list of whole numbers from 0 to 63",
    ],
    ["set-window-option", { window: "@0", option: "x", value: 5 }, "value: must be text or null"],
    ["waitAgent", { for: "ready" }, "for: must be a list, each one of ready, asking, done, ended, stalled"],
  ])("%s %j", (name, given, message) => {
    expect(said(OPERATIONS[name].input, given)).toBe(message);
  });
});

test("a message of the WebSocket", () => {
  const types = "subscribe, unsubscribe, credit, follow-events, unfollow-events, input, resize, call, cancel";
  expect(said(streamRequestSchema, {})).toBe(`type: is missing; it must be one of ${types}`);
  expect(said(streamRequestSchema, { type: "subscrib" })).toMatch(/; did you mean `subscribe`\?$/);
  expect(said(streamRequestSchema, 5)).toBe(`the request must be a JSON object whose \`type\` is one of ${types}`);
});

describe("schemas", () => {
  test("a message of the schema's own stays as it is", () => {
    const own = v.strictObject(
      {
        a: v.pipe(
          v.string("a is a word"),
          v.check((text) => text !== "no", "must not be no"),
        ),
      },
      "must be {a}",
    );
    expect(said(own, { a: 5 })).toBe("a: a is a word");
    expect(said(own, { a: "no" })).toBe("a: must not be no");
    expect(said(own, 5)).toBe("the request must be {a}");
  });

  test("what is nullable, one value only, and beyond what a number can be", () => {
    const schema = v.strictObject({
      limit: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1)))),
      version: v.optional(v.literal(2)),
      kind: v.optional(v.literal("text")),
      share: v.optional(v.pipe(v.number(), v.gtValue(0), v.maxValue(1))),
      most: v.optional(v.pipe(v.number(), v.maxValue(9))),
      nothing: v.optional(v.never()),
      path: v.optional(v.pipe(v.string(), v.startsWith("/"))),
      two: v.optional(v.strictTuple([v.number(), v.number()])),
    });
    expect(said(schema, { limit: "x" })).toBe("limit: must be a whole number from 1 or null");
    expect(said(schema, { version: 1 })).toBe("version: must be 2");
    expect(said(schema, { kind: "x" })).toBe('kind: must be "text"');
    expect(said(schema, { share: 2 })).toBe("share: must be a number above 0 up to 1");
    expect(said(schema, { most: 10 })).toBe("most: must be a number of at most 9");
    expect(said(schema, { nothing: 1 })).toBe("nothing: must be left out");
    expect(said(schema, { path: "x" })).toBe('path: must begin with "/"');
    expect(said(schema, { two: [1, 2, 3] })).toBe("two.2: must be left out");
    expect(said(schema, { two: 5 })).toBe("two: must be a list of 2");
  });

  test("many unknown names are not compared one by one", () => {
    const many = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`name${at}`, at]));
    const before = performance.now();
    expect(said(OPERATIONS.wait.input, { pattern: many })).toMatch(/^pattern: must be /);
    expect(said(OPERATIONS.run.input, many)).toBe("command: is missing");
    expect(performance.now() - before).toBeLessThan(5_000);
  });

  test("a file's members are not arguments", () => {
    const tried = tryParse(v.strictObject({ name: v.string() }), { name: "x", nmae: 1 }, { noun: "member" });
    expect(tried).toMatchObject({ fault: { path: undefined, message: "there is no member `nmae`; use name" } });
  });
});
