import { expect, test } from "vitest";
import * as v from "valibot";
import { queryInput } from "../../../../adapters/operations/queryInput.ts";

const schema = v.strictObject({
  lines: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(9))),
  joined: v.optional(v.boolean()),
  from: v.optional(v.pipe(v.string(), v.nonEmpty())),
});

test("a query's texts become what the schema takes", () => {
  expect(queryInput(schema, { lines: "5", joined: "1", from: "12" })).toEqual({ lines: 5, joined: true, from: "12" });
  expect(queryInput(schema, { joined: "false" })).toEqual({ joined: false });
  // The schema refuses these, by their names.
  expect(queryInput(schema, { lines: "five", joined: "yes" })).toEqual({ lines: "five", joined: "yes" });
  expect(queryInput(schema, { lnes: "5" })).toEqual({ lnes: "5" });
});

test("what takes nothing ignores its query", () => {
  expect(queryInput(v.strictObject({}), { any: "thing" })).toEqual({});
});
