/** What a screen tells of the text on a shell's or a REPL's line: `undefined` where only a probe would tell. */
import { expect, test } from "vitest";
import { PromptSigns } from "../../../../daemon/panes/vt/promptSigns.ts";
import { typedLine } from "../../../../daemon/shell/typedLine.ts";
import type { Capture } from "../../../../daemon/tmux/io.ts";
import { MemorySource } from "../../../support/daemon/memorySource.ts";

/** One row, its cursor at `|`. */
function at(row: string, more: Partial<Capture> = {}): Capture {
  const col = row.indexOf("|");
  const lines = [row.slice(0, col) + row.slice(col + 1)];
  return { lines, cursor: { row: 0, col }, cols: 40, rows: 24, alternateScreen: false, ...more } as Capture;
}

function signs({ empty, output = "" }: { readonly empty?: string; readonly output?: string } = {}): PromptSigns {
  const source = new MemorySource();
  const found = new PromptSigns(source);
  if (empty !== undefined) found.emptyRow = `${empty}\n`;
  source.write(output);
  found.readOn();
  return found;
}

test.each<[string, string, string, string | undefined]>([
  ["a prompt's sign", "bash", "user@host:~$ |", ""],
  ["text behind a sign", "bash", "user@host:~$ rm -rf |", undefined],
  ["text that ends in a sign", "bash", "user@host:~$ cat >|", undefined],
  ["text behind the cursor", "-zsh", "host% |rm -rf x", "rm -rf x"],
  ["text around the cursor", "fish", "~> rm| -rf x", "~> rm -rf x"],
  ["a right prompt", "zsh", "host% |                           12:30", ""],
  ["a right prompt apart from the edge", "zsh", "~ x |          12:30", ""],
  [
    "text before a right prompt",
    "zsh",
    "host% rm| -rf                     12:30",
    "host% rm -rf                     12:30",
  ],
  ["a search through the history", "bash", "(reverse-i-search)`rm': rm -rf|", "(reverse-i-search)`rm': rm -rf"],
  ["text in front of a right prompt", "zsh", "host% rm|                           12:30", undefined],
  ["text that leaves a right prompt one blank", "zsh", `host% ${"x".repeat(27)}| 12:30`, undefined],
  ["a row that is no known prompt", "bash", "→ here |", undefined],
  ["text behind a blank in Python", "python3", ">>> | x", "x"],
  ["Python's prompt", "python3.11", ">>> |", ""],
  ["an indented line of Python", "python3", "...     |", ""],
  ["text in Python", "python3", ">>> del|", undefined],
  ["text behind the cursor in Python", "python3", ">>> del| x", "del x"],
  ["text in SQLite", "sqlite3", "sqlite> drop|", undefined],
  ["text in SQLite, within parentheses", "sqlite3", "(x1...> drop|", undefined],
  ["text in SQLite, within a string", "sqlite3", "'  ...> drop|", undefined],
  ["text in PostgreSQL's", "psql", "shop=# drop|", undefined],
  ["text in PostgreSQL's, in a database with a hyphen", "psql", "my-shop=> drop|", undefined],
  ["text that goes on in PostgreSQL's", "psql", "my-shop-*> drop|", undefined],
  ["text in MySQL's", "mysql", "mysql> drop|", undefined],
  ["text in MySQL's, within a string", "mariadb", "    '> drop|", undefined],
])("%s", (_case, command, row, typed) => {
  expect(typedLine(command, at(row), signs())).toMatchObject({ typed });
});

test.each<[string, string, Capture, string]>([
  ["another program", "vim", at("$ rm -rf |"), ""],
  ["a script's question", "python3", at("Name: x|"), ""],
  ["a box that node draws", "node", at("> half|"), "\u001b[?2004h"],
  ["a shell that runs a command", "bash", at("Name: x|"), "\u001b[?2004l"],
  ["an empty row", "bash", at("|"), ""],
  ["a row of blanks", "bash", at("  |"), ""],
  ["the other screen", "bash", at("$ x|", { alternateScreen: true }), ""],
])("%s has no line", (_case, command, capture, output) => {
  expect(typedLine(command, capture, signs({ output }))).toBeUndefined();
});

test("behind a prompt that was empty stands text, until another line begins", () => {
  const typed = (row: string, output = "") => typedLine("bash", at(row), signs({ empty: "➜  proj ", output }))?.typed;
  expect(typed("➜  proj |")).toBe("");
  expect(typed("➜  proj rm -rf|")).toBe("rm -rf");
  expect(typed("➜  proj git:(main) |", "\r\n")).toBeUndefined();
});

test("beside a prompt that was empty, its right prompt is no text", () => {
  const right = "          12:30";
  const known = signs({ empty: "➜  proj " });
  known.emptyRow = `➜  proj \n${right}`;
  const typed = (row: string) => typedLine("zsh", at(row), known)?.typed;
  expect(typed(`➜  proj rm|${right.slice(2)}`)).toBe("rm");
  expect(typed("➜  proj rm| -rf")).toBe("rm -rf");
  expect(typed("➜  proj   |")).toBeUndefined();
  expect(typed("➜  other rm|")).toBeUndefined();
});

test("a REPL is told from a shell, and takes brackets where it is not node", () => {
  expect(typedLine("bash", at("$ |"), signs())?.isRepl).toBe(false);
  expect(typedLine("python3", at(">>> |"), signs({ output: "\u001b[?2004h" }))?.isRepl).toBe(true);
  expect(typedLine("node", at("> |"), signs())?.isRepl).toBe(true);
});
