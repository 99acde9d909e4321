/**
 * `run` types on the empty line of a shell's prompt and nowhere else: half-typed lines, slow starts, modes, programs. Each
 * test has a session of its own and mostly waits for a shell, so several run at a time;
 * `expect.poll` belongs to one test at a time.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { type OwnedApi, ownedApi } from "../support/daemon/ownedApi.ts";
import { SHELLS, shellsNamed } from "../support/tmux/shells.ts";

const COLS = 100;
/** Seldom enough that several tests can look. */
const seen = (holds: () => boolean | Promise<boolean>): Promise<void> => eventually(holds, 20);

let all: OwnedApi;
beforeAll(async () => {
  all = await ownedApi();
});
afterAll(() => all[Symbol.asyncDispose]());

async function withShell(command: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "tmuxwire-line-"));
  const shell = await all.session({ command, cols: COLS, rows: 30, cwd: directory, environment });
  const { pane, session } = shell;
  const screen = async (): Promise<readonly string[]> => (await pane.capture()).lines;
  return {
    pane,
    directory,
    clearHistory: () => all.owned.socket.tmux("clear-history", "-t", session.activePane!),
    screen,
    there: (name: string): boolean => existsSync(join(directory, name)),
    /** Types and waits until the screen holds all of it; blanks at the end of a row do not show. */
    type: async (text: string, shown = text): Promise<void> => {
      await pane.input([{ kind: "text", text }]);
      await seen(async () => dense((await screen()).join("")).includes(dense(shown)));
    },
    [Symbol.asyncDispose]: async () => {
      await shell[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const dense = (text: string): string => text.replaceAll(" ", "");

const refusal = async (run: Promise<unknown>): Promise<object> => {
  const outcome = await run.catch((error: unknown) => error);
  if (outcome instanceof Error) return outcome;
  throw new Error(`it ran: ${JSON.stringify(outcome)}`);
};

const NOT_EMPTY = { code: "INCONSISTENT_STATE", status: 409 };

describe.concurrent.each(SHELLS)("$name: a half-typed line", ({ name, command }) => {
  test.each([
    ["a command", "touch half", ["half"]],
    ["what looks like a prompt", "touch odd; cat </dev/null > ", ["odd"]],
    ["more than a row", `touch ${"a".repeat(60)} ${"b".repeat(60)}`, ["a".repeat(60)]],
    ["wide characters", "touch half 日本語テキスト", ["half"]],
  ])("%s is refused, reported and left unchanged", async (_case, line, files) => {
    await using shell = await withShell(command);
    expect((await shell.pane.run("echo warm")).output).toBe("warm\n");
    await shell.type(line);
    const error = await refusal(shell.pane.run("touch ours"));
    expect(error).toMatchObject(NOT_EMPTY);
    // fish shows more than was typed, in grey.
    if (name !== "fish") expect(error).toMatchObject({ details: { line: line.trimEnd() } });
    await seen(async () => dense((await shell.screen()).join("")).includes(dense(line)));
    for (const file of [...files, "ours", "printf"]) expect(shell.there(file)).toBe(false);
    // It is the person's to send.
    await shell.pane.input([{ kind: "text", text: line.endsWith("> ") ? "rest\r" : "\r" }]);
    for (const file of files) await seen(() => shell.there(file));
    // Its last command may still be in the foreground: the files are there before it ends.
    const after = async () => await shell.pane.run("echo after", { timeoutMs: 15_000 }).catch(() => undefined);
    await seen(async () => {
      const ran = await after();
      if (ran !== undefined) expect(ran).toMatchObject({ output: "after\n", exitCode: 0 });
      return ran !== undefined;
    });
  });

  test("without a command of ours before it", async () => {
    await using shell = await withShell(command);
    await seen(async () => (await shell.screen()).length > 0);
    await shell.type("touch half");
    expect(await refusal(shell.pane.run("touch ours"))).toMatchObject(NOT_EMPTY);
    await shell.pane.input([{ kind: "text", text: "\r" }]);
    await seen(() => shell.there("half"));
    expect(shell.there("ours")).toBe(false);
  });

  test("an incomplete command is not mixed with ours", async () => {
    await using shell = await withShell(command);
    expect((await shell.pane.run("echo warm")).output).toBe("warm\n");
    await shell.type("echo 'open\r", "open");
    expect(await refusal(shell.pane.run("touch ours; echo x'y", { timeoutMs: 2_000 }))).toMatchObject({
      code: expect.stringMatching(/INCONSISTENT_STATE|WRONG_STATE/) as string,
    });
    expect(shell.there("ours")).toBe(false);
    await shell.pane.keys(["C-c"]);
    await seen(async () => (await shell.pane.run("echo free").catch(() => ({ output: "" }))).output === "free\n");
  });
});

test.concurrent("a shell without an editor: what was typed before its prompt came is given back as it was", async () => {
  await using shell = await withShell(["dash"]);
  await shell.pane.run("mkfifo gate");
  await shell.pane.input([{ kind: "text", text: "read go < gate\r" }]);
  await shell.type("touch ahead");
  writeFileSync(join(shell.directory, "gate"), "go\n");
  await seen(async () => /touch ahead[#$] $/.test(`${(await shell.screen()).join("")} `));
  expect(await refusal(shell.pane.run("touch ours"))).toMatchObject({ ...NOT_EMPTY, details: { line: "touch ahead" } });
  await shell.pane.input([{ kind: "text", text: "\r" }]);
  await seen(() => shell.there("ahead"));
  expect(shell.there("ours")).toBe(false);
});

const ASKED = "read -rn1 -p 'Delete all? [y/N] ' answer; echo got-$answer.; exec sleep 600";
test.concurrent.each<[string, readonly string[], readonly string[], string]>([
  ["readline's, whether to show all completions", ["bash", "--norc"], ["Tab", "Tab"], "(y or n)"],
  ["a script's, of its first key", ["bash", "-c", ASKED], [], "[y/N] "],
])("a question is not answered by the probe: %s", async (_case, command, keys, end) => {
  await using shell = await withShell(command);
  // readline loses keys that come before it reads.
  if (keys.length > 0) await shell.pane.run("true");
  await shell.pane.keys([...keys]);
  await seen(async () => (await shell.screen()).join("\n").includes(end.trim()));
  const before = await shell.screen();
  expect(await refusal(shell.pane.run("touch ours"))).toMatchObject({
    code: "INCONSISTENT_STATE",
    message: expect.stringContaining("a question is open") as string,
  });
  expect(await shell.screen()).toEqual(before);
  expect(shell.there("ours")).toBe(false);
});

/** Half a second of work in front of the prompt, all of it the shell's own. */
const SLOW_PROMPT = {
  bash: "PROMPT_COMMAND='for ((i=0;i<100000;i++)); do :; done'",
  zsh: "precmd() { for ((i=0;i<500000;i++)); do :; done }",
  fish: "function slow --on-event fish_prompt; for i in (seq 100000); end; end",
  dash: "",
};

describe.concurrent.each(shellsNamed("bash", "zsh", "fish"))("$name: the editor's states", ({ name, command }) => {
  test.each([
    ["at its end", `touch 'a ${"a".repeat(120)}'\ntouch "b \n c"`],
    ["in its first line", "touch a\ntouch b"],
    ["in an empty first line", "\ntouch b"],
    ["taller than the screen", `${"true\n".repeat(40)}touch b`],
  ])("a line of several lines stays, %s", async (at, line) => {
    await using shell = await withShell(command);
    expect((await shell.pane.run("echo warm")).output).toBe("warm\n");
    const lines = line.split("\n");
    for (const [index, part] of lines.entries()) {
      if (index > 0) await shell.pane.keys(name === "bash" ? ["C-v", "C-j"] : ["M-Enter"]);
      if (part !== "") await shell.pane.input([{ kind: "text", text: part }]);
    }
    // fish does not draw the last line of one that is taller than the screen.
    const isDrawn = name !== "fish" || lines.length < 30;
    const isAt = (part: string) => async (): Promise<boolean> => {
      const { cursor, lines: rows } = await shell.pane.capture();
      return rows[cursor.row]?.slice(0, cursor.col).endsWith(part) === true;
    };
    if (isDrawn) await seen(isAt(lines.at(-1)!));
    // bash's cursor goes to another row by its columns alone.
    if (at === "in its first line" && name !== "bash") {
      await shell.pane.keys(["Up"]);
      await seen(isAt(lines[0]!));
    }
    if (at === "in an empty first line") {
      const { cursor } = await shell.pane.capture();
      await shell.pane.keys([name === "bash" ? "C-a" : "Up"]);
      await seen(async () => (await shell.pane.capture()).cursor.row === cursor.row - 1);
    }
    const before = await shell.screen();
    expect(await refusal(shell.pane.run("touch ours", { timeoutMs: 2_000 }))).toMatchObject(
      isDrawn ? NOT_EMPTY : { code: "WRONG_STATE" },
    );
    if (isDrawn) await seen(async () => (await shell.screen()).join("\n") === before.join("\n"));
    await shell.pane.input([{ kind: "text", text: "\r" }]);
    const files = [...line.matchAll(/touch (?:(['"])(.*?)\1|(\w+))/gs)].map((match) => match[2] ?? match[3]!);
    await seen(() => files.every(shell.there));
    expect(readdirSync(shell.directory).filter((file) => !file.startsWith("."))).toEqual(files.toSorted());
  });

  test("text behind the cursor is part of the line", async () => {
    await using shell = await withShell(command);
    await shell.pane.run("true");
    await shell.type("touch half");
    await shell.pane.keys(["C-a"]);
    expect(await refusal(shell.pane.run("touch ours"))).toMatchObject(NOT_EMPTY);
    expect(shell.there("ours") || shell.there("half")).toBe(false);
    await shell.pane.input([{ kind: "text", text: "\r" }]);
    await seen(() => shell.there("half"));
  });

  test("text on both sides of the cursor, with a prompt on the right, is part of the line", async () => {
    await using shell = await withShell(command);
    if (name === "zsh") await shell.pane.run("RPROMPT=right");
    await shell.pane.run("true");
    await shell.type("touch half more");
    // The cursor is on the blank behind the first word, or in that word.
    await shell.pane.keys(["C-a", "M-f", "C-b"]);
    expect(await refusal(shell.pane.run("touch ours"))).toMatchObject(NOT_EMPTY);
    await shell.pane.input([{ kind: "text", text: "\r" }]);
    await seen(() => shell.there("half") && shell.there("more"));
    expect(shell.there("ours")).toBe(false);
  });

  test("a search through the history is not typed into", async () => {
    await using shell = await withShell(command);
    await shell.pane.run("true");
    await shell.pane.input([{ kind: "text", text: "touch found_it\r" }]);
    await seen(() => shell.there("found_it"));
    rmSync(join(shell.directory, "found_it"));
    // A run ends before its shell reads again. Until then, the terminal takes a C-r for its own (VREPRINT, termios(3)).
    await shell.pane.run(SLOW_PROMPT[name]);
    await shell.pane.run("true");
    await seen(async () => /[%#$>]$/.test((await shell.screen()).at(-1)?.trimEnd() ?? ""));
    await shell.pane.input([{ kind: "text", text: "\u0012found" }]);
    await seen(async () => /search[^]*found|found[^]*search/.test((await shell.screen()).join("\n")));
    expect(await refusal(shell.pane.run("touch ours"))).toMatchObject({ code: "INCONSISTENT_STATE" });
    expect(shell.there("ours") || shell.there("found_it")).toBe(false);
  });

  // fish has bindings of its own in each of its vi modes.
  if (name === "fish") return;
  test("vi: insert mode runs, and so does bash's command mode; zsh's is told", async () => {
    await using shell = await withShell(command);
    await shell.pane.run(name === "zsh" ? "bindkey -v" : "set -o vi");
    expect((await shell.pane.run("echo insert")).output).toBe("insert\n");
    await shell.type("touch half");
    expect(await refusal(shell.pane.run("touch ours"))).toMatchObject(NOT_EMPTY);
    await shell.pane.keys(["C-u", "Escape"]);
    // An escape is one when nothing has followed it for a while; no output tells of it.
    await delay(600);
    const run = shell.pane.run("touch ours; echo v:q#i", { timeoutMs: name === "zsh" ? 1_000 : 10_000 });
    // zsh is left in a little editor of its own; bash, whose command line our `i` has opened, is where it was.
    if (name === "zsh") expect(await refusal(run)).toBeInstanceOf(Error);
    else expect((await run).output).toBe("v:q#i\n");
    expect(shell.there("ours")).toBe(name !== "zsh");
  });
});

const SLOW = [
  { name: "bash", file: "rc", command: (rc: string) => ["bash", "--noprofile", "--rcfile", rc], variable: "" },
  { name: "zsh", file: ".zshrc", command: () => ["zsh", "-d"], variable: "ZDOTDIR" },
  { name: "dash", file: "rc", command: () => ["dash", "-i"], variable: "ENV" },
  { name: "fish", file: "rc", command: (rc: string) => ["fish", "--no-config", "-C", `source ${rc}`], variable: "" },
].filter(({ name }) => SHELLS.some((shell) => shell.name === name));

describe.concurrent.each(SLOW)("$name: a slow start", ({ file, command, variable }) => {
  async function starting(lines: string) {
    const directory = mkdtempSync(join(tmpdir(), "tmuxwire-rc-"));
    const rc = join(directory, file);
    writeFileSync(rc, lines);
    const value = variable === "ZDOTDIR" ? directory : rc;
    return { directory, started: await withShell(command(rc), variable === "" ? {} : { [variable]: value }) };
  }

  test.each([
    ["in silence", "sleep 2\n"],
    ["with a word", "printf 'Loading... '\nsleep 2\nprintf '\\n'\n"],
  ])("%s is waited for", async (_case, lines) => {
    const { directory, started } = await starting(`${lines}touch started\n`);
    await using shell = started;
    const response = await shell.pane.run("ls started; echo $0", { timeoutMs: 20_000 });
    expect(response.output).toMatch(/^started\n/);
    // Its start-up had ended before anything was typed: the whole of what was typed stands behind a prompt.
    expect((await shell.screen()).join("").split("ls started")).toHaveLength(2);
    rmSync(directory, { recursive: true });
  });

  test("a start-up that does not end is a separate error, and nothing is typed", async () => {
    const { directory, started } = await starting("sleep 30\n");
    await using shell = started;
    expect(await refusal(shell.pane.run("echo blind", { timeoutMs: 1_500 }))).toMatchObject({
      code: expect.stringMatching(/WRONG_STATE|INCONSISTENT_STATE/) as string,
    });
    expect(await shell.screen()).toEqual([]);
    rmSync(directory, { recursive: true });
  });
});

describe.concurrent("prompts of many kinds", () => {
  test.each([
    ["two lines and a clock", "PS1='[\\t \\w]\\n\\$ '"],
    ["no sign at its end", "PS1='\\W git:(main) x '"],
    ["the sign of a continuation", "PS1='> '"],
    ["wide characters", "PS1='日本 ❯ '"],
  ])("bash: %s", async (_case, prompt) => {
    await using shell = await withShell(["bash", "--norc", "--noprofile"]);
    await shell.pane.run(prompt);
    for (let round = 0; round < 3; round += 1) expect((await shell.pane.run("echo here")).output).toBe("here\n");
    await shell.type("touch half");
    expect(await refusal(shell.pane.run("touch ours"))).toMatchObject(NOT_EMPTY);
    expect(shell.there("ours") || shell.there("half")).toBe(false);
    await shell.pane.input([{ kind: "text", text: "\r" }]);
    await seen(() => shell.there("half"));
  });

  test.runIf(shellsNamed("zsh").length > 0)(
    "zsh: a prompt on the right, and a suggestion behind the cursor",
    async () => {
      await using shell = await withShell(["zsh", "-f"]);
      await shell.pane.run("PROMPT='%1~ x '; RPROMPT='%T right'");
      for (let round = 0; round < 3; round += 1) expect((await shell.pane.run("echo here")).output).toBe("here\n");
      // As zsh-autosuggestions does it: POSTDISPLAY behind what was typed.
      await shell.pane.run(
        "suggest() { [[ -n $BUFFER ]] && POSTDISPLAY='ggested'; }; zle -N zle-line-pre-redraw suggest",
      );
      expect((await shell.pane.run("echo here")).output).toBe("here\n");
      await shell.type("touch su", "suggested");
      expect(await refusal(shell.pane.run("touch ours"))).toMatchObject(NOT_EMPTY);
      await shell.pane.input([{ kind: "text", text: "\r" }]);
      await seen(() => shell.there("su"));
      expect(shell.there("ours")).toBe(false);
    },
  );
});

describe.concurrent("other programs that read the terminal", () => {
  test("bash: a read and a script", async () => {
    await using shell = await withShell(["bash", "--norc", "--noprofile"]);
    await shell.pane.run("true");
    await shell.type("read -p 'Name: ' word; echo got=$word.\r", "\nName:".trim());
    expect(await refusal(shell.pane.run("touch ours", { timeoutMs: 700 }))).toMatchObject({ code: "WRONG_STATE" });
    await shell.type("me\r", "got=me.");
    writeFileSync(join(shell.directory, "script"), 'echo up; read line; echo "got=$line."\n');
    await shell.type("bash ./script\r", "up");
    expect(await refusal(shell.pane.run("touch ours", { timeoutMs: 700 }))).toMatchObject({ code: "WRONG_STATE" });
    await shell.type("you\r", "got=you.");
    expect(shell.there("ours")).toBe(false);
    expect((await shell.pane.run("echo free")).output).toBe("free\n");
  });
});

describe.concurrent("what a line carries", () => {
  test.each(SHELLS)("$name: NUL is refused and nothing is typed", async ({ command }) => {
    await using shell = await withShell(command);
    await shell.pane.run("true");
    expect(await refusal(shell.pane.run("touch cut\0-not"))).toMatchObject({ code: "INVALID_ARGUMENT", status: 400 });
    expect((await shell.screen()).join("")).not.toContain("cut");
    expect(shell.there("cut")).toBe(false);
  });

  test.each(shellsNamed("bash", "zsh", "fish"))(
    "$name: tabs, escapes and C1 arrive as they are",
    async ({ command }) => {
      await using shell = await withShell(command);
      const odd = "a\tb\u001b[c\u0003d\u007fe\u0085f";
      expect((await shell.pane.run(`printf %s '${odd}' > odd`)).exitCode).toBe(0);
      expect(readFileSync(join(shell.directory, "odd"), "utf8")).toBe(odd);
    },
  );

  test("a shell with marks gets no keys among the characters", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tmuxwire-rc-"));
    const rc = join(directory, "rc");
    const marks = `PROMPT_COMMAND='printf "\\033]133;D;%s\\007\\033]133;A\\007" $?'\nPS1='\\$ \\[\\033]133;B\\007\\]'\nPS0='\\033]133;C\\007'\n`;
    writeFileSync(rc, marks);
    await using shell = await withShell(["bash", "--noprofile", "--rcfile", rc]);
    expect(await shell.pane.run("echo plain")).toMatchObject({ method: "osc133", output: "plain\n" });
    expect(await shell.pane.run("printf %s 'a\tb' > tab; echo tab")).toMatchObject({
      method: "marker",
      output: "tab\n",
    });
    expect(readFileSync(join(shell.directory, "tab"), "utf8")).toBe("a\tb");
    rmSync(directory, { recursive: true });
  });
});

/** Reads the screen as any program can, and prints every end mark that it can make of it. */
const FORGER = `
const { execFileSync } = require("node:child_process");
const text = execFileSync("tmux", ["capture-pane", "-pJS", "-", "-t", process.env.TMUX_PANE], { encoding: "utf8" });
const ps = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
const nonces = [...(text + ps).matchAll(/5151;([0-9A-Za-z]+);D/g)].map((found) => found[1]);
for (const nonce of new Set(nonces))
  for (const tail of ["0", "0;", "0;0", "0;" + nonce]) process.stdout.write("\\x1b]5151;" + nonce + ";D;" + tail + "\\x07");
process.stdout.write(nonces.length > 0 ? "forged\\n" : "blind\\n");
process.exit(9);
`;

test.concurrent.each(SHELLS)(
  "$name: a program that reads the screen cannot end the command for us",
  async ({ name, command }) => {
    await using shell = await withShell(command);
    writeFileSync(join(shell.directory, "forger.cjs"), FORGER);
    const forger = `${process.execPath} ./forger.cjs`;
    // Where our line stays on the screen, and where it has removed itself.
    const shown = await shell.pane.run(name === "dash" ? `true\n${forger}` : `${forger}\t`, { timeoutMs: 20_000 });
    expect(shown.output).toContain("forged");
    expect(shown).toMatchObject({ exitCode: 9, method: "marker" });
    await shell.pane.run("clear");
    shell.clearHistory();
    const removed = await shell.pane.run(forger, { timeoutMs: 20_000 });
    expect(removed).toMatchObject({ output: "blind\n", exitCode: 9, method: "marker" });
  },
);
