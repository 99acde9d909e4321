/**
 * The tool never runs by accident: questions that open at random moments while prompts full of digits, letters and labels
 * are being submitted. RACE_TRIES (1,000) to an agent with our hooks, which tell before it asks; as many, waiting and at
 * work, to a program without hooks that keeps questions back while somebody types. A fifth of that to programs that have
 * no hooks and open them in the same turn: an Enter that is on its way by then cannot be called back by anybody, so what
 * is held against us there is one written after the question could be seen.
 */
import { expect, test } from "vitest";
import { seeded } from "../support/agents/agentsEngines.ts";
import { dialogRace, type RaceFigures, type RaceOptions } from "../support/agents/agentsRace.ts";
import { hookedRace } from "../support/agents/hookedRace.ts";
import { report } from "../support/daemon/loadReport.ts";

const TRIES = Number(process.env["RACE_TRIES"] ?? 1_000);
const SEED = Number(process.env["RACE_SEED"] ?? Date.now() % 1_000_000);

async function race(options: Omit<RaceOptions, "random">): Promise<RaceFigures> {
  const figures = await dialogRace({ ...options, random: seeded(SEED) });
  report("dialogRace", { program: options.program, whileBusy: options.whileBusy, seed: SEED, ...figures });
  return figures;
}
const RIGHT = { accidents: 0, strayKeys: {}, mistold: [] };
/** Claude Code's, as public ports of it have it (read there in 2026, not measured here). */
const HOLD_ASK_MS = 1_500;
/** Ink draws every 32 ms at most; then the terminal, tmux and the look. Others draw at once. */
const SEEN_WITHIN_MS: Readonly<Record<string, number>> = { dialog: 50 };
const SEEN_AT_ONCE_MS = 15;

test("an agent with hooks", async () => {
  const figures = await hookedRace("dialog", TRIES, seeded(SEED));
  report("dialogRace", { program: "dialog, hooks installed", seed: SEED, ...figures });
  const { accidents, strayKeys } = figures;
  expect({ accidents, strayKeys }).toEqual({ accidents: 0, strayKeys: {} });
});

test.each([false, true])("questions wait while somebody types; at work: %s", async (whileBusy) => {
  const options = { program: "dialog", tries: TRIES, holdAskMs: HOLD_ASK_MS, whileBusy } as const;
  const { accidents, strayKeys, mistold } = await race(options);
  expect({ accidents, strayKeys, mistold }).toEqual(RIGHT);
});

test.each([
  { program: "dialog", whileBusy: false },
  { program: "dialog", whileBusy: true },
  { program: "queues", whileBusy: false },
  { program: "queues", whileBusy: true },
  { program: "codexLike", whileBusy: false },
  { program: "geminiLike", whileBusy: false },
  { program: "geminiLike", whileBusy: true },
  { program: "opencodeLike", whileBusy: false },
  { program: "opencodeLike", whileBusy: true },
] as const)("questions open at once: $program, at work: $whileBusy", async (row) => {
  const { writtenAfterMs, mistold, strayKeys } = await race({ ...row, tries: Math.ceil(TRIES / 5) });
  const seenWithinMs = SEEN_WITHIN_MS[row.program] ?? SEEN_AT_ONCE_MS;
  expect(writtenAfterMs.filter((afterMs) => !(afterMs <= seenWithinMs))).toEqual([]);
  expect(Object.keys(strayKeys).filter((key) => key !== "Enter")).toEqual([]);
  expect(mistold).toEqual([]);
});
