import { expect, test } from "vitest";
import { newId } from "../../../../adapters/freshell/newId.ts";
import { newToken } from "../../../../daemon/ops/newToken.ts";

test.each([
  ["a token", newToken, 43],
  ["an id", newId, 21],
])("%s never begins with a dash, and none comes twice", (_name, make, length) => {
  const made = Array.from({ length: 3_000 }, make);
  expect(made.filter((one) => one.startsWith("-"))).toEqual([]);
  expect(made.every((one) => one.length === length && /^[\w-]+$/.test(one))).toBe(true);
  expect(new Set(made).size).toBe(made.length);
});
