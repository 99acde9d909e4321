/** The command line on a person's terminal: whatever a pane has printed, the terminal gets text and what draws. */
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spawn } from "@homebridge/node-pty-prebuilt-multiarch";
import { builtCli } from "../support/daemon/cliBuild.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { eventually } from "../support/clock/eventually.ts";

/** The printer with a backspace in it, the clipboard, the mouse, a C1 control, colours: nothing that tmux answers. */
const HOSTILE = "\u001b[5\bi\u001b]52;c;aGk=\u0007\u001b[?1003h\u009b6n\u001b[32mgreen\u001b[0m printed";
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const ASKS = /\u001b\[(?:5?\u0008?i|\?1003h)|\u001b\]52|\u009b/;

let sandbox: CliSandbox;
beforeAll(async () => {
  sandbox = cliSandbox();
  await sandbox.serve();
  writeFileSync(sandbox.path("hostile"), `${HOSTILE}\n`);
  await sandbox.run(["new", "work", "--", "sh"]);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

/** Our program in a terminal, until it ends or what it has written holds this. */
async function inTerminal(args: readonly string[], until?: RegExp): Promise<string> {
  const terminal = spawn(process.execPath, [builtCli(), ...args], { env: sandbox.env, cols: 80, rows: 24 });
  let [written, hasEnded] = ["", false];
  terminal.onData((data) => (written += data));
  terminal.onExit(() => (hasEnded = true));
  if (until === undefined) await eventually(() => hasEnded);
  else {
    await eventually(() => hasEnded || until.test(written));
    terminal.kill("SIGINT");
    await eventually(() => hasEnded);
  }
  return written;
}

test("follow shows what draws; with --raw, and to a file, every byte", async () => {
  const show = async (): Promise<void> => {
    expect((await sandbox.run(["run", "work", `cat ${sandbox.path("hostile")}`])).code).toBe(0);
  };
  await show();
  const from = ["--from", "tail:50"];
  const quiet = await inTerminal(["follow", "work", ...from], /printed/);
  expect(quiet).not.toMatch(ASKS);
  expect(quiet).toContain("\u001b[32mgreen\u001b[0m printed");
  expect(await inTerminal(["follow", "work", "--raw", ...from], /printed/)).toContain(HOSTILE);
  const piped = sandbox.start(["follow", "work", ...from]);
  await piped.line(/printed/);
  piped.child.kill("SIGINT");
  expect((await piped.finished).stdout).toContain(Buffer.from(HOSTILE).toString("latin1"));
});

test("run, capture, snapshot and JSON write no control characters of a pane to it either", async () => {
  const command = `cat ${sandbox.path("hostile")}`;
  for (const args of [
    ["run", "work", command],
    ["capture", "work"],
    ["capture", "work", "--ansi"],
    ["capture", "work", "--json"],
    ["snapshot", "work"],
  ]) {
    // oxlint-disable-next-line no-await-in-loop -- one pane
    const written = await inTerminal(args);
    expect({ args, written }).toEqual({ args, written: expect.stringContaining("printed") as string });
    expect({ args, asks: ASKS.exec(written)?.[0] }).toEqual({ args, asks: undefined });
  }
  expect(await inTerminal(["run", "--raw", "work", command])).toMatch(ASKS);
});
