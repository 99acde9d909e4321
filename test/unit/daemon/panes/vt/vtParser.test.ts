/** What each sequence is to its handlers, wherever the stream is cut; and how much of one is kept. */
import { describe, expect, test } from "vitest";
import { VtParser } from "../../../../../daemon/panes/vt/vtParser.ts";

/** What the handlers hear of output that comes in these pieces, and the text between sequences. */
function heard(pieces: readonly Uint8Array[]): { readonly events: readonly string[]; readonly parser: VtParser } {
  const events: string[] = [];
  const parser = new VtParser({
    leaveRow: (at) => events.push(`row ${at}`),
    mode: (mode, on, end) => events.push(`mode ${mode} ${on ? "on" : "off"} ${end}`),
    csi: (parameters, final, begin, end) =>
      events.push(`csi ${parameters}${String.fromCharCode(final)} ${begin}-${end}`),
    escape: (intermediate, final, begin, end) =>
      events.push(
        `esc ${intermediate === 0 ? "" : String.fromCharCode(intermediate)}${String.fromCharCode(final)} ${begin}-${end}`,
      ),
    osc: (payload, begin, end) => events.push(`osc ${Buffer.from(payload).toString("latin1")} ${begin}-${end}`),
    control: (byte, at) => events.push(`control ${byte} ${at}`),
  });
  let source = 0;
  let text = "";
  for (const bytes of pieces) {
    for (let at = 0; at < bytes.length;) {
      if (parser.isInside) at = parser.skip(bytes, at, source);
      else {
        if (bytes[at] === 0x1b) parser.begin(source + at);
        else text += String.fromCharCode(bytes[at]!);
        at += 1;
      }
    }
    source += bytes.length;
  }
  if (text !== "") events.push(`text ${text}`);
  return { events, parser };
}

