/** Standard input ends with the command's signal, also while nothing comes. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { Interrupted, stdinOf } from "../../../../adapters/cli/cliIo.ts";

test("a read that waits ends with the signal, with its reason", async () => {
  const controller = new AbortController();
  const stdin = new PassThrough();
  const input = stdinOf({ stdin, signal: controller.signal });
  stdin.write("begun");
  expect(String((await input.next()).value)).toBe("begun");
  const next = input.next();
  const reason = new Interrupted(143, "terminated");
  controller.abort(reason);
  await expect(next).rejects.toBe(reason);
});

test("input that ends as the signal comes is not whole", async () => {
  const controller = new AbortController();
  const stdin = new PassThrough();
  stdin.end("half");
  const input = stdinOf({ stdin, signal: controller.signal });
  expect(String((await input.next()).value)).toBe("half");
  const reason = new Interrupted(130, "interrupted");
  controller.abort(reason);
  await expect(input.next()).rejects.toBe(reason);
});
