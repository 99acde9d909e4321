/** What a run leaves behind: the screen, its history and the shell's own history look as if a person had typed the command. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { type OwnedApi, ownedApi, type SessionOfApi } from "../support/daemon/ownedApi.ts";

const ONE_LINE = "me@host:~$ ";
const TWO_LINES = "┌ me@host:~\\n└ $ ";

let home: string;
let all: OwnedApi;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "tw-trace-"));
  mkdirSync(join(home, "zsh"));
  // Otherwise fish makes it in the background and fills it.
  mkdirSync(join(home, "fish/generated_completions/none"), { recursive: true });
  all = await ownedApi();
});
afterAll(async () => {
  await all[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

/** With these lines in its start-up file. */
function bash(lines: string): Promise<SessionOfApi> {
  writeFileSync(join(home, "rc"), lines);
  return all.session({ command: ["bash", "--rcfile", join(home, "rc")], cwd: home });
}

interface Shell {
  readonly name: string;
  readonly command: (prompt: string) => readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The command that shows the shell's history. */
  readonly history?: string;
}

const has = (program: string): boolean => {
  try {
    execFileSync("sh", ["-c", `command -v ${program}`]);
    return true;
  } catch {
    return false;
  }
};

const SHELLS: readonly Shell[] = [
  {
    name: "bash",
    command: (prompt) => {
      writeFileSync(join(home, "bashrc"), `PS1=$'${prompt}'\nunset HISTCONTROL HISTFILE\n`);
      return ["bash", "--rcfile", join(home, "bashrc")];
    },
    history: "history",
  },
  {
    name: "zsh",
    command: (prompt) => {
      writeFileSync(join(home, "zsh/.zshrc"), `PS1=$'${prompt}'\nsetopt hist_ignore_space\n`);
      return ["env", `ZDOTDIR=${join(home, "zsh")}`, "zsh"];
    },
    history: "fc -l 1",
  },
  {
    name: "fish",
    command: (prompt) => [
      "env",
      `XDG_CONFIG_HOME=${home}`,
      `XDG_DATA_HOME=${home}`,
      "fish",
      "-C",
      `function fish_prompt; printf '${prompt}'; end; function fish_greeting; end`,
    ],
  },
  { name: "dash", command: (prompt) => ["env", `PS1=${prompt.replaceAll("\\n", "\n")}`, "dash"] },
];

const GRID = SHELLS.flatMap((shell) =>
  [ONE_LINE, TWO_LINES].flatMap((prompt) => [20, 47, 80, 300].map((cols) => ({ shell, prompt, cols }))),
);

