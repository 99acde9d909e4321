/**
 * A million streams (`FUZZ_INPUTS` for another number), half of them made by the grammar that knows what they mean, half
 * of the protocol's words in no order: the same events however they are cut, nothing thrown but AppError, nothing held
 * that was not pushed. Prints its counts as one JSON line. The short form is `test/property/parser.test.ts`.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { arbitraryStream, SOUP_SHAPES, SOUP_WORDS } from "../support/tmux/arbitraryWire.ts";
import { cutAt, outcomeOf, parseChunks, type Outcome } from "../support/tmux/controlTranscript.ts";

const INPUTS = Number(process.env["FUZZ_INPUTS"] ?? 1_000_000);
const SEED = Number(process.env["FUZZ_SEED"] ?? Date.now() % 2_147_483_647);
/** Inputs up to this long are cut at every byte, longer ones at random. */
const EVERY_SPLIT_BYTES = 40;
const LIMIT_MS = 1_800_000;

/** xorshift32: a generator that costs nothing beside what it feeds. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed === 0 ? 1 : seed | 0;
  }

  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }
}

const counts = {
  inputs: 0,
  structured: 0,
  soup: 0,
  parses: 0,
  bytes: 0,
  events: 0,
  protocolErrors: 0,
  maxHeldBytes: 0,
};

function count(outcome: Outcome, bytes: number): Outcome {
  counts.parses += 1;
  counts.bytes += bytes;
  counts.events += outcome.events.length;
  if (outcome.error !== "") counts.protocolErrors += 1;
  counts.maxHeldBytes = Math.max(counts.maxHeldBytes, outcome.heldBytes);
  return outcome;
}

function* cutsOf(wire: Uint8Array, random: Random): Generator<readonly number[]> {
  if (wire.length <= EVERY_SPLIT_BYTES) {
    for (let cut = 1; cut < wire.length; cut += 1) yield [cut];
  } else {
    yield Array.from({ length: 1 + random.below(6) }, () => random.below(wire.length));
  }
}

/** One input: whole, then cut. @throws Error when a cut changes the outcome */
function same(wire: Uint8Array, shapes: Parameters<typeof outcomeOf>[1], random: Random): Outcome {
  const whole = count(outcomeOf([wire], shapes), wire.length);
  const expected = whole.events.join("\n");
  for (const cuts of cutsOf(wire, random)) {
    const cut = count(outcomeOf(cutAt(wire, cuts), shapes), wire.length);
    if (cut.heldBytes > wire.length) throw new Error(`held ${cut.heldBytes} of ${wire.length} bytes`);
    if (cut.error === whole.error && cut.events.join("\n") === expected) continue;
    throw new Error(`cut at ${cuts.join()} of ${Buffer.from(wire).toString("base64")}: ${cut.events.join(" / ")}`);
  }
  return whole;
}

function soup(random: Random): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let left = random.below(12); left >= 0; left -= 1) {
    const anything = random.below(6) === 0;
    parts.push(
      anything
        ? Uint8Array.from({ length: random.below(9) }, () => random.below(256))
        : SOUP_WORDS[random.below(SOUP_WORDS.length)]!,
    );
  }
  return Buffer.concat(parts);
}

test(
  `${INPUTS} random streams`,
  () => {
    const random = new Random(SEED);
    const startMs = performance.now();
    const startRss = process.memoryUsage().rss;
    fc.assert(
      fc.property(arbitraryStream(5), ({ wire, shapes, events }) => {
        counts.structured += 1;
        const whole = same(wire, shapes, random);
        if (whole.error === "" && whole.events.join("\n") === events.join("\n")) return;
        expect(parseChunks([wire], shapes).events).toEqual(events);
      }),
      { numRuns: Math.ceil(INPUTS / 2), seed: SEED },
    );
    while (counts.structured + counts.soup < INPUTS) {
      counts.soup += 1;
      const { error } = same(soup(random), SOUP_SHAPES, random);
      if (error !== "" && error !== "PROTOCOL_ERROR") throw new Error(`an AppError of another kind: ${error}`);
    }
    counts.inputs = counts.structured + counts.soup;
    const seconds = Number(((performance.now() - startMs) / 1_000).toFixed(1));
    const rssGrowthMb = Math.round((process.memoryUsage().rss - startRss) / 1_048_576);
    process.stdout.write(`${JSON.stringify({ load: "parserFuzz", seed: SEED, ...counts, seconds, rssGrowthMb })}\n`);
    expect(counts.inputs).toBeGreaterThanOrEqual(INPUTS);
    // The depths were reached: blocks whose nonce is followed by nonsense.
    expect(counts.protocolErrors).toBeGreaterThan(0);
    expect(counts.events).toBeGreaterThan(counts.inputs);
    expect(rssGrowthMb).toBeLessThan(500);
  },
  LIMIT_MS,
);
