import { describe, expect, test } from "vitest";
import { decodeOctal } from "../../../../protocol/control/octal.ts";
import { encodeOctal } from "../../../../bench/encodeOctal.ts";

function decode(text: string): string {
  const source = Buffer.from(text, "latin1");
  const target = new Uint8Array(source.length);
  return Buffer.from(target.subarray(0, decodeOctal(source, 0, source.length, target, 0))).toString("latin1");
}

describe("decodeOctal", () => {
  test.each([
    ["", ""],
    ["plain", "plain"],
    ["\\000", "\0"],
    ["\\033[1m\\015\\012", "\u001b[1m\r\n"],
    ["\\134", "\\"],
    ["\\134134", "\\134"],
    ["\\377", "\u00ff"],
    ["\\400", "\\400"],
    ["\\08x", "\\08x"],
    ["\\01", "\\01"],
    ["\\0", "\\0"],
    ["\\", "\\"],
    ["\\\\012", "\\\n"],
    ["\\18\\101", "\\18A"],
    ["\\180\\1/0\\/00\\:00", "\\180\\1/0\\/00\\:00"],
    ["\u007f\u0080\u00ff", "\u007f\u0080\u00ff"],
  ])("%j is %j", (wire, bytes) => {
    expect(decode(wire)).toBe(bytes);
  });

  test.each([31, 32, 33, 64, 1_000])("a run of %d plain bytes before and after an escape", (length) => {
    const run = "r".repeat(length);
    expect(decode(`${run}\\101${run}`)).toBe(`${run}A${run}`);
    expect(decode(`\\101${run}\\`)).toBe(`A${run}\\`);
  });

  test("reads only its window, writes only at its place, returns the end", () => {
    const source = Buffer.from("##\\101b\\10102");
    const target = new Uint8Array(8).fill(1);
    expect(decodeOctal(source, 2, 10, target, 3)).toBe(8);
    expect([...target]).toEqual([1, 1, 1, 65, 98, 92, 49, 48]);
  });
});

describe("encodeOctal", () => {
  test("escapes what tmux escapes: below 0x20 and the backslash", () => {
    const all = Uint8Array.from({ length: 256 }, (_unused, byte) => byte);
    const wire = Buffer.from(encodeOctal(all)).toString("latin1");
    expect(wire.startsWith("\\000\\001\\002\\003\\004\\005\\006\\007\\010\\011\\012")).toBe(true);
    expect(wire).toContain('\\037 !"#');
    expect(wire).toContain("[\\134]");
    expect(wire.slice(-129)).toBe(Buffer.from(all.subarray(0x7f)).toString("latin1"));
    expect(wire).toHaveLength(256 + 33 * 3);
    expect(decode(wire)).toBe(Buffer.from(all).toString("latin1"));
  });
});
