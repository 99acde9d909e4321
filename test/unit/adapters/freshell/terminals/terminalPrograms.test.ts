/** Which program a terminal runs, looked at before anything is made (§Terminals of docs/contracts/freshell.md). */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { directoryOf, programOf } from "../../../../../adapters/freshell/terminals/terminalPrograms.ts";
import type { TerminalMode } from "../../../../../protocol/api/freshell/freshellHttp.ts";
import { AGENTS } from "../../../../support/agents/agentCatalogue.ts";

const directory = mkdtempSync(join(tmpdir(), "tw-programs-"));
const program = join(directory, "bin/claude");
beforeAll(() => {
  mkdirSync(join(directory, "bin"));
  writeFileSync(program, "#!/bin/sh\n");
  chmodSync(program, 0o755);
  writeFileSync(join(directory, "bin/kimi"), "no program");
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const env = { PATH: `relative:${join(directory, "bin")}`, SHELL: "/bin/sh" };
const argv = (mode: TerminalMode, more: object = {}, daemonEnv: Record<string, string> = {}) =>
  programOf({ mode, shell: "system", resumeSessionId: undefined, ...more }, { env, daemonEnv, agents: AGENTS });

test("a shell: the system's, one by its path, one that the system knows", async () => {
  for (const shell of ["system", "cmd", "powershell", "wsl", "/bin/sh"]) {
    expect(await argv("shell", { shell })).toEqual(["/bin/sh", "-l"]);
  }
  expect((await argv("shell", { shell: "bash" }))[0]).toMatch(/\/bash$/);
  expect(
    await programOf(
      { mode: "shell", shell: "system", resumeSessionId: undefined },
      { env: { SHELL: "/no" }, daemonEnv: {}, agents: AGENTS },
    ),
  ).toEqual(["/bin/sh", "-l"]);
  for (const shell of ["/not/there", "claude", "../bin/sh", "/bin"])
    await expect(argv("shell", { shell })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
});

test("an agent: on PATH or as its variable says, with a session to go on with", async () => {
  expect(await argv("claude")).toEqual([program]);
  expect(await argv("claude", { resumeSessionId: "s-1" })).toEqual([program, "--resume", "s-1"]);
  expect(await argv("codex", { resumeSessionId: "s-1" }, { CODEX_CMD: program })).toEqual([program, "resume", "s-1"]);
  expect(await argv("gemini", {}, { GEMINI_CMD: "claude" })).toEqual([program]);
});

test.each<[TerminalMode, object, RegExp]>([
  ["opencode", {}, /OPENCODE_CMD/],
  ["kimi", {}, /KIMI_CMD/],
  ["shell", { resumeSessionId: "s" }, /claude and codex/],
  ["claude", { resumeSessionId: "--dangerous" }, /begins with -/],
])("%s %j is refused", async (mode, more, message) => {
  await expect(argv(mode, more)).rejects.toThrow(message);
});

test("a directory that is there", async () => {
  expect(await directoryOf(undefined, directory)).toBe(directory);
  expect(await directoryOf("~/bin", directory)).toBe(join(directory, "bin"));
  for (const cwd of ["bin", program, "/not/there", `/${"x".repeat(2_000)}`]) {
    await expect(directoryOf(cwd, directory)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  }
});
