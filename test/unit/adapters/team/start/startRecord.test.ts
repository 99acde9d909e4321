/** The record of a start, as it is kept in an option of the worker's pane: always within the option's bound. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { beginRecord, recordOption } from "../../../../../adapters/team/start/startRecord.ts";
import { MAX_USER_OPTION_CHARS } from "../../../../../protocol/limits.ts";

const encodedLength = (taskPrompt: string, detail: string): number => {
  const request = { teamId: "t".repeat(64), taskPrompt, idempotencyKey: "k" };
  const record = beginRecord(request, "t".repeat(64));
  const full = { ...record, outcome: "echoed_unconfirmed", readyMs: 30_000.5, detail, announced: true } as const;
  const [text = ""] = Object.values(recordOption(full));
  return encodeURIComponent(text).length;
};

test("whatever the prompt and the refusal are, there is room for it", () => {
  for (const text of ['"'.repeat(500), "\\".repeat(500), " ".repeat(500), "é".repeat(500), "a".repeat(500), "\u0000"]) {
    expect(encodedLength(text, text)).toBeLessThanOrEqual(MAX_USER_OPTION_CHARS);
  }
  fc.assert(
    fc.property(fc.string({ maxLength: 400, unit: "binary" }), fc.string({ maxLength: 400 }), (prompt, detail) => {
      expect(encodedLength(prompt, detail)).toBeLessThanOrEqual(MAX_USER_OPTION_CHARS);
    }),
  );
});
