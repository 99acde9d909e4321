/** What is recognised without the schema is what the schema gives back as it is; what people send is recognised. */
import fc from "fast-check";
import * as v from "valibot";
import { expect, test } from "vitest";
import { inputRequestSchema } from "../../protocol/api/native/nativeRequests.ts";
import { streamRequestSchema } from "../../protocol/api/native/nativeStream.ts";
import { isPlainInput, isPlainInputMessage } from "../../protocol/api/plainInput.ts";

const oneOf = <Value>(...values: readonly Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);
const enters = (count: number): unknown[] => Array.from({ length: count }, () => ({ kind: "enter" }));
const text = oneOf<unknown>("ls", "", "é\u{1f600}", "\ud800", "x\udc00", 5, null, undefined);
const keys = oneOf<unknown>(
  ["C-c"],
  [],
  [""],
  ["k".repeat(48)],
  ["k".repeat(49)],
  [7],
  Array(1_025).fill("a"),
  "C-c",
  {},
);
const kind = oneOf<unknown>("text", "paste", "keys", "enter", "bell", 1);
const part = fc.oneof(
  {
    weight: 4,
    arbitrary: oneOf<unknown>({ kind: "enter" }, { kind: "text", text: "ls" }, { kind: "keys", keys: ["Up"] }),
  },
  fc.record({ kind, text, keys, base64: oneOf<unknown>("bHM=", "?"), more: fc.constant(1) }, { requiredKeys: [] }),
  oneOf<unknown>(null, [], "enter", 3),
);
const parts = fc.oneof(
  { weight: 8, arbitrary: fc.array(part, { maxLength: 3 }) },
  oneOf<unknown>(enters(256), enters(257), {}, null, undefined),
);
const profile = oneOf<unknown>("shell", "shell", "p".repeat(64), "p".repeat(65), "", 1, null, undefined);
const body = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ parts, profile, more: fc.constant(1) }, { requiredKeys: ["parts"] }).map(seldomMore),
  },
  oneOf<unknown>(null, [], "x", {}, [{ kind: "enter" }]),
);
const message = fc
  .record(
    {
      type: oneOf<unknown>("input", "input", "input", "resize", "call"),
      id: oneOf<unknown>(
        0,
        1,
        2,
        3,
        4,
        5,
        6,
        7,
        Number.MAX_SAFE_INTEGER,
        Number.MAX_SAFE_INTEGER + 1,
        -1,
        1.5,
        "1",
        null,
      ),
      server: oneOf<unknown>("main", "main", "main", "main", "main", "", 1, undefined),
      pane: oneOf<unknown>("3", "%3", "4", "%5", 3, null),
      parts,
      profile,
      more: fc.constant(1),
    },
    { requiredKeys: ["type", "parts"] },
  )
  .map(seldomMore);

function seldomMore(value: Record<string, unknown>): Record<string, unknown> {
  const { more, ...rest } = value;
  return more !== undefined && JSON.stringify(rest).length % 5 === 0 ? value : rest;
}

function agree(schema: v.GenericSchema, isPlain: (value: unknown) => boolean, values: fc.Arbitrary<unknown>): number {
  let recognised = 0;
  fc.assert(
    fc.property(values, (value) => {
      if (!isPlain(value)) return;
      recognised += 1;
      const judged = v.safeParse(schema, value);
      expect(judged.success).toBe(true);
      expect(judged.output).toEqual(value);
    }),
    { numRuns: 5_000 },
  );
  return recognised;
}

test("the body of a request", () => {
  expect(agree(inputRequestSchema, isPlainInput, body)).toBeGreaterThan(200);
});

test("a message of the WebSocket", () => {
  expect(agree(streamRequestSchema, isPlainInputMessage, message)).toBeGreaterThan(20);
});

test("what people send", () => {
  const typed = [{ kind: "text", text: "make" }, { kind: "enter" }, { kind: "keys", keys: ["C-c"] }];
  expect(isPlainInput({ parts: typed })).toBe(true);
  expect(isPlainInputMessage({ type: "input", id: 3, server: "main", pane: "5", parts: typed })).toBe(true);
});
