/** Tables for a terminal. */
import { expect, test } from "vitest";
import { table } from "../../../../adapters/cli/textTable.ts";

test("columns stand below each other where names are wide, combined or both", () => {
  const rows = ["plain", "漢字テスト", "e\u0301te\u0301", "\u{1f680}"].map((name) => [name, "x"]);
  expect(table(["NAME", "NEXT"], rows)).toBe(
    [
      "NAME        NEXT",
      "plain       x",
      "漢字テスト  x",
      "e\u0301te\u0301         x",
      "\u{1f680}          x",
      "",
    ].join("\n"),
  );
});
