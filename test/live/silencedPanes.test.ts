/** What the load test of the same name measures, a few times each. */
import { expect, test } from "vitest";
import { falseHoles, type SilencedKind, type Silencing, silencedMs } from "../support/tmux/silencings.ts";

const KINDS: readonly SilencedKind[] = ["owned", "alone", "guest"];
/** tmux is not asked while a test runs: what is found was reported. */
const NEVER_MS = 3_600_000;

const CASES = KINDS.flatMap((kind) => (["off", "no-output"] as const).map((silencing) => [kind, silencing] as const));

test.concurrent.each(CASES)("%s, %s: declared, without asking", async (kind: SilencedKind, silencing: Silencing) => {
  // Output that is queued in the moment of `off` can end tmux up to 3.6 (docs/tmuxFacts.md 51); of so slow a printer none is.
  const printer = silencing === "off" ? "paced" : "steady";
  const took = await silencedMs({ kind, silencing, printer, rounds: 2, heartbeatMs: NEVER_MS });
  expect(took).toHaveLength(2);
});

test.concurrent.each(KINDS)("%s: no hole where nothing is missing", async (kind) => {
  expect(await falseHoles(kind, 4)).toEqual([]);
});
