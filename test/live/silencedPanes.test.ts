/** What the load test of the same name measures, a few times each: with the heartbeat as it is in production. */
import { expect, test } from "vitest";
import { falseHoles, type SilencedKind, type Silencing, silencedMs } from "../support/tmux/silencings.ts";

const KINDS: readonly SilencedKind[] = ["owned", "alone", "guest"];
/** Half of the interval at which tmux is asked: what is found sooner, on a machine with other work, was not found by asking. */
const WITHIN_MS = 2_500;

const CASES = KINDS.flatMap((kind) => (["off", "no-output"] as const).map((silencing) => [kind, silencing] as const));

test.concurrent.each(CASES)("%s, %s: declared soon", async (kind: SilencedKind, silencing: Silencing) => {
  // Output that is queued in the moment of `off` can end tmux up to 3.6 (docs/tmuxFacts.md 51); of so slow a printer none is.
  const printer = silencing === "off" ? "paced" : "steady";
  const took = await silencedMs({ kind, silencing, printer, rounds: 2 });
  expect(Math.max(...took)).toBeLessThan(WITHIN_MS);
});

test.concurrent.each(KINDS)("%s: no hole where nothing is missing", async (kind) => {
  expect(await falseHoles(kind, 4)).toEqual([]);
});
