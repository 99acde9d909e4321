/**
 * The completion scripts in the shells they are for: typed at a prompt in a terminal, Tab pressed, and what then stands on
 * the screen compared. A shell that is not installed is told about and skipped.
 */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../adapters/commands/commandTable.ts";
import { SHELLS } from "../../adapters/cli/completions.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { ShellPrompt } from "../support/agents/shellPrompt.ts";

const installed = SHELLS.filter((shell) => spawnSync(shell, ["--version"]).status === 0);
for (const shell of SHELLS) {
  if (!installed.includes(shell)) process.stderr.write(`${shell} is not installed: its completions are not tried\n`);
}

describe.each(installed)("%s", (shell) => {
  test("completes commands, options, their values and files", async () => {
    await using fixture = await ownedFixture();
    const prompt = await ShellPrompt.open(fixture, shell);
    for (const [typed, wanted] of [
      ["tru", "trust"],
      ["service unin", "service uninstall"],
      ["completions z", "completions zsh"],
      ["help trus", "help trust"],
      ["follow work --no-r", "follow work --no-resume"],
      ["serve --log-level err", "serve --log-level error"],
      ["follow work --from sn", "follow work --from snapshot"],
      ["serve --socket only-f", "serve --socket only-file"],
      ["serve --token-file only-d", "serve --token-file only-directory/"],
    ] as const) {
      expect(await prompt.completed(typed, wanted)).toBe(wanted);
    }
  });

  test("completes names of servers on other machines, and of these", async () => {
    await using fixture = await ownedFixture();
    const servers = await ShellPrompt.open(fixture, shell, ["nearby", "main@build", "main@gpu"]);
    for (const [typed, wanted] of [
      ["ls --server ne", "ls --server nearby"],
      ["ls --server main@b", "ls --server main@build"],
      ["ls --server ma", "ls --server main@"],
      ["tell main@g", "tell main@gpu"],
      ["hosts rm ne", "hosts rm nearby"],
    ] as const) {
      expect(await servers.completed(typed, wanted)).toBe(wanted);
    }
    expect(
      await servers.notOffered("ls --server main@", shell === "bash" ? ["@build", "@gpu"] : ["main@build"]),
    ).toEqual([]);
  });

  test("offers every command and every option", async () => {
    await using fixture = await ownedFixture();
    const prompt = await ShellPrompt.open(fixture, shell);
    expect(await prompt.notOffered("", [...COMMANDS.map(({ name }) => name), "help"])).toEqual([]);
    for (const { name, options } of COMMANDS) {
      // What is alone is not listed, it is put in.
      if (options.length === 0) expect(await prompt.completed(`${name} --`, `${name} --help`)).toBe(`${name} --help`);
      else {
        const wanted = [...options.map((option) => `--${option.name}`), "--help"];
        expect({ name, missing: await prompt.notOffered(`${name} --`, wanted) }).toEqual({ name, missing: [] });
      }
    }
  });
});
