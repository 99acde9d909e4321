/** Many rounds of a crowd on a server. Environment: `ROUNDS`, `SEED`; the first tmux on PATH is what is tried. */
import { expect, test } from "vitest";
import { report, sinceMs } from "../support/daemon/loadReport.ts";
import { AT_ONCE, crowd } from "../support/tmux/crowd.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 80);
const SEED = Number(process.env["SEED"] ?? 1);

test.each(["owned", "guest"] as const)("a server lives in a crowd: %s", async (kind) => {
  const startMs = performance.now();
  const tmux = await crowd(kind, SEED, ROUNDS);
  report("crowd", { kind, tmux, rounds: ROUNDS, operations: ROUNDS * AT_ONCE, ms: sinceMs(startMs) });
  expect(tmux).toMatch(/^tmux /);
});
