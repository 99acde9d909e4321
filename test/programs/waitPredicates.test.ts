/** `wait --title`, `--bell` and `--cursor` on real tmux, as a user types it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { echoPane, programPane, waitIn } from "../support/daemon/cliWaits.ts";

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

/** Turns a spinner in the corner without end; its cursor wanders until it reads something. */
const SPINNER = `
  process.stdin.setRawMode(true);
  let column = 1, step = 1, turn = 0;
  process.stdin.on("data", () => (step = 0));
  setInterval(() => {
    column = 1 + ((column - 1 + step) % 40);
    process.stdout.write("\\x1b[1;70H" + "|/-\\\\"[turn++ % 4] + "\\x1b[5;" + column + "H");
  }, 20);
  process.stdout.write("ready;");
`;

test("a cursor that stands still while a spinner turns elsewhere, and not one that wanders", async () => {
  const pane = await programPane(sandbox, "spinner", SPINNER);
  const wandering = await waitIn(sandbox, pane, "--cursor", "1.4", "--timeout", "2");
  expect(wandering).toMatchObject({ code: 124 });
  const still = await waitIn(sandbox, pane, "--cursor", "0.5", "--send", "x", "--timeout", "20");
  expect(still).toMatchObject({ code: 0, answer: { matched: [{ predicate: "cursor" }] } });
  expect(still.answer?.elapsedMs).toBeGreaterThanOrEqual(500);
  // Output has not paused for a moment.
  expect((await waitIn(sandbox, pane, "--stable", "1.4", "--timeout", "2")).code).toBe(124);
});

test("lines that scroll by move it, though it stays in the last row's first column", async () => {
  const print = "let line = 0; setInterval(() => process.stdout.write(`line ${++line}.\\n`), 20)";
  const lines = `process.stdin.setRawMode(true); process.stdin.once("data", () => { ${print}; }); process.stdout.write("ready;");`;
  const pane = await programPane(sandbox, "lines", lines);
  // The screen is full from here on.
  const full = await waitIn(sandbox, pane, "--text", "line 60.", "--send", "x", "--timeout", "20");
  expect(full.code).toBe(0);
  expect((await waitIn(sandbox, pane, "--cursor", "1.4", "--timeout", "2")).code).toBe(124);
});

test("where nothing is printed it is as long as the time, and a pane that goes ends the wait", async () => {
  const pane = await programPane(sandbox, "quiet", 'setInterval(() => 0, 1e6); process.stdout.write("ready;");');
  const quiet = await waitIn(sandbox, pane, "--cursor", "0.3", "--timeout", "20");
  expect(quiet.code).toBe(0);
  expect(quiet.answer?.elapsedMs).toBeGreaterThanOrEqual(300);
  const gone = waitIn(sandbox, pane, "--cursor", "60", "--timeout", "60");
  await sandbox.run(["kill", "quiet"]);
  expect((await gone).code).toBe(3);
});
