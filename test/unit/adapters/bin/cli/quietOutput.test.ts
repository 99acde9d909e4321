import { expect, test } from "vitest";
import { quietOutput } from "../../../../../adapters/bin/cli/quietOutput.ts";

const DRAWS =
  "a\u001b[31;1mred\u001b[0m\r\n\u001b[2J\u001b[5;6H\u001b(0lqk\u001b(B\u001b[?1049h\u001b[?25l\u001b[3 q\u001b7\u001b8\u001bc\u001b]8;;http://x\u0007l\u001b]8;;\u0007é漢";
const LOUD = [
  "\u001b[c",
  "\u001b[>c",
  "\u001b[6n",
  "\u001b[?996n",
  "\u001b[?2026$p",
  "\u001b[>q",
  "\u001b[18t",
  "\u001b[?u",
  "\u001b[>1u",
  "\u001b[>4;2m",
  "\u001b[x",
  "\u001b[?1003h",
  "\u001b[?25;2004h",
  "\u001b]52;c;aGk=\u0007",
  "\u001b]11;?\u001b\\",
  "\u001b]0;title\u0007",
  "\u001bP$qm\u001b\\",
  "\u001bP+q544e\u001b\\",
  "\u001b_Gi=31,a=q;AAAA\u001b\\",
  "\u0005",
];

test("what draws passes, what a terminal would answer or act on does not, however it is cut", () => {
  expect(quietOutput()(LOUD.map((loud) => DRAWS + loud).join(""))).toBe(DRAWS.repeat(LOUD.length));
  for (const loud of LOUD) {
    for (let cut = 0; cut <= loud.length; cut += 1) {
      const quiet = quietOutput();
      expect({ loud, cut, out: quiet(`x${loud.slice(0, cut)}`) + quiet(`${loud.slice(cut)}y`) }).toEqual({
        loud,
        cut,
        out: "xy",
      });
    }
  }
  const byOne = quietOutput();
  expect(Array.from(DRAWS, (char) => byOne(char)).join("")).toBe(DRAWS);
});

test("a C1 control begins no sequence, and what never ends is let go", () => {
  expect(quietOutput()("a\u009b6nb")).toBe("a6nb");
  const quiet = quietOutput();
  expect(quiet(`a\u001b]52;c;${"A".repeat(70_000)}`)).toBe("a");
  expect(quiet("b")).toBe("b");
});
