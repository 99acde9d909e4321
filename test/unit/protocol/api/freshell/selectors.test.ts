import { describe, expect, test } from "vitest";
import type { Selector } from "../../../../../protocol/api/freshell/selectors.ts";
import { parseSelector, selectorText } from "../../../../../protocol/api/freshell/selectors.ts";
import { AppError } from "../../../../../protocol/errors.ts";

const FORMS: readonly (readonly [string, Selector])[] = [
  ["terminal:V1StGXR8_Z5jdHi6B-myT", { type: "terminal", terminalId: "V1StGXR8_Z5jdHi6B-myT" }],
  ["terminal:unknown", { type: "terminal", terminalId: "unknown" }],
  ["tab:t1", { type: "tab", id: "t1" }],
  ["tab-name:build", { type: "tab-name", name: "build" }],
  ["tab-name:a:b c", { type: "tab-name", name: "a:b c" }],
  ["tab-name: ", { type: "tab-name", name: " " }],
  ["tab-index:0", { type: "tab-index", index: 0 }],
  ["pane:p1", { type: "pane", id: "p1" }],
  ["pane-index:12", { type: "pane-index", index: 12 }],
  ["session:sdk:s1", { type: "session", provider: "sdk", sessionId: "s1" }],
  ["session:codingcli:a:b:c", { type: "session", provider: "codingcli", sessionId: "a:b:c" }],
  ["session:claude:x", { type: "session", provider: "claude", sessionId: "x" }],
];

describe("F033-F046 a selector", () => {
  test.each(FORMS)("%s", (text, selector) => {
    expect(parseSelector(text)).toEqual(selector);
    expect(selectorText(selector)).toBe(text);
  });
});

describe("F007 F036 F045 what is no selector is refused, with one line that says what is", () => {
  test.each([
    ["", /terminal:ID/],
    ["abc", /"abc" is no selector: give terminal:ID/],
    ["0:1.2", /"0:1\.2" is no selector/],
    ["%5", /is no selector/],
    ["foo:1", /is no selector/],
    [":1", /is no selector/],
    ["Terminal:x", /is no selector/],
    ["__proto__:x", /is no selector/],
    ["constructor:x", /is no selector/],
    ["pane:", /a value must follow pane:/],
    ["terminal:", /a value must follow terminal:/],
    ["terminal:../x", /is not a terminal/],
    ["terminal:a/b", /is not a terminal/],
    ["terminal:a b", /is not a terminal/],
    [`terminal:${"a".repeat(65)}`, /is not a terminal/],
    [`terminal:${"a".repeat(10_000)}`, /at most 1024/],
    ["tab-index:-1", /integer from 0/],
    ["tab-index:1.5", /integer from 0/],
    ["tab-index:x", /integer from 0/],
    ["pane-index:1e3", /integer from 0/],
    ["pane-index:99999999999999", /integer from 0/],
    ["session:sdk", /session:PROVIDER:ID/],
    ["session:sdk:", /session:PROVIDER:ID/],
    ["session::x", /session:PROVIDER:ID/],
    ["session:bard:x", /the provider must be one of sdk, codingcli/],
  ])("%j", (text, message) => {
    let thrown: unknown;
    try {
      parseSelector(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(AppError);
    expect((thrown as AppError).code).toBe("INVALID_ARGUMENT");
    expect((thrown as AppError).message).toMatch(message);
    expect((thrown as AppError).message.length).toBeLessThan(250);
  });
});
