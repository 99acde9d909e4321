/** How JSON is built, read from its text alone, agrees with what the parser makes of it. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonShape } from "../../../../protocol/text/jsonShape.ts";

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;

/** The value itself, and each object, list, and gap between two members. */
function counted(value: unknown): number {
  if (!isNested(value)) return 0;
  const members = Object.values(value) as unknown[];
  return members.reduce<number>((sum, member) => sum + counted(member), 1 + Math.max(0, members.length - 1));
}

const deepest = (value: unknown): number =>
  isNested(value) ? 1 + Math.max(0, ...Object.values(value).map((member) => deepest(member))) : 0;

test("any JSON, laid out or not: depth and number of values", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 2), (value, indent) => {
      expect(jsonShape(JSON.stringify(value, undefined, indent))).toEqual({
        depth: deepest(value),
        values: 1 + counted(value),
      });
    }),
  );
});

test.each(['"[[{{,,"', String.raw`"\"[,"`, String.raw`"\\\"[,\\"`, '"[,'])(
  "what is in a string counts nothing: %s",
  (text) => {
    expect(jsonShape(text)).toEqual({ depth: 0, values: 1 });
  },
);
