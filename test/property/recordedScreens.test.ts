/** Whatever a program shows: a recorded screen is read back as it was, and stays within its own section. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type RecordedScreen,
  readRecordedScreens,
  writeRecordedScreen,
} from "../../daemon/readiness/recordedScreens.ts";
import { READINESS_STATE_NAMES } from "../../protocol/api/native/nativeReadiness.ts";

/** What means something in the file, beside text of any kind. */
const piece = fc.oneof(
  fc.constantFrom(
    "`",
    "```",
    "````",
    "## ",
    "state: idle",
    "\u001b",
    "␛",
    "␐",
    "\u001b[7m  \u001b[0m",
    " ",
    "\r",
    "\t",
  ),
  fc.string({ unit: "binary", maxLength: 8 }).map((text) => text.replaceAll("\n", "")),
);
const row = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
const word = fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ""));
const count = fc.nat({ max: 999 });
const screen: fc.Arbitrary<RecordedScreen> = fc
  .record({
    name: word,
    state: fc.constantFrom(...READINESS_STATE_NAMES),
    title: fc.oneof(word, fc.constantFrom("## a", "```", "state: idle", "a: b")),
    command: word,
    cursor: fc.record({ row: count, col: count }),
    cols: count,
    rows: count,
    lines: fc
      .array(row, { maxLength: 8 })
      // A capture has no blank rows at its end.
      .map((lines) => lines.slice(0, lines.findLastIndex((line) => line !== "") + 1)),
  })
  .map((fields) => ({ ...fields, judged: fields.state, labels: [], question: [] }));

test("every screen that is written is read back the same, among any others", () => {
  fc.assert(
    fc.property(fc.array(screen, { maxLength: 4 }), (screens) => {
      const file = Buffer.from(screens.map(writeRecordedScreen).join("")).toString();
      expect(readRecordedScreens(file)).toEqual(screens);
    }),
    { numRuns: 2_000 },
  );
});

test.each(["```", "````", "## asks", "␛[1m", "␐␛", "\u001b[44m   ", "\u001b[44m   \u001b[0m"])(
  "a row %j does not end or change the screen",
  (line) => {
    const lines = ["before", line, "after"];
    const one: RecordedScreen = {
      name: "n",
      state: "busy",
      judged: "busy",
      title: "",
      command: "",
      cursor: { row: 0, col: 0 },
      cols: 80,
      rows: 24,
      labels: [],
      question: [],
      lines,
    };
    expect(readRecordedScreens(`${writeRecordedScreen(one)}${writeRecordedScreen(one)}`)).toEqual([one, one]);
  },
);

test("a file that was recorded before, or written by hand, is read: fences of three, ESC as ␛, words around sections", () => {
  const file =
    "By hand.\n\n## a\nstate: asking\njudged: unknown\noptions: Yes | No\nquestion: rm x | Sure?\ncursor: 1,2\nsize: 9x3\n```\n␛[1mx\n\n```\nnote\n";
  expect(readRecordedScreens(file)).toEqual([
    {
      name: "a",
      state: "asking",
      judged: "unknown",
      title: "",
      command: "",
      cursor: { row: 1, col: 2 },
      cols: 9,
      rows: 3,
      labels: ["Yes", "No"],
      question: ["rm x", "Sure?"],
      lines: ["\u001b[1mx"],
    },
  ]);
});
