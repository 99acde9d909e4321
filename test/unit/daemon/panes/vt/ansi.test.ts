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
  ["VT and FF", "a\x0bb\x0cc", "a\nb\nc"],
  ["a character of several bytes before and after a CR", "\u00e9\r\u00e9\r\x1b[Kb", "\u00e9\n\u00e9\nb"],
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

/** Output in pieces from position 100 on, bytes as Latin-1; marks as `place in the text:place in the source`. */
test.each<[string[], string, string]>([
  [["ab\r\ncd\r\n"], "ab\ncd\n", "0:100 2:102 3:104 5:106 6:108"],
  [["a\r\r\nb"], "a\nb", "0:100 1:101 2:104"],
  [["a\x1b[H\x1b[Hb"], "a\nb", "0:100 1:104 2:107"],
  [["a\x1b[H\nb"], "a\nb", "0:100 1:104 2:105"],
  [["a\x07b\x1b[mc"], "abc", "0:100 1:102 2:106"],
  [["a", "b\r", "\nc"], "ab\nc", "0:100 2:102 3:104"],
  [["a\xc3", "\xa9b"], "a\xc3\xa9b", "0:100"],
  [["a\xffb"], "a\xef\xbf\xbdb", "0:100 1:101 4:102"],
  [["a\xff"], "a\xef\xbf\xbd", "0:100 1:101 4:102"],
  [["a\xe2", "\x1b["], "a\xef\xbf\xbd", "0:100 1:101 4:102"],
  [["a\r\xc3", "\xa9\rb"], "a\n\xc3\xa9\nb", "0:100 1:101 2:102 4:104 5:105"],
])("%j is in step with its source", (pieces, text, expected) => {
  const stripper = new AnsiStripper();
  const [out, marks] = [Buffer.alloc(200), [] as string[]];
  let [end, source] = [0, 100];
  for (const piece of pieces) {
    const mark = (at: number, from: number): void => void marks.push(`${at}:${from}`);
    end = stripper.strip(Buffer.from(piece, "latin1"), out, end, source, { mark });
    source += piece.length;
  }
  expect([out.toString("latin1", 0, end), marks.join(" ")]).toEqual([text, expected]);
});

test("a gap forgets what is unfinished, and it knows whether the cursor has left the line", () => {
  const stripper = new AnsiStripper();
  const feed = (output: string): unknown => {
    const out = Buffer.alloc(100);
    const end = stripper.strip(Buffer.from(output, "latin1"), out, 0);
    return [out.toString("latin1", 0, end), stripper.hasLeftLine];
  };
  expect(["a\r", "b", "\n", "c\x1b[H"].map(feed)).toEqual([
    ["a", true],
    ["\nb", false],
    ["\n", false],
    ["c", true],
  ]);
  for (const unfinished of ["x\r", "x\x1b[3", "x\xe2\x82"]) {
    feed(unfinished);
    stripper.reset();
    expect(feed("\x1b[H1m")).toEqual(["1m", false]);
  }
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
