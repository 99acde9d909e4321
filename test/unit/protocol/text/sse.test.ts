/** Server-sent events from bytes in pieces. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SseParser } from "../../../../protocol/text/sse.ts";
import { fuzz } from "../../../support/tmux/fuzz.ts";

const TEXT = `: heartbeat

id: 7
event: card_refresh
data: {"name":"é 🌊"}

event: gap
data: {}

data: first
data: second

id: 8
event: cut
data: off`;

describe("the parser", () => {
  test("hands out the same events however the bytes are cut, and none that was cut off", () => {
    const bytes = new TextEncoder().encode(TEXT);
    const expected = [
      { event: "card_refresh", data: '{"name":"é 🌊"}', id: "7" },
      { event: "gap", data: "{}", id: "" },
      { event: "message", data: "first\nsecond", id: "" },
    ];
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }), (cuts) => {
        const parser = new SseParser();
        const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
        const events = places.slice(1).flatMap((end, at) => parser.push(bytes.subarray(places[at], end)));
        expect(events).toEqual(expected);
      }),
      fuzz(200),
    );
  });

  test("refuses an event without an end", () => {
    const parser = new SseParser({ maxEventChars: 8_388_608 });
    const megabyte = new TextEncoder().encode(`data: ${"a".repeat(1_048_576)}`);
    expect(() => {
      for (let count = 0; count < 10; count++) parser.push(megabyte);
    }).toThrow("is too long");
  });
});
