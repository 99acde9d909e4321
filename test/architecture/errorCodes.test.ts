/** A code stands for something that happens: each is thrown somewhere, and the one of a lost tmux only where tmux is. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { ERROR_SURFACES } from "../../protocol/errors.ts";

const ROOT = resolve(import.meta.dirname, "../..");

const textsOf = (layer: string): readonly string[] =>
  readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(join(ROOT, layer, name), "utf8"));

/**
 * Where an error is made: an error class, a function that makes one (`failure`), or the outcome of an owner as it goes over the
 * wire. A list of codes, a comparison and a comment are none.
 */
const MAKERS = String.raw`new \w*(?:Error|Failure)\(\s*(?:\{\s*code:\s*)?|\bfailure\(\s*|\berror: \{ code: `;
const makes = (text: string, code: string): boolean => new RegExp(`(?:${MAKERS})"${code}"`).test(text);

test("every code is made somewhere", () => {
  const everything = ["protocol", "daemon", "adapters"].flatMap(textsOf).join("\n");
  expect(Object.keys(ERROR_SURFACES).filter((code) => !makes(everything, code))).toEqual([]);
});

test("CONNECTION_LOST is about tmux: no client and no surface makes one, or names it as a cause", () => {
  const made = new RegExp(`(?:${MAKERS}|\\bcause: )"CONNECTION_LOST"`);
  expect(textsOf("adapters").filter((text) => made.test(text))).toEqual([]);
});

test("what this test would see", () => {
  expect(makes('throw new AppError(\n  "TIMEOUT",', "TIMEOUT")).toBe(true);
  expect(makes('new CommandFailure({\n code: "TIMEOUT",', "TIMEOUT")).toBe(true);
  expect(makes('return failure("TIMEOUT", "late")', "TIMEOUT")).toBe(true);
  expect(makes('const LISTED = ["TIMEOUT"]; if (code === "TIMEOUT") return', "TIMEOUT")).toBe(false);
});
