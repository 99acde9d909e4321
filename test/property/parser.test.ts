/** The parser against a grammar that knows the answer, under any chunking; and against bytes that are nobody's. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitrarySoup, arbitraryStream, SOUP_SHAPES } from "../support/tmux/arbitraryWire.ts";
import { cutAt, outcomeOf, parseChunks } from "../support/tmux/controlTranscript.ts";
import { fuzz, FUZZ_TIMEOUT_MS } from "../support/tmux/fuzz.ts";

const cuts = fc.array(fc.nat(2_000), { maxLength: 30 });

test(
  "a stream means what its grammar says, however it is cut",
  () => {
    fc.assert(
      fc.property(arbitraryStream(8), cuts, ({ wire, shapes, events }, where) => {
        expect(parseChunks(cutAt(wire, where), shapes).events).toEqual(events);
      }),
      fuzz(600),
    );
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "a short stream means the same cut at every byte",
  () => {
    fc.assert(
      fc.property(arbitraryStream(2), ({ wire, shapes, events }) => {
        for (let cut = 0; cut <= wire.length; cut += 1) {
          expect(parseChunks(cutAt(wire, [cut]), shapes).events).toEqual(events);
        }
      }),
      fuzz(40),
    );
  },
  FUZZ_TIMEOUT_MS,
);

test(
  "any bytes: the same calls or the same AppError under any chunking, nothing held that was not pushed",
  () => {
    fc.assert(
      fc.property(fc.oneof(arbitrarySoup(40), fc.uint8Array({ maxLength: 200 })), cuts, (wire, where) => {
        const whole = outcomeOf([wire], SOUP_SHAPES);
        const cut = outcomeOf(cutAt(wire, where), SOUP_SHAPES);
        expect({ ...cut, heldBytes: 0 }).toEqual({ ...whole, heldBytes: 0 });
        expect(["", "PROTOCOL_ERROR"]).toContain(whole.error);
        expect(cut.heldBytes).toBeLessThanOrEqual(wire.length);
      }),
      fuzz(1_500),
    );
  },
  FUZZ_TIMEOUT_MS,
);
