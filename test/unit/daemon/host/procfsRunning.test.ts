/** Whether a process is at something, by what `/proc` says of its threads. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { procfs } from "../../../../daemon/host/procfs.ts";

const directory = mkdtempSync(join(tmpdir(), "tmuxwire-"));
afterAll(() => rmSync(directory, { recursive: true }));

const PID = 4242;

/** The states of its threads, the main one first. */
function threads(states: string): void {
  rmSync(join(directory, String(PID)), { recursive: true, force: true });
  const line = (pid: number, state: string): string => `${pid} (agent) ${state} 1 ${PID} ${PID} 0 -1 0\n`;
  Array.from(states).forEach((state, at) => {
    const task = join(directory, String(PID), "task", String(PID + at));
    mkdirSync(task, { recursive: true });
    writeFileSync(join(task, "stat"), line(PID + at, state));
    if (at === 0) writeFileSync(join(directory, String(PID), "stat"), line(PID, state));
  });
}

test.each([
  ["S", false],
  ["SSSS", false],
  ["R", true],
  ["D", true],
  // Its main thread waits for the one that collects garbage, and that one for a processor.
  ["SSRS", true],
  ["T", false],
  ["", undefined],
])("threads in the states %j", (states, isRunning) => {
  threads(states);
  expect(procfs(directory).isRunningNow(PID)).toBe(isRunning);
});

test.each([
  ["do_wait", true],
  ["do_wait.part.0", true],
  ["do_wait_for_common", false],
  ["do_epoll_wait", false],
  ["poll_schedule_timeout.constprop.0", false],
  // The kernel does not say.
  ["0", undefined],
  ["", undefined],
])("a process that sleeps in %j", (place, waitsForChild) => {
  threads("S");
  writeFileSync(join(directory, String(PID), "wchan"), place);
  expect(procfs(directory).waitsForChildNow(PID)).toBe(waitsForChild);
  expect(procfs(directory).waitsForChildNow(1)).toBeUndefined();
});
