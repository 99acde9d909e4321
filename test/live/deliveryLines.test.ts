/**
 * A prompt for a shell or a REPL is not typed behind what somebody has typed there, and an empty line is taken for one however
 * its prompt looks. Each test has a pane of its own and mostly waits for its program, so several run at a time.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { engines } from "../support/agents/deliveryScene.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type OwnedFixture, ownedFixture } from "../support/tmux/ownedFixture.ts";
import { SHELLS } from "../support/tmux/shells.ts";

let fixture: OwnedFixture;
beforeAll(async () => {
  fixture = await ownedFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const seen = (holds: () => boolean | Promise<boolean>): Promise<void> => eventually(holds, 20);
const dense = (text: string): string => text.replaceAll(" ", "");
let sessions = 0;

interface At {
  readonly files?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly cols?: number;
  readonly rows?: number;
}

/** @param shown what its first prompt ends with */
async function line(
  command: readonly string[],
  shown: string,
  { files = {}, environment = {}, cols = 80, rows = 24 }: At = {},
) {
  const { server } = fixture;
  const home = mkdtempSync(join(tmpdir(), "tmuxwire-line-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text);
  sessions += 1;
  const { activePane: pane } = await server.createSession({
    name: `line${sessions}`,
    command,
    cols,
    rows,
    cwd: home,
    environment: { HOME: home, ZDOTDIR: home, ...environment },
  });
  const on = engines();
  const screen = async (): Promise<string> => (await server.capture(pane!)).lines.join("");
  const row = async (): Promise<string> => {
    const { lines, cursor } = await server.capture(pane!);
    return `${lines.slice(0, cursor.row + 1).findLast((text) => text !== "") ?? ""} `;
  };
  const isReading = async (): Promise<boolean> => {
    const { processes } = await server.foreground(pane!);
    const text = dense(await row());
    return processes?.length === 1 && !text.includes("touch") && text.endsWith(dense(shown));
  };
  await seen(isReading);
  return {
    /** Until it reads again. */
    back: () => seen(isReading),
    screen,
    cursorRow: async () => (await server.capture(pane!)).cursor.row,
    there: (name: string): boolean => existsSync(join(home, name)),
    /** What a person types. */
    type: async (text: string): Promise<void> => {
      await server.input(pane!, [{ kind: "text", bytes: Buffer.from(text) }]);
      await seen(async () => dense(await screen()).includes(dense(text)));
    },
    /** Of one line, which its editor does not run in between. */
    several: async (lines: readonly string[]): Promise<void> => {
      for (const [index, text] of lines.entries()) {
        if (index > 0)
          await server.input(pane!, [{ kind: "keys", keys: command[0] === "bash" ? ["C-v", "C-j"] : ["M-Enter"] }]);
        if (text === "") continue;
        await server.input(pane!, [{ kind: "text", bytes: Buffer.from(text) }]);
        await seen(async () => dense(await screen()).includes(dense(text)));
      }
      await seen(async () => (await server.capture(pane!)).cursor.row === lines.length - 1);
    },
    keys: (...keys: string[]) => server.input(pane!, [{ kind: "keys", keys }]),
    input: (text: string) => server.input(pane!, [{ kind: "text", bytes: Buffer.from(text) }]),
    submit: (text: string, options: object = {}) =>
      on.delivery.submit({ server, pane: pane!, text, timeoutMs: 20_000, ...options }),
    [Symbol.dispose]: () => {
      expect(on.errors).toEqual([]);
      on[Symbol.dispose]();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

const NOT_EMPTY = { code: "WRONG_STATE", details: { reason: "box_not_empty" } };
const holding = (box: string): object => ({ ...NOT_EMPTY, details: { reason: "box_not_empty", box } });
const SIGN = { bash: "$", zsh: "%", fish: ">", dash: "$" };
/** A root's shell has another sign. */
const signOf = (name: keyof typeof SIGN): string => (process.getuid?.() === 0 ? "#" : SIGN[name]);

const BASHRC = (prompt: string): At => ({ files: { ".bashrc": prompt } });
const ZSHRC = (prompt: string): At => ({ files: { ".zshrc": prompt } });

/** dash has no line editor. */
const EDITED = SHELLS.filter(({ name }) => name !== "dash");

test.concurrent.each(EDITED)("$name: text behind the cursor is found, too", async ({ name, command }) => {
  using shell = await line(command, signOf(name));
  await shell.type("touch half");
  for (const key of ["C-a", "M-f"]) {
    await shell.keys(key);
    await expect(shell.submit("touch ours")).rejects.toMatchObject(NOT_EMPTY);
  }
  await shell.input("\r");
  await seen(() => shell.there("half"));
  expect(shell.there("ours")).toBe(false);
});

describe.concurrent.each(EDITED)("$name: a line of several lines", ({ name, command }) => {
  test.each([
    ["whose last one is empty", ["touch a", ""]],
    ["whose last ones are empty", ["touch a", "", ""]],
    ["at its end", ["touch a", "touch b"]],
  ])("%s is not run with the prompt, and stays", async (_case, lines) => {
    using shell = await line(command, signOf(name));
    await shell.several(lines);
    for (const again of [1, 2]) {
      const outcome = await shell.submit(`touch ours${again}`).catch((error: unknown) => error);
      expect(outcome).toMatchObject(NOT_EMPTY);
    }
    await shell.input("\r");
    const files = lines.filter((text) => text !== "").map((text) => text.slice("touch ".length));
    await seen(() => files.every(shell.there));
    for (const other of ["ours1", "ours2", "touch", "b"].filter((file) => !files.includes(file)))
      expect(shell.there(other)).toBe(false);
  });
});

describe.concurrent.each(EDITED)("$name: a line of several lines that is cleared for a prompt", ({ name, command }) => {
  // With bash's C-b one goes back over a line's end.
  const up = name === "bash" ? Array.from({ length: 8 }, () => "C-b") : ["Up"];
  const [top, middle] = [[...up, ...up], up];
  test.each([
    ["the cursor at its end", ["touch a", "touch b", "touch c"], []],
    ["an empty last line", ["touch a", ""], []],
    ["the cursor in its middle", ["touch a", "touch b", "touch c"], middle],
    ["the cursor in its first line", ["touch a", "touch b", "touch c"], top],
  ])("%s: all of it goes", async (_case, lines, keys) => {
    using shell = await line(command, signOf(name));
    await shell.several(lines);
    const from = await shell.cursorRow();
    await shell.keys(...keys);
    await seen(async () => keys.length === 0 || (await shell.cursorRow()) < from);
    await expect(shell.submit("touch ours", { clearFirst: true })).resolves.toMatchObject({ outcome: "submitted" });
    await seen(() => shell.there("ours"));
    await shell.back();
    expect(["a", "b", "c", "touch"].filter(shell.there)).toEqual([]);
  });

  test("what stands behind an empty first line is not run with a prompt, and stays", async () => {
    using shell = await line(command, signOf(name));
    await shell.several(["", "touch a"]);
    await shell.keys(...(name === "bash" ? ["C-a"] : ["Up", "C-a"]));
    await seen(async () => (await shell.cursorRow()) === 0);
    for (const again of [1, 2]) {
      const outcome = await shell.submit(`touch ours${again}`).catch((error: unknown) => error);
      expect(outcome).toMatchObject(NOT_EMPTY);
    }
    await shell.input("\r");
    await seen(() => shell.there("a"));
    expect(["ours1", "ours2", "touch"].filter(shell.there)).toEqual([]);
  });
});

test.concurrent.each([
  [40, { outcome: "submitted" }, []],
  [45, NOT_EMPTY, ["a"]],
])("zsh: of a line of %i lines no more than 41 are cleared", async (count, outcome, files) => {
  using shell = await line(["zsh"], "here", { ...ZSHRC("PROMPT='here '"), rows: 60 });
  await shell.several(["touch a", ...Array.from({ length: count - 1 }, () => "true")]);
  expect(await shell.submit("touch ours", { clearFirst: true }).catch((error: unknown) => error)).toMatchObject(
    outcome,
  );
  await shell.input("\r");
  await seen(() => shell.there(files[0] ?? "ours"));
  await shell.back();
  expect(["a", "ours"].filter(shell.there)).toEqual(files.length === 0 ? ["ours"] : files);
});

test.concurrent.each([
  ["bash", ["bash", "--rcfile", ".bashrc"], { files: { ".bashrc": "set -o vi; PS1='here '" } }],
  ["zsh", ["zsh"], { files: { ".zshrc": "bindkey -v; bindkey '^[^M' self-insert-unmeta; PROMPT='here '" } }],
] as const)("%s in vi's insert mode: what cannot be cleared stays as it was", async (name, command, at) => {
  using shell = await line(command, "here", at);
  await shell.several(["", "touch a"]);
  await shell.keys(...(name === "bash" ? Array.from({ length: 8 }, () => "Left") : ["Up", "Home"]));
  await seen(async () => (await shell.cursorRow()) === 0);
  const before = await shell.screen();
  const outcome = await shell.submit("touch ours", { clearFirst: true }).catch((error: unknown) => error);
  expect(outcome).toMatchObject(NOT_EMPTY);
  expect(await shell.screen()).toBe(before);
  await shell.input("\r");
  await seen(() => shell.there("a"));
  expect(shell.there("ours")).toBe(false);
});

test.concurrent.each(EDITED)(
  "$name: output that stands below the prompt is not its line",
  async ({ name, command }) => {
    using shell = await line(command, signOf(name));
    await shell.submit(String.raw`seq 20; printf '\033[5;1H'`);
    await seen(async () => (await shell.cursorRow()) === 4);
    await shell.back();
    await expect(shell.submit("touch ours")).resolves.toMatchObject({ outcome: "submitted" });
    await seen(() => shell.there("ours"));
  },
);

test.concurrent("a prompt of bash whose last row is empty takes a prompt", async () => {
  using shell = await line(["bash", "--rcfile", ".bashrc"], "here", BASHRC("PS1='here\n'"));
  await expect(shell.submit("touch ours")).resolves.toMatchObject({ outcome: "submitted" });
  await seen(() => shell.there("ours"));
});

test.concurrent("a prompt of zsh whose last row is empty takes a prompt", async () => {
  using shell = await line(["zsh"], "here", ZSHRC("PROMPT=$'here\n'"));
  await expect(shell.submit("touch ours")).resolves.toMatchObject({ outcome: "submitted" });
  await seen(() => shell.there("ours"));
});

describe.concurrent.each(SHELLS)("$name: what somebody has typed", ({ name, command }) => {
  test.each([
    ["a command", "touch half", ["half"]],
    ["a command that ends in a blank", "touch half ", ["half"]],
    ["what looks like a prompt", "touch odd; cat </dev/null >", ["odd"]],
    ["more than a row", `touch ${"a".repeat(60)} ${"b".repeat(60)}`, ["a".repeat(60)]],
    ["wide characters", "touch half 日本語テキスト", ["half"]],
  ])("%s is not run with the prompt, and stays", async (_case, text, files) => {
    using shell = await line(command, signOf(name));
    await shell.type(text);
    await expect(shell.submit("touch ours")).rejects.toMatchObject(NOT_EMPTY);
    // Whoever asks again gets the same, and the line stays as it is.
    await expect(shell.submit("touch ours")).rejects.toMatchObject({ code: "WRONG_STATE" });
    expect(dense(await shell.screen())).toContain(dense(text));
    await shell.input(text.endsWith(">") ? " rest\r" : "\r");
    for (const file of files) await seen(() => shell.there(file));
    expect(shell.there("ours")).toBe(false);
  });

  test("a prompt waits until it has gone", async () => {
    using shell = await line(command, signOf(name));
    await shell.type("touch half");
    let isHeld = false;
    const onStage = (stage: string): void => void (isHeld ||= stage === "held");
    const submitted = shell.submit("touch ours", { whileTyping: "wait", onStage });
    await seen(() => isHeld);
    expect(await shell.screen()).not.toContain("ours");
    await shell.keys("C-u");
    await expect(submitted).resolves.toMatchObject({ outcome: "submitted" });
    await seen(() => shell.there("ours"));
    expect(shell.there("half")).toBe(false);
  });

  test("a prompt that waits for it is withdrawn at once, also after a probe", async () => {
    using shell = await line(command, signOf(name));
    // What looks like a prompt is probed.
    await shell.type("touch odd; cat </dev/null >");
    const withdrawn = new AbortController();
    let isHeld = false;
    const onStage = (stage: string): void => void (isHeld ||= stage === "held");
    const submitted = shell.submit("touch ours", { whileTyping: "wait", onStage, withdrawn: withdrawn.signal });
    const outcome = submitted.catch((error: unknown) => error);
    await seen(() => isHeld);
    withdrawn.abort(new Error("withdrawn"));
    expect(await outcome).toMatchObject({ message: "withdrawn" });
    expect(dense(await shell.screen())).toContain(dense("touch odd; cat </dev/null >"));
    expect(shell.there("ours")).toBe(false);
  });

  test("it is cleared for a prompt that may", async () => {
    using shell = await line(command, signOf(name));
    await shell.type("touch half");
    await expect(shell.submit("touch ours", { clearFirst: true })).resolves.toMatchObject({ outcome: "submitted" });
    await seen(() => shell.there("ours"));
    expect(shell.there("half")).toBe(false);
  });
});
const FISH = (prompt: string, more = ""): readonly string[] => [
  "fish",
  "--no-config",
  "-C",
  `function fish_prompt; ${prompt}; end; ${more}`,
];
const isThere = (name: string): boolean => spawnSync(name, ["--version"]).status === 0;
const needs = (name: string): readonly unknown[] => (isThere(name) ? [] : [name]);

describe.concurrent("an empty line", () => {
  test.each([
    ["bash: no sign at its end", ["bash"], "x", BASHRC("PS1='\\W git:(main) x '")],
    ["bash: the directory at its end", ["bash"], "~", BASHRC("PS1='➜  \\W '")],
    ["bash: several signs", ["bash"], "main>", BASHRC("PS1='user % \\W > main> '")],
    ["bash: two rows", ["bash"], "╰─", BASHRC("PS1='╭─ \\u in \\W\\n╰─ '")],
    ["bash: only a mark and blanks", ["bash"], "❯", BASHRC("PS1='❯   '")],
    ["bash: a title and colours", ["bash"], "ok", BASHRC("PS1='\\[\\e]0;title\\a\\e[32m\\]ok\\[\\e[0m\\] '")],
    ["bash: the rest of a command's", ["bash"], ">", BASHRC("PS1='> '")],
    ["bash: vi", ["bash"], "here", BASHRC("set -o vi; bind 'set show-mode-in-prompt on'; PS1='here '")],
    ["bash: it takes several rows", ["bash"], "end", { ...BASHRC(`PS1='${"wide ".repeat(12)}end '`), cols: 20 }],
    ["bash: wide characters", ["bash"], "主", BASHRC("PS1='日本語 主 '")],
    ["bash: a narrow pane", ["bash"], "x", { ...BASHRC("PS1='dir x '"), cols: 12 }],
    ["bash: no blank at its end", ["bash"], "here", BASHRC("PS1='here'")],
    ["zsh: a right prompt", ["zsh"], "right", ZSHRC("PROMPT='%1~ x '; RPROMPT='right'")],
    [
      "zsh: a right prompt apart from the edge",
      ["zsh"],
      "right",
      ZSHRC("ZLE_RPROMPT_INDENT=7; PROMPT='%1~ x '; RPROMPT='right'"),
    ],
    [
      "zsh: a right prompt behind a sign",
      ["zsh"],
      "right",
      ZSHRC("ZLE_RPROMPT_INDENT=7; PROMPT='%1~ %# '; RPROMPT='right'"),
    ],
    ["zsh: two rows and vi", ["zsh"], "╰─", ZSHRC("bindkey -v; PROMPT=$'╭─ %1~\\n╰─ '")],
    [
      "zsh: it is drawn again each second",
      ["zsh"],
      "x",
      ZSHRC("PROMPT='%D{%H:%M:%S} x '; TMOUT=1; TRAPALRM() { zle reset-prompt }"),
    ],
    ["fish: its own", ["fish", "--no-config"], signOf("fish"), {}],
    ["fish: a right prompt", FISH("echo -n 'here '", "function fish_right_prompt; echo right; end"), "right", {}],
    ["dash: no sign at its end", ["dash"], "here", { environment: { PS1: "here " } }],
  ] as const)("%s", async (_case, command, shown, at) => {
    if (!isThere(command[0])) return expect(needs(command[0])).toEqual([command[0]]);
    using shell = await line(command, shown, at);
    for (const file of ["one", "two"]) {
      await expect(shell.submit(`touch ${file}`)).resolves.toMatchObject({ outcome: "submitted" });
      await seen(() => shell.there(file));
      await shell.back();
    }
  });
});

describe.concurrent("a REPL", () => {
  test.each([
    ["python3", ["python3", "-q"], ">>>", "open('half', 'w')", "open('ours', 'w').close()"],
    ["node", ["node"], ">", "fs.writeFileSync('half', '')", "fs.writeFileSync('ours', '')"],
    ["sqlite3", ["sqlite3"], "sqlite>", ".shell touch half", ".shell touch ours"],
  ])("%s: what somebody has typed is not run with the prompt, and stays", async (name, command, shown, text, ours) => {
    if (!isThere(name)) return expect(needs(name)).toEqual([name]);
    using repl = await line(command, shown);
    await repl.type(text);
    await expect(repl.submit(ours)).rejects.toMatchObject(holding(text));
    expect(dense(await repl.screen())).toContain(dense(text));
    await repl.input("\r");
    await seen(() => repl.there("half"));
    expect(repl.there("ours")).toBe(false);
    await expect(repl.submit(ours)).resolves.toMatchObject({ outcome: "submitted" });
    await seen(() => repl.there("ours"));
  });
});
