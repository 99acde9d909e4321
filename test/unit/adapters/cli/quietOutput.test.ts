/** What panes have printed on a person's terminal: what passes, and that a terminal shows the same and does nothing else. */
import { describe, expect, test } from "vitest";
import { QuietOutput, TERMINAL_AT_REST } from "../../../../adapters/cli/quietOutput.ts";

const DRAWS =
  "a\u001b[31;1mred\u001b[0m\r\n\u001b[2J\u001b[5;6H\u001b(0lqk\u001b(B\u001b[?1049h\u001b[?25l\u001b[3 q\u001b7\u001b8\u001bc\u001b]8;id=1;http://x/;y\u001b\\l\u001b]8;;\u001b\\é漢\u001b[4:3;58:2::1:2:3m\u001b[2;9r\u001b[s\u001b[u\u001b[!p\u001b#8\u000e\u000f\u0007";
const LOUD = [
  ..."c >c =c 6n 5n ?6n ?996n ?2026$p 4$p >q 18t 21t 8;9;9t ?u >1u =1u <u >4;2m ?4m x 1x ?1003h ?1000;1006h 5i ?5i"
    .split(" ")
    .map((csi) => `\u001b[${csi}`),
  ..."1;1;1;2;2;2*y 1$w 2$w 1;2$z 1;2'z 1;2'| ?1s ?9r 1;2s 1;2;3;4;5T ?1S 20h 2h ?1h ?3h ?66h ?69h ?2004h ?1004h ?2026h 1;2v"
    .split(" ")
    .map((csi) => `\u001b[${csi}`),
  "\u001b[?2004l",
  "\u001bZ",
  "\u001b=",
  "\u001b%@",
  "\u001b%G",
  "\u001b G",
  "\u001b*0",
  "\u001bn",
  "\u001bktitle\u001b\\",
  "\u001b]52;c;aGk=\u0007",
  "\u001b]52;c;aGk=\u001b\\",
  "\u001b]11;?\u001b\\",
  "\u001b]0;title\u0007",
  "\u001b]133;A\u0007",
  "\u001b]1337;File=x\u0007",
  "\u001bP$qm\u001b\\",
  "\u001bP+q544e\u001b\\",
  "\u001b_Gi=31,a=q;AAAA\u001b\\",
  "\u001bXx\u001b\\",
  "\u001b^x\u001b\\",
  "\u0005",
  "\u0000",
  "\u007f",
  "\u0085",
  "\u009b",
];

/** Written in these pieces. */
function passed(...pieces: readonly (string | Uint8Array)[]): string {
  const quiet = new QuietOutput();
  return pieces.map((piece) => quiet.pass(piece).toString()).join("");
}

test("what draws passes, what a terminal would answer or act on does not, however it is cut", () => {
  expect(passed(LOUD.map((loud) => DRAWS + loud).join(""))).toBe(DRAWS.repeat(LOUD.length));
  for (const loud of LOUD) {
    for (let cut = 0; cut <= loud.length; cut += 1) {
      expect({ loud, cut, out: passed(`x${loud.slice(0, cut)}`, `${loud.slice(cut)}y`) }).toEqual({
        loud,
        cut,
        out: "xy",
      });
    }
  }
  expect(passed(...Array.from(DRAWS))).toBe(DRAWS);
  expect(passed(...Array.from(Buffer.from(DRAWS), (byte) => Uint8Array.of(byte)))).toBe(DRAWS);
});

describe("a control character inside a sequence", () => {
  const CONTROLS = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code)).filter((c) => c !== "\u001b");

  test.each([...CONTROLS, "\u007f"])("%j lets nothing through that was not on the list", (control) => {
    const acts = "\u0007\b\t\n\u000b\f\r\u000e\u000f".includes(control) ? control : "";
    const ends = "\u0018\u001a\u007f".includes(control);
    for (const [before, after] of [
      ["[6", "n"],
      ["[", "6n"],
      ["", "[6n"],
      ["[>", "q"],
      ["[?1003", "h"],
      ["[5", "i"],
      ["", "Z"],
    ] as const)
      for (const pieces of [
        [`\u001b${before}${control}${after}.`],
        [`\u001b${before}`, `${control}${after}.`],
        [`\u001b${before}${control}`, `${after}.`],
      ])
        expect(passed(...pieces)).toBe(`${acts}${ends ? after : ""}.`);
  });

  test("behind the ESC of a string the string stays one", () => {
    for (const control of ["\b", "\u0000", "\r", "\u0007"]) {
      expect(passed(`\u001b${control}]52;c;aGk=\u0007.`).replace(control, "")).toBe(".");
      expect(passed(`\u001b${control}]0;title\u001b\\.`).replace(control, "")).toBe(".");
    }
  });

  test("one that acts comes before its sequence, as a terminal does it", () => {
    expect(passed("\u001b[1\b;31m")).toBe("\b\u001b[1;31m");
  });
});

test("a sequence is written anew: numbers in bounds, modes that may pass without the others", () => {
  expect(passed("\u001b[007;99999999999C")).toBe("");
  expect(passed("\u001b[099999999999C")).toBe("\u001b[9999C");
  expect(passed("\u001b[?25;2004;1049;1000h")).toBe("\u001b[?25;1049h");
  expect(passed(`\u001b[${"1;".repeat(300)}m.`)).toBe(".");
});

test("a link goes to the web, or ends the one before", () => {
  for (const url of ["file:///etc/passwd", "http://x\u00e9/", "javascript:1", `http://${"x".repeat(300)}`])
    expect(passed(`\u001b]8;;${url}\u0007text`)).toBe("\u001b]8;;\u001b\\text");
});

test("bytes that are no UTF-8 are no controls, and what never ends is let go", () => {
  expect(passed(Uint8Array.of(0x61, 0x9b, 0x36, 0x6e))).toBe("a\ufffd6n");
  expect(passed("a\u009b6nb")).toBe("a6nb");
  expect(passed(`a\u001b]52;c;${"A".repeat(1_100_000)}`).length).toBeLessThan(60_000);
});

test("after a hole nothing is left of what had begun", () => {
  const quiet = new QuietOutput();
  quiet.pass("\u001bPq");
  quiet.pass(Buffer.from("漢").subarray(0, 2));
  quiet.reset();
  expect(quiet.pass(Buffer.from("\u001bcx")).toString()).toBe("\u001bcx");
});

test("what leaves a terminal at rest passes itself", () => {
  expect(passed(TERMINAL_AT_REST)).toBe(TERMINAL_AT_REST);
});
