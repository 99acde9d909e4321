/** `wait --cursor` on real tmux, as a user types it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { programPane, waitIn } from "../support/daemon/cliWaits.ts";

let sandbox: CliSandbox;
beforeAll(async () => {
  sandbox = cliSandbox();
  await sandbox.serve();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

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
