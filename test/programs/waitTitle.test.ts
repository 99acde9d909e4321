/** `wait --title` on real tmux, as a user types it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { echoPane, waitIn } from "../support/daemon/cliWaits.ts";

let sandbox: CliSandbox;
beforeAll(async () => {
  sandbox = cliSandbox();
  await sandbox.serve();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

test("a title that the program sets, in the moment in which it does, also when the next one replaces it at once", async () => {
  const pane = await echoPane(sandbox, "sets");
  const sent = "\u001b]2;at work\u0007\u001b]0;done 42\u001b\\\u001b]2;at work again\u0007";
  const { code, answer } = await waitIn(sandbox, pane, "--title", "^done \\d+$", "--send", sent);
  expect([code, answer?.matched]).toEqual([
    0,
    [{ predicate: "title", text: "done 42", from: expect.any(String) as string, to: expect.any(String) as string }],
  ]);
});

test("the title that stands counts, but not when something is typed; text that looks like one never does", async () => {
  const pane = await echoPane(sandbox, "stands");
  await waitIn(sandbox, pane, "--title", "idle", "--send", "\u001b]2;idle\u0007");
  const standing = await waitIn(sandbox, pane, "--title", "idle");
  expect(standing).toMatchObject({ code: 0, answer: { matched: [{ predicate: "title", text: "idle" }] } });
  expect((await waitIn(sandbox, pane, "--title", "idle", "--send", "]2;idle", "--timeout", "1.5")).code).toBe(124);
  expect((await waitIn(sandbox, pane, "--title", "idle", "--send", "\u001b]2;idle\u0007")).code).toBe(0);
});

test("a title that a person gives the pane", async () => {
  const pane = await echoPane(sandbox, "given");
  const waiting = waitIn(sandbox, pane, "--title", "by (hand)", "--timeout", "20");
  sandbox.tmux(sandbox.tmuxSocketPath, "select-pane", "-t", pane, "-T", "named by hand");
  expect(await waiting).toMatchObject({ code: 0, answer: { matched: [{ predicate: "title", text: "by hand" }] } });
});

test("a pattern that RE2 refuses is said at once", async () => {
  const pane = await echoPane(sandbox, "refused");
  const refused = await waitIn(sandbox, pane, "--title", "(?=x)");
  expect(refused).toMatchObject({ code: 2, failure: expect.stringMatching(/look-ahead/) as string });
});
