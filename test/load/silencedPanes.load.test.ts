/**
 * How soon a hole is declared when somebody has kept output from our clients without a word (`refresh-client -A %N:off` and
 * its kin), with the heartbeat as it is in production; and that none is declared where nothing is missing. Cases run beside each
 * other, so that the machine has other work (`--maxConcurrency` says how many).
 */
import { expect, test } from "vitest";
import { report, spread } from "../support/daemon/loadReport.ts";
import { falseHoles, type Printer, type Silencing, type SilencedKind, silencedMs } from "../support/tmux/silencings.ts";

const ROUNDS = Number(process.env["SILENCED_ROUNDS"] ?? 40);
const FALSE_SEC = Number(process.env["SILENCED_FALSE_SEC"] ?? 60);
/** The acceptance. */
const WITHIN_MS = 1_500;

const KINDS: readonly SilencedKind[] = ["owned", "alone", "guest", "attached"];
const CASES: readonly (readonly [Silencing, Printer])[] = [
  ["off", "steady"],
  ["off", "paced"],
  ["off", "redrawn"],
  ["no-output", "steady"],
  ["no-output", "flood"],

  ["suspended", "steady"],
  ["read-only", "steady"],
  ["unlimited", "steady"],
];

test.concurrent.each(KINDS.flatMap((kind) => CASES.map(([silencing, printer]) => ({ kind, silencing, printer }))))(
  "$kind, a $printer pane, $silencing",
  async ({ kind, silencing, printer }) => {
    const took = await silencedMs({ kind, silencing, printer, rounds: ROUNDS });
    const delays = spread(took);
    report("silencedPanes", { kind, silencing, printer, rounds: took.length, ...delays });
    expect(delays.p99Ms).toBeLessThan(WITHIN_MS);
  },
);

test.concurrent.each(KINDS)("%s: no hole where nothing is missing", async (kind) => {
  const declared = await falseHoles(kind, FALSE_SEC);
  report("silencedPanes", { kind, seconds: FALSE_SEC, declared });
  expect(declared).toEqual([]);
});
