/**
 * The link to another machine is cut, both daemons are killed, its sshd goes away: nothing comes twice, nothing is typed twice,
 * each hole is declared. `CUTS=200 MAX_MS=60000 SEED=7 npm run load -- hostCuts --testTimeout=14400000`; with `AGENTLESS=1`
 * there is no daemon on the host.
 */
import { expect, test } from "vitest";
import { hostCampaign } from "../support/daemon/hostCampaign.ts";
import { report } from "../support/daemon/loadReport.ts";
import { randomFrom } from "../support/daemon/nativeScreens.ts";

test("cuts of every kind", async () => {
  const seed = Number(process.env["SEED"] ?? 7);
  const result = await hostCampaign({
    cuts: Number(process.env["CUTS"] ?? 20),
    maxMs: Number(process.env["MAX_MS"] ?? 5_000),
    random: randomFrom(seed),
    agentless: process.env["AGENTLESS"] === "1",
    onCut: (cut, at) => report("hostCuts", { at, cut }),
  });
  report("hostCuts", { seed, ...result });
  expect(Math.min(result.bytes, result.typed)).toBeGreaterThan(0);
});
