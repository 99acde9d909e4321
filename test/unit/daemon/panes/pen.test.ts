/** The attributes that are left after sequences, and the sequence that sets them. */
import { expect, test } from "vitest";
import { DEFAULT_PEN, penAfter, sgrOf } from "../../../../daemon/panes/pen.ts";

test.each([
  ["1", "0;1"],
  ["1;2;3;4;5;7;8;9;53", "0;1;2;3;4;5;7;8;9;53"],
  ["6", "0;6"],
  ["21", "0;21"],
  ["1;2;22", "0"],
  ["3;23;4;24;5;25;7;27;8;28;9;29;53;55", "0"],
  ["4:3", "0;4:3"],
  ["4:3;4:0", "0"],
  ["30", "0;30"],
  ["37;97", "0;97"],
  ["90", "0;90"],
  ["29;38", "0"],
  ["40;107", "0;107"],
  ["47", "0;47"],
  ["100", "0;100"],
  ["31;42;39;49", "0"],
  ["98;108;89;99", "0"],
  ["38;5;200", "0;38;5;200"],
  ["38;2;1;2;3;1", "0;38;2;1;2;3;1"],
  ["48;5;7;58;5;9", "0;48;5;7;58;5;9"],
  ["38:2::1:2:3;1", "0;38:2::1:2:3;1"],
  ["58;5;9;59", "0"],
  // An unknown form takes its number with it, a cut one sets nothing.
  ["38;9;1", "0;1"],
  ["38;5", "0"],
  ["38;2;1;2", "0"],
  ["1;;4", "0;4"],
  ["1;0;4", "0;4"],
  ["1;999;3", "0;1;3"],
  ["", "0"],
  ["0", "0"],
])("CSI %s m leaves CSI %s m", (parameters, left) => {
  expect(sgrOf(penAfter(`\u001b[${parameters}m`))).toBe(`\u001b[${left}m`);
});

test("one after the other, on what was set before, which stays as it was", () => {
  const red = penAfter("\u001b[31m");
  const both = penAfter("a\u001b[1mb\u001b[32mc", red);
  expect([sgrOf(red), sgrOf(both)]).toEqual(["\u001b[0;31m", "\u001b[0;32;1m"]);
  expect(penAfter(sgrOf(both), red)).toEqual(both);
  expect(penAfter("\u001b[0m", both)).toBe(DEFAULT_PEN);
  expect(sgrOf(penAfter("no \u001b[2J sequence of colours"))).toBe("\u001b[0m");
  for (let n = 0; n < 300; n += 1) expect(sgrOf(penAfter(`\u001b[38;5;${n}m`))).toBe(`\u001b[0;38;5;${n}m`);
});
