/** Whatever a pane prints, and however it is cut: a terminal gets nothing but text and the listed sequences. */
import xterm from "@xterm/headless";
import fc from "fast-check";
import { expect, test } from "vitest";
import { QuietOutput, TERMINAL_AT_REST } from "../../adapters/cli/quietOutput.ts";
import { fuzz, FUZZ_TIMEOUT_MS } from "../support/tmux/fuzz.ts";
import { cutAt, cuts } from "../unit/protocol/text/cuts.ts";

/** docs/security.md, "What passes", as a grammar of its own. */
const LISTED = new RegExp(
  [
    String.raw`[^\u0000-\u001f\u007f-\u009f]`,
    String.raw`[\u0007-\u000f]`,
    String.raw`\u001b\[\d{0,4}[@A-GIJKLMPSTXZ\x60abdeg]`,
    String.raw`\u001b\[(?:\d{0,4}(?:;\d{0,4})?)[Hfr]`,
    String.raw`\u001b\[[su]`,
    String.raw`\u001b\[(?:\d{0,4}[:;])*\d{0,4}m`,
    String.raw`\u001b\[\?(?:0*(?:5|6|7|12|25|47|1047|1048|1049))(?:;(?:5|6|7|12|25|47|1047|1048|1049))*[hl]`,
    String.raw`\u001b\[4[hl]`,
    String.raw`\u001b\[[0-6]? q`,
    String.raw`\u001b\[!p`,
    String.raw`\u001b(?:[78DEHMc]|[()][B0]|#8)`,
    String.raw`\u001b\]8;(?:[!-:<-~]*;https?:\/\/[!-~]+|;)\u001b\\`,
  ].join("|"),
  "uy",
);

/** The first place that is not on the list; undefined when all of it is. */
function unlisted(text: string): string | undefined {
  for (LISTED.lastIndex = 0; LISTED.lastIndex < text.length;) {
    const at = LISTED.lastIndex;
    if (!LISTED.test(text)) return text.slice(at, at + 20);
  }
  return undefined;
}

/** Sequences of every kind, with control characters, DEL and bytes above ASCII at any place in them. */
const stray = fc.oneof(
  { weight: 6, arbitrary: fc.constant("") },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 0x1f }).map((code) => String.fromCharCode(code)) },
  { weight: 1, arbitrary: fc.constantFrom("\u007f", "\u0080", "\u0090", "\u009b", "\u009c", "\u009d", "\u00e9", "漢") },
);
const mixed = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  text.chain((plain) =>
    fc
      .array(stray, { minLength: plain.length, maxLength: plain.length })
      .map((strays) => Array.from(plain, (character, at) => character + (strays[at] ?? "")).join("")),
  );
const byte = (from: string, to: string): fc.Arbitrary<string> =>
  fc.integer({ min: from.charCodeAt(0), max: to.charCodeAt(0) }).map((code) => String.fromCharCode(code));
const parameter = fc.oneof(
  fc.constantFrom("0", "1", "2", "5", "6", "18", "25", "1000", "1003", "1006", "1049", "2004", "99999999999", ""),
  fc.nat({ max: 3_000 }).map(String),
);
const csi = fc
  .tuple(
    fc.constantFrom("", "", "", "?", ">", "=", "<"),
    fc.array(parameter, { maxLength: 4 }).map((all) => all.join(";")),
    fc.constantFrom("", "", "", " ", "!", "$", "*", '"', "'"),
    byte("@", "~"),
  )
  .map((parts) => `\u001b[${parts.join("")}`);
const escape = fc
  .tuple(fc.constantFrom("", "", "(", ")", "#", "%", " ", "*"), byte("0", "~"))
  .map((parts) => `\u001b${parts.join("")}`);
const string = fc
  .tuple(
    fc.constantFrom("]0;", "]2;", "]52;c;", "]8;;", "]8;id=a;http://", "]11;?", "P$q", "P+q", "_G", "^", "X", "k"),
    fc.string({ maxLength: 12 }),
    fc.constantFrom("\u0007", "\u001b\\", "\u009c", ""),
  )
  .map((parts) => `\u001b${parts.join("")}`);
const printed = fc
  .array(fc.oneof(mixed(csi), mixed(escape), mixed(string), fc.string({ unit: "binary", maxLength: 6 })), {
    maxLength: 10,
  })
  .map((pieces) => Buffer.from(pieces.join("")));
const anything = fc.oneof(
  { weight: 5, arbitrary: printed },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
);

const passed = (pieces: readonly Uint8Array[]): Buffer => {
  const quiet = new QuietOutput();
  return Buffer.concat(pieces.map((piece) => quiet.pass(piece)));
};

test(
  "what passes is on the list, the same however it is cut, and passes again as it is",
  () => {
    expect(unlisted(TERMINAL_AT_REST)).toBeUndefined();
    expect(unlisted("\u001b[6n")).toBe("\u001b[6n");
    fc.assert(
      fc.property(anything, cuts, (bytes, places) => {
        const whole = passed([bytes]);
        expect(unlisted(whole.toString())).toBeUndefined();
        expect(passed(cutAt(bytes, places)).toString()).toBe(whole.toString());
        expect(passed([whole]).toString()).toBe(whole.toString());
      }),
      fuzz(5_000),
    );
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "a terminal that gets it in any pieces answers nothing, takes no title and reports no mouse, focus or paste",
  async () => {
    const terminal = new xterm.Terminal({ allowProposedApi: true, cols: 20, rows: 4 });
    const heard: string[] = [];
    terminal.onData((data) => heard.push(data));
    terminal.onBinary((data) => heard.push(data));
    terminal.onTitleChange((title) => heard.push(title));
    const write = (data: Uint8Array | string): Promise<void> =>
      new Promise((resolve) => {
        terminal.write(data, resolve);
      });
    await write("\u001b[6n");
    expect(heard.splice(0)).toEqual(["\u001b[1;1R"]);
    await fc.assert(
      fc.asyncProperty(printed, cuts, cuts, async (bytes, places, others) => {
        const quiet = passed(cutAt(bytes, places));
        // In order, each by itself; the last one's turn comes when all have been read.
        for (const piece of cutAt(quiet, others)) terminal.write(piece);
        await write("");
        expect(heard).toEqual([]);
        expect(terminal.modes).toMatchObject({
          applicationCursorKeysMode: false,
          applicationKeypadMode: false,
          bracketedPasteMode: false,
          mouseTrackingMode: "none",
          sendFocusMode: false,
        });
      }),
      fuzz(1_000),
    );
    terminal.dispose();
  },
  FUZZ_TIMEOUT_MS,
);
