/** Unescaping: the inverse of tmux's escaping, and total on everything else. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeOctal } from "../../protocol/control/octal.ts";
import { encodeOctal } from "../../bench/encodeOctal.ts";
import { fuzz, FUZZ_TIMEOUT_MS } from "../support/tmux/fuzz.ts";

function decode(bytes: Uint8Array): Uint8Array {
  const target = new Uint8Array(bytes.length);
  return target.subarray(0, decodeOctal(bytes, 0, bytes.length, target, 0));
}

/** The same by regular expression. */
const reference = (bytes: Uint8Array): Uint8Array =>
  Buffer.from(
    Buffer.from(bytes)
      .toString("latin1")
      .replaceAll(/\\([0-3][0-7]{2})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 8))),
    "latin1",
  );

const anyBytes = fc.uint8Array({ maxLength: 300 });
/** Much of what an escape is made of, and runs long enough to be copied in bulk. */
const nearEscapes = fc
  .array(
    fc.oneof(
      fc.constantFrom("\\", "\\1", "\\13", "\\134", "\\377", "\\400", "\\08", "8", "\\\\", "7", "/", ":"),
      fc.integer({ min: 1, max: 70 }).map((length) => "x".repeat(length)),
    ),
    { maxLength: 20 },
  )
  .map((parts) => new Uint8Array(Buffer.from(parts.join(""))));

test(
  "decode(encode(x)) = x, and what is encoded is one line",
  () => {
    fc.assert(
      fc.property(fc.oneof(anyBytes, nearEscapes), (bytes) => {
        const wire = encodeOctal(bytes);
        expect(Math.min(32, ...wire)).toBe(32);
        expect(decode(wire)).toEqual(bytes);
      }),
      fuzz(1_000),
    );
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "any bytes: never throws, never grows, equals the reference",
  () => {
    fc.assert(
      fc.property(fc.oneof(anyBytes, nearEscapes), (bytes) => {
        const decoded = decode(bytes);
        expect(decoded.length).toBeLessThanOrEqual(bytes.length);
        expect(Buffer.compare(decoded, reference(bytes))).toBe(0);
      }),
      fuzz(1_000),
    );
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "only the window is read and only its place is written",
  () => {
    fc.assert(
      fc.property(nearEscapes, nearEscapes, nearEscapes, fc.nat(20), (before, bytes, after, at) => {
        const source = Buffer.concat([before, bytes, after]);
        const target = new Uint8Array(at + bytes.length + 5).fill(0xee);
        const end = decodeOctal(source, before.length, before.length + bytes.length, target, at);
        expect(Buffer.compare(target.subarray(at, end), reference(bytes))).toBe(0);
        expect(target.subarray(0, at).every((byte) => byte === 0xee)).toBe(true);
        expect(target.subarray(at + bytes.length).every((byte) => byte === 0xee)).toBe(true);
      }),
      fuzz(1_000),
    );
  },
  FUZZ_TIMEOUT_MS,
);
