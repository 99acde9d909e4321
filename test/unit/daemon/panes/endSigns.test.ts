/** A process that still runs and has begun to end, by what `/proc` says of its signals. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { procfs } from "../../../../daemon/host/procfs.ts";
import { EndSigns } from "../../../../daemon/panes/endSigns.ts";

const directory = mkdtempSync(join(tmpdir(), "tmuxwire-"));
afterAll(() => rmSync(directory, { recursive: true }));

const PID = 4242;
const USR1 = 10;
const WINCH = 28;

/** Signals by their numbers, as proc(5) shows them. */
const set = (signals: readonly number[]): string =>
  signals
    .reduce((sum, signal) => sum | (1n << BigInt(signal - 1)), 0n)
    .toString(16)
    .padStart(16, "0");

function shows({ own = [], shared = [], caught = [] }: Readonly<Record<string, readonly number[]>>): void {
  mkdirSync(join(directory, String(PID)), { recursive: true });
  const lines = [
    "Name:\tagent",
    "SigQ:\t0/1",
    `SigPnd:\t${set(own)}`,
    `ShdPnd:\t${set(shared)}`,
    `SigCgt:\t${set(caught)}`,
  ];
  writeFileSync(join(directory, String(PID), "status"), `${lines.join("\n")}\n`);
}

const signs = (): EndSigns => new EndSigns([PID, PID], procfs(directory));

test.each([1, 2, 3, 9, 15, 19, 20])("signal %i waits for it", (signal) => {
  shows({ caught: [15, WINCH] });
  const seen = signs();
  expect(seen.isShown).toBe(false);
  shows({ shared: [signal], caught: [15, WINCH] });
  expect(seen.isShown).toBe(true);
  shows({ own: [signal], caught: [15, WINCH] });
  expect(seen.isShown).toBe(true);
});

test("signals that end nothing are none", () => {
  shows({ caught: [15] });
  const seen = signs();
  shows({ shared: [WINCH, USR1], caught: [15, WINCH] });
  expect(seen.isShown).toBe(false);
});

test("it has put away the handler that it had; one that goes on without is not ending", () => {
  shows({ caught: [2, 15] });
  const seen = signs();
  shows({ caught: [2] });
  expect(seen.isShown).toBe(true);
  expect(seen.renewed().isShown).toBe(false);
});

test("one that never had a handler shows nothing, nor does one that the system does not tell of", () => {
  shows({ caught: [2] });
  expect(signs().isShown).toBe(false);
  expect(new EndSigns([77], procfs(directory)).isShown).toBe(false);
});

test("what an earlier check knew stays the baseline of its processes; one of several that ends is enough", () => {
  shows({ caught: [15] });
  const before = signs();
  shows({ caught: [2] });
  expect(new EndSigns([PID, 77], procfs(directory), before).isShown).toBe(true);
  expect(new EndSigns([PID], procfs(directory), new EndSigns([77], procfs(directory))).isShown).toBe(false);
});
