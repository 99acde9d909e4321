/** `run` in real shells: output, status, marks that nobody sees. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OwnedApi, ownedApi, type SessionOfApi } from "../support/daemon/ownedApi.ts";
import { ownDirectory } from "../support/daemon/ownDirectory.ts";

let all: OwnedApi;
beforeAll(async () => {
  all = await ownedApi();
});
afterAll(() => all[Symbol.asyncDispose]());

const withShell = (command: readonly string[]): Promise<SessionOfApi> => all.session({ command, cols: 100, rows: 30 });

const SHELLS = [
  { name: "bash", command: ["bash", "--norc", "--noprofile"] },
  { name: "dash", command: ["dash"] },
];

describe.each(SHELLS)("$name", ({ command }) => {
  let shared: SessionOfApi;
  beforeAll(async () => {
    shared = await withShell(command);
  });
  afterAll(() => shared[Symbol.asyncDispose]());

  test.each([
    ["echo hi", "hi\n", 0],
    ["printf 'no line end'", "no line end", 0],
    ["(exit 7)", "", 7],
    ["false", "", 1],
    ["echo a; echo b # a comment; not more", "a\nb\n", 0],
    ["echo 'it'\\''s' \"$HOME!\" '%s' '\\033' | cut -c1-4", "it's\n", 0],
    ["for i in 1 2 3; do echo $i; done", "1\n2\n3\n", 0],
    ["cat <<END\none\ntwo\nEND", "one\ntwo\n", 0],
    ["echo first\necho second", "first\nsecond\n", 0],
    ["sleep 0.01 &", undefined, 0],
    ["sh -c 'kill -9 $$'", undefined, 137],
    ["no-such-command-here", undefined, 127],
    ["printf '\\033[31mred\\033[0m\\n'", "red\n", 0],
    ["echo é日本", "é日本\n", 0],
  ])("%j", async (line, output, exitCode) => {
    const response = await shared.pane.run(line, { timeoutMs: 15_000 });
    expect(response.exitCode).toBe(exitCode);
    if (output !== undefined) expect(response.output).toBe(output);
    expect(response).toMatchObject({ method: "marker", gaps: [] });
  });

  test("a syntax error is the command's, and the shell goes on", async () => {
    await using shell = await withShell(command);
    // dash abandons the whole line, so its end mark never comes: that the prompt is back ends the run.
    const { exitCode } = await shell.pane.run("if then", { timeoutMs: 15_000 });
    if (command[0] === "dash") expect(exitCode).toBeNull();
    else expect(exitCode).toBeGreaterThan(0);
    expect((await shell.pane.run("echo alive")).output).toBe("alive\n");
  });

  test("keeps the shell's state, and shows no mark on the screen", async () => {
    await using shell = await withShell(command);
    await shell.pane.run("cd /tmp; WORD=kept");
    const { output, from, to } = await shell.pane.run("pwd; echo $WORD");
    expect(output).toBe("/tmp\nkept\n");
    const { lines } = await shell.pane.capture({ lines: 100, joined: true });
    // Each mark is typed once and shown as typed; no line holds anything else of it.
    expect(lines.filter((line) => line.includes("5151") && !line.includes("printf '\\033]5151;"))).toEqual([]);
    expect(lines).toContain("kept");
    expect(Number(to.split(":")[1]) - Number(from.split(":")[1])).toBe("/tmp\r\nkept\r\n".length);
  });

  test("a time-out leaves the command running; a second run is refused meanwhile", async () => {
    await using shell = await withShell(command);
    const first = shell.pane.run("sleep 60", { timeoutMs: 400 });
    await expect
      .poll(async () => (await shell.pane.run("true", { timeoutMs: 300 }).catch((error: unknown) => error)) as object)
      .toMatchObject({ code: "INCONSISTENT_STATE" });
    await expect(first).rejects.toMatchObject({ code: "TIMEOUT", status: 408 });
    await shell.pane.keys(["C-c"]);
    await expect.poll(async () => (await shell.pane.info()).command).not.toBe("sleep");
    expect((await shell.pane.run("echo back")).output).toBe("back\n");
  });

  test("output longer than asked for keeps its end and declares the rest", async () => {
    await using shell = await withShell(command);
    const { output, gaps, from, to, exitCode } = await shell.pane.run("seq 1 100000; (exit 3)", {
      maxOutputBytes: 10_000,
    });
    expect(exitCode).toBe(3);
    expect(output.endsWith("99999\n100000\n")).toBe(true);
    const seq = (position: string) => Number(position.split(":")[1]);
    expect(gaps).toEqual([{ from, to: expect.any(String) as string, reason: "evicted" }]);
    expect(seq(to) - seq(gaps[0]!.to)).toBe(10_000);
    expect(seq(to) - seq(from)).toBe(688_895);
  });

  test("raw output is the exact bytes", async () => {
    await using shell = await withShell(command);
    const { output } = await shell.pane.run("printf '\\033[1m\\001\\377'", { format: "raw" });
    expect([...Buffer.from(output, "base64")]).toEqual([0x1b, 0x5b, 0x31, 0x6d, 1, 0xff]);
  });

  test("the end of the shell is reported", async () => {
    await using shell = await withShell(command);
    await expect(shell.pane.run("exit 3")).rejects.toMatchObject({ code: "NOT_FOUND" });
  });
});

test("a program in the foreground is refused, and nothing is typed into it", async () => {
  await using shell = await withShell(["cat"]);
  await expect(shell.pane.run("echo hi")).rejects.toMatchObject({ code: "INCONSISTENT_STATE", status: 409 });
  expect((await shell.pane.capture()).lines).toEqual([]);
});

test("a shell that becomes another program while it is waited for is refused, though it prints nothing", async () => {
  const directory = ownDirectory();
  const gate = join(directory, "gate");
  execFileSync("mkfifo", [gate]);
  await using shell = await withShell(["sh", "-c", `read go < ${gate}; exec cat`]);
  const response = shell.pane.run("echo hi").catch((error: unknown) => error);
  // It has been looked at by then.
  await shell.pane.capture();
  writeFileSync(gate, "go\n");
  expect(await response).toMatchObject({ code: "INCONSISTENT_STATE" });
});

test("a shell that marks its commands gets them as they are", async () => {
  const directory = ownDirectory();
  const rc = join(directory, "rc");
  writeFileSync(
    rc,
    [
      `PROMPT_COMMAND='printf "\\033]133;D;%s\\007\\033]133;A\\007" $?'`,
      `PS1='> \\[\\033]133;B\\007\\]'`,
      `PS0='\\033]133;C\\007'`,
    ].join("\n"),
  );
  await using shell = await withShell(["bash", "--noprofile", "--rcfile", rc]);
  await shell.pane.wait({ pattern: { literal: "> " }, from: "tail:100", timeoutMs: 10_000 });
  const response = await shell.pane.run("echo marked; (exit 5)");
  expect(response).toMatchObject({ method: "osc133", output: "marked\n", exitCode: 5, gaps: [] });
  // The mark of the end comes before the next prompt.
  const screen = async (): Promise<readonly string[]> => (await shell.pane.capture()).lines;
  await expect.poll(screen).toEqual(["> echo marked; (exit 5)", "marked", ">"]);
  // Several lines are one command only when they are quoted.
  expect(await shell.pane.run("echo one\necho two")).toMatchObject({
    method: "marker",
    output: "one\ntwo\n",
    exitCode: 0,
  });
});
