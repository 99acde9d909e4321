/** What the API says of an agent that is judged by a profile which was not made for its version. */
import { expect, test } from "vitest";
import { stateOf } from "../../../../../adapters/agents/running/agentState.ts";
import type { RunningAgent } from "../../../../../adapters/agents/running/runningAgent.ts";
import type { Readiness } from "../../../../../daemon/readiness/readiness.ts";

const whyOf = (readiness: Partial<Readiness>): string =>
  stateOf({
    kind: { name: "some", profile: {} },
    endedUnixMs: undefined,
    readiness: { state: "unknown", source: "none", sinceUnixMs: 1, position: undefined, profile: "some", ...readiness },
  } as unknown as RunningAgent).why;

test.each([
  [
    "a new version on whose screen nothing is known",
    { version: "2.1.340", isNewVersion: true },
    /^new version 2\.1\.340, not known yet$/,
  ],
  [
    "a known version",
    { version: "2.1.330", isNewVersion: false },
    /^its screen shows nothing that profile some knows$/,
  ],
  ["no version", {}, /^its screen shows nothing that profile some knows$/],
  [
    "a new version that is known",
    { state: "idle", source: "screen", version: "2.1.340", isNewVersion: true },
    /^its screen says so$/,
  ],
  [
    "another program in front",
    { profile: "shell", version: "2.1.340", isNewVersion: true },
    /^its screen has not been read/,
  ],
] as const)("%s", (_, readiness, why) => {
  expect(whyOf(readiness)).toMatch(why);
});
