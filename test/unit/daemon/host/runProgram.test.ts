import { expect, test } from "vitest";
import { runProgram } from "../../../../daemon/host/runProgram.ts";

const ENV = { PATH: process.env["PATH"] ?? "" };

test("the output of a program that ended in time is complete, however late this process reads it", async () => {
  const ended = runProgram("echo", ["out"], ENV, { timeoutMs: 20 });
  const untilMs = performance.now() + 500;
  while (performance.now() < untilMs);
  expect(await ended).toEqual({ stdout: "out\n" });
});

test("a program that does not end in time is a failure, also when a child of its own holds its output open", async () => {
  const { failure } = await runProgram("sh", ["-c", "sleep 1 & exec sleep 30"], ENV, { timeoutMs: 50 });
  expect(failure?.code).toBe("ETIMEDOUT");
});
