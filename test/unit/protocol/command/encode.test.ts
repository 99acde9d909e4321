import { describe, expect, test } from "vitest";
import { isQuotable, quote, quoteLiteralFormat } from "../../../../protocol/command/encode.ts";

describe("quote", () => {
  test.each([
    ["", '""'],
    ["plain text-1.0_x", '"plain text-1.0_x"'],
    ['a"b', '"a\\042b"'],
    ["a\\b", '"a\\134b"'],
    ["a\nb\r\t", '"a\\012b\\015\\011"'],
    ["it's", '"it\\047s"'],
    ["a;b", '"a\\073b"'],
    ["$HOME ~ #{pid}", '"\\044HOME \\176 \\043{pid}"'],
    ["`id`", '"\\140id\\140"'],
    ["-t", '"-t"'],
    ["{}%&()*+,/:<=>?@[]^_|!", '"{}%&()*+,/:<=>?@[]^_|!"'],
    ["é", '"\\303\\251"'],
    ["🙂", '"\\360\\237\\231\\202"'],
    ["\u007f", '"\\177"'],
  ])("%j is %s", (argument, quoted) => {
    expect(quote(argument)).toBe(quoted);
    expect(quote(Buffer.from(argument))).toBe(quoted);
  });

  test("bytes that are no UTF-8 go as they are", () => {
    expect(quote(Uint8Array.of(0x80, 0xfe, 0xc3))).toBe('"\\200\\376\\303"');
  });

  test.each([[[0]], [[255]], [[65, 0, 66]], [[65, 255]]])("bytes %j are refused", (bytes) => {
    expect(isQuotable(Uint8Array.from(bytes))).toBe(false);
    expect(() => quote(Uint8Array.from(bytes))).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
  });

  test("a lone surrogate becomes the replacement character, as in any UTF-8", () => {
    expect(quote("\ud800")).toBe('"\\357\\277\\275"');
  });
});

test.each([
  ["a#{b}##(c)#", "a##{b}####(c)##"],
  ["#[fg=red]", "#[fg=red]"],
  ["##[#(x)###[##", "##[##(x)###[####"],
])("the format that prints %s is %s", (text, format) => {
  expect(quoteLiteralFormat(text)).toBe(quote(format));
});