describe("a sequence", () => {
  test.each<[string, readonly string[]]>([
    ["\u001b[1;31mx", ["csi 1;31m 0-7", "text x"]],
    ["\u001b[?25h", ["mode 25 on 6", "csi ?25h 0-6"]],
    ["\u001b[?1;2004l", ["mode 1 off 10", "mode 2004 off 10", "csi ?1;2004l 0-10"]],
    ["\u001b[25h", ["csi 25h 0-5"]],
    ["\u001b[?25n", ["csi ?25n 0-6"]],
    ["\u001b[4:3m", ["csi 4:3m 0-6"]],
    ["\u001b[A\u001b[B\u001b[C", ["row 3", "csi A 0-3", "row 6", "csi B 3-6", "csi C 6-9"]],
    [
      "\u001b[J\u001b[1J\u001b[2J\u001b[3J",
      ["csi J 0-3", "csi 1J 3-7", "row 11", "csi 2J 7-11", "row 15", "csi 3J 11-15"],
    ],
    ["\u001b[?1049h", ["mode 1049 on 8", "row 8", "csi ?1049h 0-8"]],
    ["\u001b[?47l", ["mode 47 off 6", "row 6", "csi ?47l 0-6"]],
    ["\u001b[?1047h", ["mode 1047 on 8", "row 8", "csi ?1047h 0-8"]],
    ["\u001b[1049h", ["csi 1049h 0-7"]],
    ["\u001b[ q", ["csi  q 0-4"]],
    [
      "\u001bD\u001bE\u001bM\u001bc",
      ["row 2", "esc D 0-2", "row 4", "esc E 2-4", "row 6", "esc M 4-6", "row 8", "esc c 6-8"],
    ],
    ["\u001b7\u001b=", ["esc 7 0-2", "esc = 2-4"]],
    ["\u001b(B\u001b#8", ["esc (B 0-3", "esc #8 3-6"]],
    ["\u001b(D\u001b(0", ["esc (D 0-3", "esc (0 3-6"]],
    ["\u001b[4@x", ["csi 4@ 0-4", "text x"]],
    ["\u001b]0;a\u0007\u001b[1\u001b[2m", ["osc 0;a 0-6", "csi 2m 9-13"]],
    ["\u001bPa\\b\u001b\\y", ["text y"]],
    ["\u001b]0;a\u0007b", ["osc 0;a 0-6", "text b"]],
    // The ESC of its end begins the next escape.
    ["\u001b]0;a\u001b\\b", ["osc 0;a 0-5", "esc \\ 5-7", "text b"]],
    ["\u001b]0;a\u001b[mb", ["osc 0;a 0-5", "csi m 5-8", "text b"]],
    ["\u001b]0;é\u0007", [`osc 0;${Buffer.from("é").toString("latin1")} 0-7`]],
    ["\u001b_x\u0007y", ["text y"]],
    ["\u001bktitle\u0007y", ["text y"]],
    ["\u001bPx\u0007\u001b[mz\u001b\u001b\\y", ["text y"]],
    ["\u001bXx\u001b\\y", ["text y"]],
    ["\u001b^x\u001b\\y", ["text y"]],
    ["\u001b[1\n2m", ["row 3", "control 10 3", "csi 12m 0-6"]],
    ["\u001b[1\r2\tm", ["row 3", "control 13 3", "control 9 5", "csi 12m 0-7"]],
    ["\u001b[1\u000e2m", ["control 14 3", "csi 12m 0-6"]],
    ["\u001b\u0007c", ["control 7 1", "row 3", "esc c 0-3"]],
    ["\u001b[1\u0018m", ["text m"]],
    ["\u001b]0;a\u001ab", ["text b"]],
    ["\u001bPq\u0018b", ["text b"]],
    ["\u001b[1\u001b[2m", ["csi 2m 3-7"]],
    ["\u001b[1\u007fm", ["text m"]],
    ["\u001b\u001b7", ["esc 7 1-3"]],
  ])("%j", (text, expected) => {
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(heard([bytes.subarray(0, cut), bytes.subarray(cut)]).events).toEqual(expected);
    }
  });

  test("that meets a byte of a longer character ends before it", () => {
    expect(heard([Buffer.from([0x1b, 0x5b, 0x31, 0xc3, 0xa9])]).events).toEqual(["text \u00c3\u00a9"]);
  });

  test("of bracketed paste is remembered with where it ended", () => {
    const { parser } = heard([Buffer.from("ab\u001b[?2004h\u001b[?25l\u001b[2004l")]);
    expect([parser.bracketedPaste, parser.bracketedPasteAt]).toEqual([true, 10]);
    expect(heard([Buffer.from("\u001b[?1;2004;7l")]).parser.bracketedPaste).toBe(false);
    expect(heard([Buffer.from("\u001b[?2004n")]).parser.bracketedPaste).toBeUndefined();
    // tmux 3.3a: a reset switches it off; where it was not on, nothing is known of it.
    const reset = heard([Buffer.from("\u001b[?2004h\u001b7\u001bc\u001b7")]);
    expect([reset.parser.bracketedPaste, reset.parser.bracketedPasteAt]).toEqual([false, 12]);
    expect(reset.events.slice(2, 6)).toEqual(["esc 7 8-10", "row 12", "mode 2004 off 12", "esc c 10-12"]);
    expect(heard([Buffer.from("\u001bc")]).parser.bracketedPaste).toBeUndefined();
  });

  test("is read for nobody as well", () => {
    const parser = new VtParser({});
    const bytes = Buffer.from("\u001b]0;a\u0007\u001b[1\nm\u001b[?2004h\u001b[2J\u001bc\u001b(B\u001b_a\u001b\\");
    for (let at = 0; at < bytes.length; at = parser.skip(bytes, at + 1, 0)) parser.begin(at);
    expect([parser.isInside, parser.bracketedPaste, parser.bracketedPasteAt]).toEqual([false, false, 25]);
  });

  test("that is forgotten is text from then on", () => {
    const { parser } = heard([Buffer.from("\u001b]0;a")]);
    expect(parser.isInside).toBe(true);
    parser.reset();
    expect(parser.isInside).toBe(false);
  });
});

describe("no more is kept", () => {
  const of = (text: string): readonly string[] => heard([Buffer.from(text)]).events;

  test("of an OSC than its first 256 bytes", () => {
    expect(of(`\u001b]0;${"x".repeat(400)}\u0007`)).toEqual([`osc 0;${"x".repeat(254)} 0-405`]);
  });

  test("of a CSI than 256 bytes of parameters and 24 modes, and no number beyond a million", () => {
    expect(of(`\u001b[${"1".repeat(400)}m`)).toEqual([`csi ${"1".repeat(256)}m 0-403`]);
    const modes = of(`\u001b[?${Array.from({ length: 30 }, (_, n) => n + 1).join(";")}h`).filter((one) =>
      one.startsWith("mode"),
    );
    expect([modes.length, modes.at(-1)?.split(" ")[1]]).toEqual([24, "24"]);
    expect(of(`\u001b[?${"9".repeat(40)}h`)[0]).toBe("mode 1000000 on 44");
  });

  test.each(["]", "P", "_"])("of a string that never ends (%s) than a megabyte: then its bytes are text", (kind) => {
    const text = of(`\u001b${kind}${"x".repeat(1_048_580)}`).at(-1)!;
    expect(text).toBe("text xxx");
  });
});
