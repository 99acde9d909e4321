/** `wait --bell` on real tmux, as a user types it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { echoPane, waitIn } from "../support/daemon/cliWaits.ts";

let sandbox: CliSandbox;
beforeAll(async () => {
  sandbox = cliSandbox();
  await sandbox.serve();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

test("a bell ends the wait and says where it rang; the end of an OSC is none", async () => {
  const pane = await echoPane(sandbox, "bells");
  const sent = "\u001b]0;a title\u0007\u001bPq\u0007\u001b\\text\u0007";
  const { code, answer } = await waitIn(sandbox, pane, "--bell", "--send", sent);
  expect([code, answer?.matched]).toEqual([
    0,
    [{ predicate: "bell", from: expect.any(String) as string, to: answer?.position }],
  ]);
  const silent = await waitIn(sandbox, pane, "--bell", "--send", "\u001b]0;another\u0007-", "--timeout", "0.5");
  expect(silent.code).toBe(124);
});

test("one that rang before is found from a position; beside it another predicate must hold as well", async () => {
  const pane = (await sandbox.run(["new", "before", "--", "sh"])).stdout.trim();
  await waitIn(sandbox, pane, "--prompt", "--from", "tail:1");
  const ring = "printf '\\a%s\\n' ru''ng";
  const first = await waitIn(sandbox, pane, "--send", ring, "--enter", "--text", "rung");
  expect(first.code).toBe(0);
  expect((await waitIn(sandbox, pane, "--bell", "--timeout", "0.5")).code).toBe(124);
  const found = await waitIn(sandbox, pane, "--bell", "--from", "tail:5");
  expect(found.answer?.matched).toEqual([
    { predicate: "bell", from: expect.any(String) as string, to: first.answer?.matched[0]?.from },
  ]);
  const both = await waitIn(sandbox, pane, "--bell", "--text", "rung", "--send", ring, "--enter");
  expect(both.answer?.matched.map(({ predicate }) => predicate)).toEqual(["pattern", "bell"]);
});
