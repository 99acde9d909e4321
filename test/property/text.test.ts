import fc from "fast-check";
import { expect, test } from "vitest";
import { AnsiStripper, stripRoom } from "../../daemon/panes/vt/ansi.ts";
import { stripAnsi } from "../support/tmux/stripAnsi.ts";
import { cutAt, cuts, output } from "../unit/protocol/text/cuts.ts";

/** A byte order mark is text like any other. */
const decodeUtf8 = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

/** Strips chunk by chunk; the marks say for each byte of text where its character begins in the source. */
function stripInChunks(chunks: readonly Uint8Array[]): { text: Buffer; marks: [number, number][] } {
  const total = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const out = Buffer.alloc(stripRoom(total) + 8 * chunks.length);
  const stripper = new AnsiStripper();
  const marks: [number, number][] = [];
  let end = 0;
  let source = 0;
  for (const chunk of chunks) {
    end = stripper.strip(chunk, out, end, source, { mark: (at, from) => marks.push([at, from]) });
    source += chunk.length;
  }
  return { text: out.subarray(0, end), marks };
}

test("stripping under any chunking equals stripping all at once", () => {
  fc.assert(
    fc.property(fc.oneof(output, fc.uint8Array({ maxLength: 60 })), cuts, (bytes, places) => {
      const { text } = stripInChunks(cutAt(bytes, places));
      expect(text).toEqual(Buffer.from(stripAnsi(bytes)));
    }),
    { numRuns: 2_000 },
  );
});

test("the text is valid UTF-8 without control characters, whatever the bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const text = stripAnsi(bytes);
      expect(Buffer.from(decodeUtf8(text))).toEqual(Buffer.from(text));
      for (const byte of text) expect(byte === 9 || byte === 10 || (byte >= 0x20 && byte !== 0x7f)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test("bytes that are no control become what the WHATWG decoder makes of them", () => {
  const byte = fc.oneof(
    fc.integer({ min: 0x80, max: 0xff }),
    fc.constantFrom(0x41, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80),
  );
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 30 }), cuts, (values, places) => {
      const bytes = Uint8Array.from([...values, 0x2e]);
      expect(stripInChunks(cutAt(bytes, places)).text.toString("utf8")).toBe(decodeUtf8(bytes));
    }),
    { numRuns: 2_000 },
  );
});

test("marks lead from every character of the text back to its bytes", () => {
  fc.assert(
    fc.property(output, cuts, (bytes, places) => {
      const { text, marks } = stripInChunks(cutAt(bytes, places));
      for (let at = 0; at < text.length; at++) {
        const value = text[at] ?? 0;
        if (value === 0x0a || (value & 0xc0) === 0x80) continue;
        const mark = marks.findLast(([from]) => from <= at) ?? [0, 0];
        expect(bytes[mark[1] + at - mark[0]]).toBe(value);
      }
    }),
    { numRuns: 1_000 },
  );
});
