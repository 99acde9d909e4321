import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COMMANDS } from "../../../../adapters/commands/commandTable.ts";
import { completionScript, SHELLS } from "../../../../adapters/cli/completions.ts";
import { completionsCommand } from "../../../../adapters/commands/programs/completionsCommand.ts";
import { freshellProgram } from "../../../../adapters/freshell/cli/freshellProgram.ts";
import { inProcessCli } from "../../../support/daemon/cliOutput.ts";

const PROGRAM = { name: "tmuxwire", commands: COMMANDS };

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "tw-completions-"));
  writeFileSync(join(directory, "tmuxwire.bash"), completionScript("bash", PROGRAM));
  writeFileSync(join(directory, "some file"), "");
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** What bash offers for a line whose last word is being typed. */
function bash(...words: string[]): string[] {
  const script = `. ./tmuxwire.bash; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _tmuxwire; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync("bash", ["--norc", "-c", script, "bash", ...words], {
    cwd: directory,
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout.split("\n").filter((line) => line !== "");
}

describe("bash", () => {
  test("the script is bash", () => {
    const { status, stderr } = spawnSync("bash", ["-n", join(directory, "tmuxwire.bash")], { encoding: "utf8" });
    expect([status, stderr]).toEqual([0, ""]);
  });

  test("registers itself", () => {
    const script = ". ./tmuxwire.bash; complete -p tmuxwire";
    const { stdout } = spawnSync("bash", ["--norc", "-c", script], { cwd: directory, encoding: "utf8" });
    expect(stdout).toBe("complete -F _tmuxwire tmuxwire\n");
  });

  test("every command, and help", () => {
    expect(bash("tmuxwire", "")).toEqual(expect.arrayContaining([...COMMANDS.map(({ name }) => name), "help"]));
    expect(bash("tmuxwire", "ser")).toEqual(["serve", "servers", "service"]);
    expect(bash("tmuxwire", "help", "tr")).toEqual(["tree", "trust"]);
  });

  test.each(COMMANDS.map((command) => [command.name, command] as const))("every option of %s", (name, command) => {
    expect(bash("tmuxwire", name, "--")).toEqual([...command.options.map((option) => `--${option.name}`), "--help"]);
  });

  test("the values of arguments and options that are known", () => {
    expect(bash("tmuxwire", "service", "")).toEqual(["install", "uninstall", "status"]);
    expect(bash("tmuxwire", "completions", "z")).toEqual(["zsh"]);
    expect(bash("tmuxwire", "serve", "--only", "")).toEqual("addin native team dashboard freshell nats".split(" "));
    expect(bash("tmuxwire", "follow", "work", "--from", "s")).toEqual(["snapshot"]);
  });

  test("files where a path is wanted, and nothing where any text would do", () => {
    expect(bash("tmuxwire", "serve", "--socket", "some")).toEqual(["some file"]);
    expect(bash("tmuxwire", "panes", "--server", "")).toEqual([]);
    expect(bash("tmuxwire", "wait", "work", "--ready", "")).toEqual([]);
    expect(bash("tmuxwire", "nonsense", "")).toEqual([]);
  });
});

describe("names that the daemon knows", () => {
  const NAMES = ["work", "web", "%5", "$(touch pwned)", "a b", "`touch pwned`", "*"];
  beforeAll(() => {
    mkdirSync(join(directory, "bin"));
    const lines = NAMES.map((name) => `printf '%s\\n' '${name}'`).join("\n");
    writeFileSync(join(directory, "bin", "tmuxwire"), `#!/bin/sh\n[ "$1" = names ] || exit 1\n${lines}\n`, {
      mode: 0o755,
    });
  });
  const offered = (...words: string[]): string[] => {
    const script = `PATH="$PWD/bin:$PATH"; . ./tmuxwire.bash; COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _tmuxwire; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script, "bash", ...words], {
      cwd: directory,
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    return stdout.split("\n").filter((line) => line !== "");
  };

  test("are offered where one is wanted, and only there", () => {
    expect(offered("tmuxwire", "run", "w")).toEqual(["work", "web"]);
    expect(offered("tmuxwire", "run", "--raw", "w")).toEqual(["work", "web"]);
    expect(offered("tmuxwire", "run", "work", "w")).toEqual([]);
    expect(offered("tmuxwire", "swap-pane", "work", "%")).toEqual(["%5"]);
    expect(offered("tmuxwire", "pane", "we")).toEqual(["web"]);
    expect(offered("tmuxwire", "ls", "--server", "w")).toEqual(["work", "web"]);
    expect(offered("tmuxwire", "config", "w")).toEqual([]);
  });

  test("are words and nothing else to the shell", () => {
    offered("tmuxwire", "attach", "");
    expect(existsSync(join(directory, "pwned"))).toBe(false);
  });

  test("that a shell would read otherwise are not printed at all", async () => {
    const sessions = NAMES.map((name) => ({ id: "$1", name }));
    const fetched = async () => Response.json({ sessions });
    const real = globalThis.fetch;
    globalThis.fetch = fetched;
    try {
      const home = { homeDir: directory, env: { TMUXWIRE_URL: "http://127.0.0.1:1" } };
      expect((await inProcessCli(["names", "session"], home)).out).toBe("work\nweb\n%5\n");
      globalThis.fetch = () => Promise.reject(new Error("nobody listens"));
      expect(await inProcessCli(["names", "session"], home)).toEqual({ code: 0, out: "", err: "" });
    } finally {
      globalThis.fetch = real;
    }
  });
});

describe.each(["zsh", "fish"] as const)("%s", (shell) => {
  const script = completionScript(shell, PROGRAM);

  test("knows every command and option", () => {
    for (const command of COMMANDS) {
      expect(script).toContain(command.name);
      for (const { name } of command.options) expect(script).toContain(shell === "fish" ? `-l ${name}` : `--${name}`);
    }
  });

  test("closes every quote", () => {
    const odd = script
      .split("\n")
      .filter((line) => !line.startsWith("#"))
      .filter((line) => line.replaceAll("'\\''", "").split("'").length % 2 === 0);
    expect(odd).toEqual([]);
  });
});

test.each(SHELLS)("the script of another program for %s is its own", (shell) => {
  const { name, commands } = freshellProgram(() => "", [completionsCommand("freshell")]);
  const script = completionScript(shell, { name, commands });
  expect(script).not.toContain("tmuxwire");
  for (const command of commands) expect(script).toContain(command.name);
  if (shell === "bash") expect(spawnSync("bash", ["-n"], { input: script, encoding: "utf8" }).stderr).toBe("");
});

test("the command prints the script for each shell, and refuses others", async () => {
  for (const shell of SHELLS) {
    expect(await inProcessCli(["completions", shell])).toEqual({
      code: 0,
      out: completionScript(shell, PROGRAM),
      err: "",
    });
  }
  expect((await inProcessCli(["completions", "tcsh"])).code).toBe(2);
});
