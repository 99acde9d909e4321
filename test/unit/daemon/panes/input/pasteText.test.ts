/** What is no paste is refused before anything is typed, however it is cut up. */
import { expect, test } from "vitest";
import { planInput } from "../../../../../daemon/panes/input/inputPlan.ts";
import type { InputPart } from "../../../../../daemon/tmux/io.ts";
import type { PaneId } from "../../../../../protocol/ids.ts";

const text = (words: string): InputPart => ({ kind: "text", bytes: Buffer.from(words) });
const paste = (words: string | Uint8Array): InputPart => ({ kind: "paste", bytes: Buffer.from(words) });
const plan = (...parts: InputPart[]): readonly (readonly string[])[] => [
  ...planInput("%7" as PaneId, parts, { condition: undefined, bufferName: () => "b", pasteNeedsRaw: () => false })
    .groups,
];

test.each([
  ["the end of a paste", "a\u001b[201~rm -rf x\r"],
  ["the same in one character", "a\u009b201~b"],
  ["the same in 8 bits", Buffer.from("a\u009b201~b", "latin1")],
  ["the same after what is no UTF-8", Buffer.from([0xe9, 0x9b, 0x32, 0x30, 0x31, 0x7e])],
  ["a key", "a\u0003"],
  ["NUL, which no buffer carries", "a\0b"],
  ["0xFF, which no buffer carries", Uint8Array.of(65, 255, 66)],
  ["an escape at the end, of which the mark after it would become another sequence", "a\u001b"],
])("a paste with %s is refused", (_what, words) => {
  for (const parts of [[paste(words)], [text("before"), paste("fine"), paste(words)]]) {
    expect(() => plan(...parts)).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }) as Error);
  }
});

test("no way of cutting the end of a paste into parts gets it through", () => {
  for (const mark of [Buffer.from("\u001b[201~"), Buffer.from("\u009b201~"), Buffer.from("\u009b201~", "latin1")]) {
    for (let cut = 1; cut < mark.length; cut += 1) {
      expect(() => plan(paste(mark.subarray(0, cut)), paste(mark.subarray(cut)))).toThrow("control characters");
    }
  }
});

test("text of other encodings, line ends and tabs are no keys", () => {
  const latin1 = Buffer.from("für\tgr\xf6\xdfer\r\n", "latin1");
  expect(plan(paste(latin1), paste("é 漢\t\r\n"))).toHaveLength(1);
});
