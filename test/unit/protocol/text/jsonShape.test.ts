/** How JSON is built, read from its text alone, agrees with what the parser makes of it. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonShape } from "../../../../protocol/text/jsonShape.ts";

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;

/** Each object and list, and gap between two members; `ofLists` false: of objects alone. */
function counted(value: unknown, ofLists: boolean): number {
  if (!isNested(value)) return 0;
  const members = Object.values(value) as unknown[];
  const gaps = ofLists || !Array.isArray(value) ? Math.max(0, members.length - 1) : 0;
  return members.reduce<number>((sum, member) => sum + counted(member, ofLists), 1 + gaps);
}

const deepest = (value: unknown): number =>
  isNested(value) ? 1 + Math.max(0, ...Object.values(value).map((member) => deepest(member))) : 0;

test("any JSON, laid out or not: depth and number of values", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(0, 2), (value, indent) => {
      expect(jsonShape(JSON.stringify(value, undefined, indent))).toEqual({
        depth: deepest(value),
        members: 1 + counted(value, false),
        values: 1 + counted(value, true),
      });
    }),
  );
});

test.each(['"[[{{,,"', String.raw`"\"[,"`, String.raw`"\\\"[,\\"`, '"[,'])(
  "what is in a string counts nothing: %s",
  (text) => {
    expect(jsonShape(text)).toEqual({ depth: 0, members: 1, values: 1 });
  },
);