describe.each(SHELLS)("$name", ({ name, command, history }) => {
  const cases = GRID.filter(({ shell }) => shell.name === name);
  test
    .skipIf(!has(name))
    .each(cases.map(({ prompt, cols }) => [prompt === ONE_LINE ? "one" : "two", cols, prompt] as const))(
    "a prompt of %s lines, %i columns: nothing is left of the line that ran a command",
    async (_, cols, prompt) => {
      await using shell = await all.session({ command: command(prompt), cols });
      const { pane } = shell;
      const shown = async (): Promise<string[]> => (await pane.capture({ lines: 400, joined: true })).lines;
      const prompts = prompt.split("\\n");
      const last = prompts.at(-1)!;
      const expected: string[] = [];
      const type = (typed: string, ...output: string[]): void =>
        void expected.push(...prompts.slice(0, -1), last + typed, ...output);
      for (const [line, output, exitCode] of [
        ["printf 'one\\ntwo\\n'", "one\ntwo\n", 0],
        ["(exit 3)".replace("(exit 3)", name === "fish" ? "false" : "(exit 3)"), "", name === "fish" ? 1 : 3],
        [
          "echo 'it'\\''s a rather long command that takes more than one row in a narrow pane'".replace(
            "'\\''",
            name === "fish" ? "\\'" : "'\\''",
          ),
          "it's a rather long command that takes more than one row in a narrow pane\n",
          0,
        ],
        ["seq 1 9", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", 0],
        ["echo é, à", "é, à\n", 0],
        ['echo "$?"'.replace("$?", name === "fish" ? "$status" : "$?"), "0\n", 0],
      ] as const) {
        const result = await pane.run(line, { timeoutMs: 20_000 });
        expect([line, result.output, result.exitCode]).toEqual([line, output, exitCode]);
        type(line, ...output.split("\n").slice(0, -1));
      }
      type("");
      const lines = async (): Promise<string[]> => {
        const rows = (await shown()).map((each) => each.trimEnd());
        while (rows.at(-1) === "") rows.pop();
        // zsh clears the screen before its first prompt, which is in the first row: tmux keeps that row.
        while (rows[0] === "") rows.shift();
        return rows;
      };
      await eventually(async () => (await lines()).at(-1) === last.trimEnd());
      expect(await lines()).toEqual(expected.map((each) => each.trimEnd()));
      if (history !== undefined) {
        const { output } = await pane.run(history);
        expect(output).not.toContain("5151");
        expect(output).toContain("seq 1 9\n");
      }
    },
    60_000,
  );
});

describe("an editor that shows the line in another way", () => {
  test.each<[string, string]>([
    ["scrolls it sideways", "bind 'set horizontal-scroll-mode on'"],
    ["adds to what is typed", `bind '"i#": "i#-and-more"'`],
  ])("that %s: the command runs, and nothing above the prompt is erased", async (_, setting) => {
    await using shell = await bash(`PS1='$ '\n${setting}\n`);
    const { pane } = shell;
    for (const round of [1, 2, 3]) {
      // A row that erasing too far would take away.
      await pane.input([{ kind: "text", text: `echo above-${round}\r` }]);
      await pane.wait({ prompt: true, pattern: { literal: `above-${round}` }, from: "tail:200" });
      expect(await pane.run(`echo run-${round}; false`)).toMatchObject({ output: `run-${round}\n`, exitCode: 1 });
    }
    const { lines } = await pane.capture({ lines: 200, joined: true });
    for (const round of [1, 2, 3]) {
      expect(lines).toContain(`above-${round}`);
      expect(lines).toContain(`run-${round}`);
    }
  });
});

test.skipIf(!has("zsh")).each(["correct", "correct_all", "extended_glob"])(
  "zsh with %s: the line that runs a command is neither asked about nor taken for a pattern",
  async (option) => {
    mkdirSync(join(home, option), { recursive: true });
    writeFileSync(join(home, option, ".zshrc"), `PS1='$ '\nsetopt ${option}\n`);
    // Almost what the line and the command say.
    for (const name of ["tw", "test"]) writeFileSync(join(home, option, name), "");
    const command = ["env", `ZDOTDIR=${join(home, option)}`, "zsh"];
    await using shell = await all.session({ command, cwd: join(home, option) });
    const { pane } = shell;
    expect(await pane.run("(exit 3)", { timeoutMs: 10_000 })).toMatchObject({ output: "", exitCode: 3 });
    expect((await pane.run("mkdir tests; gti; ls -d tests", { timeoutMs: 10_000 })).output).toContain("\ntests\n");
    expect((await pane.run("echo ${(ok)parameters[(I)_tw*]}")).output).toBe("_tw _twc\n");
    const { lines } = await pane.capture({ lines: 400, joined: true });
    // The next prompt may not be there yet.
    expect(lines.filter((line) => line.startsWith("$ "))).toEqual([
      "$ (exit 3)",
      "$ mkdir tests; gti; ls -d tests",
      "$ echo ${(ok)parameters[(I)_tw*]}",
    ]);
  },
);

test.skipIf(!has("zsh"))("zsh without UTF-8 runs what it cannot show", async () => {
  const folder = join(home, "C");
  mkdirSync(folder);
  writeFileSync(join(folder, ".zshrc"), "PS1='$ '\n");
  // Of as many letters as the word has bytes.
  writeFileSync(join(folder, "tests"), "");
  await using shell = await all.session({ command: ["env", "LC_ALL=C", `ZDOTDIR=${folder}`, "zsh"], cwd: folder });
  expect(await shell.pane.run("echo é日", { timeoutMs: 20_000 })).toMatchObject({ output: "é日\n", exitCode: 0 });
});

test("a run that is given up before Enter leaves no line behind that somebody else could enter", async () => {
  await using shell = await bash("PS1='$ '\n");
  const { pane } = shell;
  await pane.run("true");
  for (let at = 0; at < 20; at += 1) {
    const giveUp = new AbortController();
    const options = { signal: giveUp.signal, timeoutMs: 10_000 };
    const run = pane.run(`echo given-up >> ${join(home, "ran")}`, options).catch(() => undefined);
    // Sometimes before the line is typed, sometimes while it is, sometimes behind it.
    await new Promise((resolve) => setTimeout(resolve, at));
    giveUp.abort();
    await run;
    // Whoever presses Enter now enters an empty line.
    await eventually(async () => /^\$ *$/.test((await pane.capture()).lines.findLast((line) => line !== "") ?? ""));
    await pane.keys(["Enter"]);
  }
  expect((await pane.run("echo fine")).output).toBe("fine\n");
});

test("what somebody types while a run is being typed is not executed with it", async () => {
  await using shell = await bash("PS1='$ '\n");
  const { pane } = shell;
  await pane.run("true");
  const outcomes: unknown[] = [];
  for (let at = 0; at < 20; at += 1) {
    const run = pane.run("echo ours", { timeoutMs: 10_000 }).then(
      ({ output }) => output,
      (error: unknown) => (error as { readonly code?: unknown }).code,
    );
    // At every moment from before the line is typed to behind its Enter.
    await new Promise((resolve) => setTimeout(resolve, at));
    all.owned.socket.tmux("send-keys", "-t", shell.session.activePane!, "-l", "touch theirs");
    outcomes.push(await run);
    await pane.keys(["C-u"]);
    await eventually(async () => /^\$ *$/.test((await pane.capture()).lines.findLast((line) => line !== "") ?? ""));
  }
  expect(outcomes.filter((outcome) => outcome !== "ours\n" && outcome !== "INCONSISTENT_STATE")).toEqual([]);
  expect((await pane.run("ls theirs 2>/dev/null; echo fine")).output).toBe("fine\n");
});
