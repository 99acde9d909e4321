/** Readiness on the command line, over the daemon's own API, with a real shell. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";

let sandbox: CliSandbox;
beforeAll(async () => {
  sandbox = cliSandbox();
  await sandbox.serve();
  await sandbox.run(["new", "work", "--", "bash", "--norc", "--noprofile"]);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

test("wait --ready ends at the prompt, and after typing at the next one", async () => {
  expect(await sandbox.run(["wait", "work", "--ready", "--timeout", "10"])).toMatchObject({ code: 0, stderr: "" });
  const next = await sandbox.run([
    "wait",
    "work",
    "--send",
    "sleep 0.3",
    "--enter",
    "--ready",
    "--timeout",
    "10",
    "--json",
  ]);
  expect(next.code).toBe(0);
  const { elapsedMs, matched } = JSON.parse(next.stdout) as { elapsedMs: number; matched: { predicate: string }[] };
  expect(matched.map(({ predicate }) => predicate)).toEqual(["ready"]);
  expect(elapsedMs).toBeGreaterThan(290);
  const never = await sandbox.run(["wait", "work", "--ready=asking", "--timeout", "0.2"]);
  expect(never.code).toBe(124);
});

test("panes has a column for it: of panes that somebody watches", async () => {
  const alone = await sandbox.run(["panes"]);
  expect(alone.stdout).toMatch(/^PANE +SESSIONS +SIZE +PID +STATE +READINESS +TITLE/);
  expect(alone.stdout).toMatch(/ running +- /);
  const waiting = sandbox.start(["wait", "work", "--ready=dead"]);
  await expect.poll(async () => (await sandbox.run(["panes"])).stdout, { timeout: 10_000 }).toMatch(/ idle \(shell\) /);
  await sandbox.run(["send", "work", "exit", "--enter"]);
  await waiting.finished;
});

test("follow --json --readiness tells every change", async () => {
  await sandbox.run(["new", "other", "--", "bash", "--norc", "--noprofile"]);
  await sandbox.run(["wait", "other", "--ready", "--timeout", "10"]);
  const following = sandbox.start(["follow", "other", "--json", "--readiness"]);
  await following.line(/"kind":"readiness","state":"idle".*"profile":"shell"/);
  await sandbox.run(["send", "other", "sleep 600", "--enter"]);
  await following.line(/"kind":"readiness","state":"busy".*"source":"bracketedPaste"/);
  await sandbox.run(["kill", "other"]);
  expect((await following.finished).code).toBe(0);
});
