import { describe, expect, test } from "vitest";
import { parseAddinRequest } from "../../../../adapters/addin/addinApp.ts";

const anyPattern = async (): Promise<undefined> => undefined;

describe("patterns", () => {
  const request = { action: "send_and_capture", session: "s", text: "x" };
  const refuse = (pattern: string, reason: string): Promise<unknown> =>
    parseAddinRequest({ ...request, wait_for: pattern }, async () => reason);

  test("one that only our engine refuses: the reason is appended", async () => {
    await expect(refuse("(?=x)", "invalid perl operator: (?=")).rejects.toThrow(
      /^wait_for must be a valid regular expression\. invalid perl operator: \(\?=$/,
    );
  });
  test("one that every engine refuses: the contract's words alone", async () => {
    await expect(refuse("(", "missing )")).rejects.toThrow(/^wait_for must be a valid regular expression\.$/);
  });
  test("none to check, none checked", async () => {
    const checked: string[] = [];
    const check = async (pattern: string): Promise<undefined> => void checked.push(pattern);
    await parseAddinRequest({ ...request, wait_for: "  " }, check);
    expect(checked).toEqual([]);
    await parseAddinRequest({ ...request, wait_for: " a b " }, check);
    expect(checked).toEqual(["a b"]);
  });
});

describe("what is left of a good request", () => {
  test("send_and_capture", async () => {
    const request = {
      action: "send_and_capture",
      session: " s ",
      text: "  kept  ",
      keys: ["Up", " ", " C-c "],
      enter: true,
      lines: 7,
      wait_for: "x",
      timeout_ms: 100,
      wait_ms: 3,
      join_wrapped: true,
    };
    expect(await parseAddinRequest(request, anyPattern)).toEqual({
      action: "send_and_capture",
      session: "s",
      input: { text: "  kept  ", keys: ["Up", "C-c", "Enter"] },
      capture: { lines: 7, joinWrapped: true, waitMs: 3 },
      wait: { pattern: "x", timeoutMs: 100 },
    });
  });
  test("defaults, and only a literal true counts", async () => {
    const request = { action: "send_and_capture", session: "s", text: "x", enter: 1, join_wrapped: "true" };
    expect(await parseAddinRequest(request, anyPattern)).toEqual({
      action: "send_and_capture",
      session: "s",
      input: { text: "x", keys: [] },
      capture: { lines: 200, joinWrapped: false, waitMs: 0 },
      wait: undefined,
    });
  });
  test("names of an object's prototype are no fields", async () => {
    const body: unknown = JSON.parse('{"action":"list_sessions","__proto__":{"session":"-"},"constructor":1}');
    expect(await parseAddinRequest(body, anyPattern)).toEqual({ action: "list_sessions" });
  });
});
