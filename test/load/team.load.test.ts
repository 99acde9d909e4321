/** The team's figures: starts that reach the worker exactly once, how long a prompt takes, long captures, processes started. */
import { expect, test } from "vitest";
import { killedStart } from "../fixtures/team/killedStarts.ts";
import { countTeamSpawns } from "../fixtures/team/teamSpawns.ts";
import { teamFixture } from "../fixtures/team/teamFixture.ts";
import { eventually } from "../support/clock/eventually.ts";
import { report, sinceMs, spread } from "../support/daemon/loadReport.ts";

/** What each start's log line says of this. */
const logged = (log: string, field: string): number[] =>
  [...log.matchAll(new RegExp(`"event":"team\\.started".*"${field}":(\\d+)`, "g"))].map(([, value]) => Number(value));

test("20 of 20 starts are prompted exactly once, within 150 ms of being ready", async () => {
  await using team = await teamFixture({ piFlags: ["--boot-ms", "200"] });
  for (let at = 1; at <= 20; at += 1) {
    const { json } = await team.start({ taskPrompt: `task ${at}` });
    expect(json).toMatchObject({ sessionName: `worker-${at}`, promptSubmitted: true });
  }
  expect(team.prompts().map(({ text }) => text)).toEqual(Array.from({ length: 20 }, (_, index) => `task ${index + 1}`));
  const submitMs = spread(logged(team.log(), "submitMs"));
  report("teamStart", { starts: 20, readyMs: spread(logged(team.log(), "readyMs")), submitMs });
  expect(submitMs.p50Ms).toBeLessThanOrEqual(150);
});

test("10 starts at once get distinct names and one prompt each", async () => {
  await using team = await teamFixture();
  const startedMs = performance.now();
  const responses = await Promise.all(Array.from({ length: 10 }, (_, at) => team.start({ taskPrompt: `task ${at}` })));
  const elapsedMs = sinceMs(startedMs);
  expect(new Set(responses.map(({ json }) => json["sessionName"]))).toHaveLength(10);
  expect(responses.every(({ json }) => json["promptSubmitted"] === true)).toBe(true);
  const texts = team.prompts().map(({ text }) => text);
  expect(new Set(texts)).toHaveLength(10);
  expect(texts).toHaveLength(10);
  report("teamParallel", { starts: 10, elapsedMs, submitMs: spread(logged(team.log(), "submitMs")) });
});

test("5,000 lines are captured in 20 ms", async () => {
  const argv = ["sh", "-c", "seq -f 'row %g of a worker that has a lot to say' 1 6000; exec sleep 1000"];
  await using team = await teamFixture({ worker: { argv, hooked: false, readyTimeoutMs: 50 } });
  await team.start();
  const capture = () => team.call("capture", { sessionName: "worker-1", lines: 5_000 });
  await eventually(async () => String((await capture()).json["text"]).includes("row 6000 "));
  const durationsMs: number[] = [];
  for (let at = 0; at < 100; at += 1) {
    const startedMs = performance.now();
    expect((await capture()).json["lines"]).toBeGreaterThanOrEqual(5_000);
    durationsMs.push(performance.now() - startedMs);
  }
  const capturedMs = spread(durationsMs);
  report("teamCapture", { lines: 5_000, overHttp: capturedMs });
  expect(capturedMs.p50Ms).toBeLessThanOrEqual(20);
});

test("500 mixed operations start nothing", async () => {
  const count = await countTeamSpawns(500);
  report("teamSpawns", { ...count });
  expect(count).toEqual({ operations: 500, wrong: [], execve: 0, forks: 0 });
});

test("a start whose daemon is killed at any moment is, repeated with its key, one worker and at most one prompt", async () => {
  // Ever further apart: a start takes 300 ms, or seconds where the machine has much to do.
  const moments = Array.from({ length: 16 }, (_, step) => Math.round(10 * 1.5 ** step));
  const results = [];
  for (const moment of moments) results.push(await killedStart(moment));
  report("teamKilled", {
    kills: results.length,
    outcomes: results.map(({ killedAfterMs, outcome, prompts }) => [killedAfterMs, outcome, prompts]),
    foundAgain: results.filter(({ created }) => created === false).length,
  });
  for (const result of results) {
    expect(result).toMatchObject({ workers: 1, repeated: 200, posts: 1 });
    // Whatever was not cut short while it was typed is finished.
    if (result.outcome === "submitted") expect(result.prompts).toBe(1);
    else expect([result.outcome, result.prompts <= 1]).toEqual(["indeterminate", true]);
  }
  // The moments reach from before the session to after the prompt.
  expect(new Set(results.map(({ created }) => created))).toEqual(new Set([true, false]));
});
