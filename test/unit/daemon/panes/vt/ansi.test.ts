import { expect, test } from "vitest";
import { AnsiStripper, stripRoom } from "../../../../../daemon/panes/vt/ansi.ts";
import { stripAnsi } from "../../../../support/tmux/stripAnsi.ts";

const strip = (text: string): string => Buffer.from(stripAnsi(Buffer.from(text, "utf8"))).toString("utf8");

test.each([
  ["colours", "\x1b[1;31mred\x1b[0m", "red"],
  ["CR LF", "a\r\nb\r\r\nc\n", "a\nb\nc\n"],
  ["a line written over", "10%\r20%\r\n", "10%\n20%\n"],
  ["CR at a line's start adds no empty line", "\r\x1b[Kuser$ ", "user$ "],
  ["titles by OSC, ST, BEL and screen's own", "\x1b]0;t\x07a\x1b]2;t\x1b\\b\x1bkt\x1b\\c", "abc"],
  ["any ESC ends an OSC, as in tmux", "\x1b]0;title\x1b[31mx", "x"],
  ["DCS ends at ST only", "\x1bPq\x1b[31m DONE\x1b\\x", "x"],
  ["CAN ends a sequence", "\x1b[31\x18x", "x"],
  ["character sets", "\x1b(0x\x1b(B", "x"],
  ["text of two rows stays apart", "left\x1b[5;1Hright", "left\nright"],
  ["text from before a clear stays apart", "DO\x1b[2JNE", "DO\nNE"],
  ["erasing the rest of a line does not end it", "DO\x1b[KNE", "DONE"],
  ["the alternate screen is another row", "a\x1b[?1049hb", "a\nb"],
  ["controls", "a\x07b\x08c\x00d\x7fe\tf", "abcde\tf"],
  ["an 8-bit C1 byte in UTF-8 is no control", "\u009b31mx", "\u009b31mx"],
  ["a character after a broken sequence", "\x1b[3\u00e9", "\u00e9"],
])("%s", (_what, output, expected) => {
  expect(strip(output)).toBe(expected);
});

test("bytes that are no UTF-8 become one U+FFFD each piece", () => {
  const bytes = Uint8Array.from([0x61, 0xff, 0xe2, 0x82, 0x62, 0xc0, 0x80, 0x0a]);
  expect(Buffer.from(stripAnsi(bytes)).toString("utf8")).toBe("a\ufffd\ufffdb\ufffd\ufffd\n");
});

test("it knows the last bracketed paste switch and where it was", () => {
  const stripper = new AnsiStripper();
  const feed = (text: string, source: number): unknown => {
    stripper.strip(Buffer.from(text), new Uint8Array(stripRoom(text.length)), 0, source);
    return [stripper.bracketedPaste, stripper.bracketedPasteAt];
  };
  expect(feed("plain \x1b[?25h", 0)).toEqual([undefined, -1]);
  expect(feed("\x1b[?20", 100)).toEqual([undefined, -1]);
  expect(feed("04h$ ", 105)).toEqual([true, 108]);
  expect(feed("\x1b[?1;2004l", 200)).toEqual([false, 210]);
});

test("an endless string does not silence the pane for ever", () => {
  expect(strip(`\x1b]0;${"x".repeat(1_048_575)}DONE`)).toBe("DONE");
});
