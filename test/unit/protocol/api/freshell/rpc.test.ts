import { describe, expect, test } from "vitest";
import { parseOutcome, parseRequest } from "../../../../../protocol/api/freshell/rpc.ts";
import {
  hasTerminal,
  isMutation,
  needsKey,
  parseArgs,
  RPC_ARGS,
  type RpcCommand,
} from "../../../../../protocol/api/freshell/rpcCommands.ts";

const request = {
  type: "layout.rpc.request",
  requestId: "req_123",
  callerDeviceId: "cli_dev_1",
  targetDeviceId: "dandesktop",
  command: "split-pane",
  args: { target: "pane:p_abc", direction: "horizontal" },
  expectedRevision: 42,
  idempotencyKey: "idem_123",
};
const without = (name: string): object => Object.fromEntries(Object.entries(request).filter(([key]) => key !== name));

describe("F153 F159 F180: the envelope", () => {
  test("as the seed shows it", () => {
    expect(parseRequest(request)).toEqual(request);
    expect(parseArgs("split-pane", request.args)).toEqual(request.args);
  });

  test.each<[string, unknown, RegExp]>([
    ["no object", [], /^the request must be a JSON object$/],
    ["a phase", { ...request, phase: "finalize" }, /phase/],
    ["a reservation", { ...request, reservationId: "r" }, /reservationId/],
    ["no revision", without("expectedRevision"), /expectedRevision/],
    ["a revision that is none", { ...request, expectedRevision: -1 }, /expectedRevision: must not be below 0/],
    ["no key", without("idempotencyKey"), /idempotencyKey/],
    ["a long key", { ...request, idempotencyKey: "k".repeat(129) }, /idempotencyKey: must have at most 128/],
    ["a command of the prototype", { ...request, command: "__proto__" }, /command: must be a layout command/],
    ["a command of objects", { ...request, command: "toString" }, /command: must be a layout command/],
    ["an id with a path in it", { ...request, targetDeviceId: "../x" }, /targetDeviceId/],
    ["a prototype", JSON.parse(`{"__proto__":{},"type":"layout.rpc.request"}`), /__proto__: unknown field/],
  ])("%s", (_what, given, message) => {
    expect(() => parseRequest(given)).toThrow(message);
  });

  test("which commands want a revision and a key", () => {
    const commands = Object.keys(RPC_ARGS) as RpcCommand[];
    expect(commands.filter((command) => !isMutation(command))).toEqual([
      "send-keys",
      "capture-pane",
      "wait-for",
      "read",
      "resolve",
    ]);
    expect(commands.filter(needsKey)).toEqual(["new-tab", "split-pane", "attach-terminal", "respawn-pane"]);
  });
});

describe("arguments", () => {
  test.each<[RpcCommand, object, string, RegExp]>([
    ["kill-pane", { target: "pane-index:0" }, "INVALID_ARGUMENT", /name the tab as well/],
    ["swap-pane", { source: "pane-index:0", target: "pane:b" }, "INVALID_ARGUMENT", /source: pane-index/],
    ["kill-pane", { target: "tab:t" }, "INVALID_TARGET", /pane: or pane-index:/],
    ["kill-tab", { target: "pane:p" }, "INVALID_TARGET", /tab: or tab-name: or tab-index:/],
    ["kill-pane", { target: "pane-index:0", tab: "pane:p" }, "INVALID_TARGET", /^tab must begin/],
    ["kill-tab", { target: "tab-index:-1" }, "INVALID_ARGUMENT", /no valid index/],
    ["kill-tab", { target: "0:1.2" }, "INVALID_ARGUMENT", /is no selector/],
    ["attach-terminal", { target: "pane:p", to: "pane:p" }, "INVALID_TARGET", /terminal:/],
    ["attach-terminal", { target: "terminal:t", to: "pane-index:0" }, "INVALID_ARGUMENT", /^to: pane-index/],
    ["rename-tab", { target: "tab:t", title: "" }, "INVALID_ARGUMENT", /title: must not be empty/],
    ["rename-tab", { target: "tab:t", title: "a\nb" }, "INVALID_ARGUMENT", /title: must not contain control/],
    ["rename-tab", { target: "tab:t", title: "x".repeat(257) }, "INVALID_ARGUMENT", /title: must have at most 256/],
    ["split-pane", { target: "pane:p" }, "INVALID_ARGUMENT", /direction/],
    ["split-pane", { target: "pane:p", direction: "left" }, "INVALID_ARGUMENT", /horizontal or vertical/],
    ["resize-pane", { target: "pane:p" }, "INVALID_ARGUMENT", /give x or y/],
    ["resize-pane", { target: "pane:p", x: 100 }, "INVALID_ARGUMENT", /x: must be 1 to 99/],
    ["navigate", { target: "pane:p", url: "javascript:alert(1)" }, "INVALID_ARGUMENT", /url: must begin with http/],
    ["navigate", { target: "pane:p", url: "file:///etc/passwd" }, "INVALID_ARGUMENT", /url: must begin with http/],
    ["navigate", { target: "pane:p", url: "http://user:pw@host/" }, "INVALID_ARGUMENT", /user name or a password/],
    ["navigate", { target: "pane:p", url: "http://host/a b" }, "INVALID_ARGUMENT", /spaces/],
    ["navigate", { target: "pane:p", url: "http://h", more: 1 }, "INVALID_ARGUMENT", /more/],
    ["new-tab", JSON.parse(`{"__proto__":{}}`) as object, "INVALID_ARGUMENT", /args.__proto__/],
    ["new-tab", { browser: "http://h", shell: "system" }, "INVALID_ARGUMENT", /give only one of/],
    ["new-tab", { browser: "http://h", editor: "/f" }, "INVALID_ARGUMENT", /give only one of/],
    ["send-keys", { target: "pane:p", keys: [] }, "INVALID_ARGUMENT", /keys: must not be empty/],
  ])("%s %j: %s", (command, args, code, message) => {
    expect(() => parseArgs(command, args)).toThrow(message);
    expect(() => parseArgs(command, args)).toThrow(expect.objectContaining({ code }) as Error);
  });

  test("titles keep right-to-left marks and percent signs", () => {
    const title = "100% \u200F\u202Eabc";
    expect(parseArgs("new-tab", { title })).toEqual({ title });
  });

  test("a new pane has a terminal unless it shows something else", () => {
    expect(hasTerminal({})).toBe(true);
    expect(hasTerminal({ shell: "system" })).toBe(true);
    for (const args of [{ browser: "http://h" }, { editor: "/f" }, { picker: true } as const]) {
      expect(hasTerminal(args)).toBe(false);
    }
  });
});

describe("what an owner returns", () => {
  test("fields of its own stay", () => {
    const result = { paneId: "p", colour: { of: "the pane" } };
    expect(parseOutcome({ ok: true, result, appliedRevision: 3, more: 1 })).toEqual({
      ok: true,
      result,
      appliedRevision: 3,
    });
  });

  test.each([
    [{}],
    [{ ok: true }],
    [{ ok: true, result: {}, error: { code: "NOT_FOUND", message: "no" } }],
    [{ ok: false, result: {}, error: { code: "NOT_FOUND", message: "no" } }],
    [{ ok: false, error: { code: "MADE_UP", message: "no" } }],
    [{ ok: false, error: { code: "NOT_FOUND", message: "x".repeat(1_001) } }],
    [{ ok: true, result: {}, appliedRevision: 1.5 }],
    [{ ok: true, result: [] }],
  ])("%j is none", (given) => {
    expect(parseOutcome(given)).toBeUndefined();
  });
});
