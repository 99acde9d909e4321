/** The skill that agents read, and the plugin that carries it. */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { COMMANDS } from "../../../../../adapters/commands/commandTable.ts";
import { skillCommand } from "../../../../../adapters/commands/programs/skillCommand.ts";
import { findCommand, parseCommand } from "../../../../../adapters/cli/parseCommand.ts";
import type { CommandCall } from "../../../../../adapters/cli/commandTypes.ts";
import { ERROR_SURFACES } from "../../../../../protocol/errors.ts";

const ROOT = resolve(import.meta.dirname, "../../../../..");
const PLUGIN = join(ROOT, "docs/packaging/plugin");
const SKILL = readFileSync(join(PLUGIN, "skills/tmuxwire/SKILL.md"), "utf8");
const json = (path: string) => JSON.parse(readFileSync(join(ROOT, path), "utf8")) as Record<string, unknown>;

/** Command lines in code, without what follows a blank column or a redirection. */
function linesOf(document: string): readonly string[] {
  const spans = [...document.matchAll(/`(tmuxwire [^`]+)`/g)].map(([, line = ""]) => line);
  const fenced = [...document.matchAll(/^```\n([^`]+)^```/gm)].flatMap(([, block = ""]) => block.trim().split("\n"));
  return [...spans, ...fenced].map((line) => line.split(/ {2}|&/, 1)[0]!.trim());
}

const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");

test("every command line of the skill is one that parses", () => {
  const lines = linesOf(SKILL).filter((line) => !line.endsWith(" COMMAND"));
  expect(lines.length).toBeGreaterThan(15);
  for (const line of lines) {
    const [program, name = "", ...words] = wordsOf(line);
    expect(program).toBe("tmuxwire");
    const command = findCommand({ name: "tmuxwire", commands: COMMANDS }, name);
    expect(() => parseCommand("tmuxwire", command, words)).not.toThrow();
  }
});

test("the codes that it explains are codes", () => {
  const codes = [...SKILL.matchAll(/`([A-Z]+_[A-Z_]+|TIMEOUT|FORBIDDEN)`/g)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(4);
  expect(codes.filter((code) => !Object.hasOwn(ERROR_SURFACES, code!))).toEqual([]);
});

test("it is short, is what `tmuxwire skill` prints, and says when it is for an agent", async () => {
  expect(SKILL.split("\n").length).toBeLessThanOrEqual(150);
  expect(SKILL).toMatch(/^---\nname: tmuxwire\ndescription: .{50,1024}\n---\n/);
  let printed = "";
  const io = { out: (text: string) => void (printed += text) };
  expect(await skillCommand.run({ io } as unknown as CommandCall)).toBe(0);
  expect(printed).toBe(SKILL);
});

test("the plugin has the package's version, and the marketplace leads to it", () => {
  const { version } = json("package.json");
  expect(json("docs/packaging/plugin/.claude-plugin/plugin.json")).toMatchObject({ name: "tmuxwire", version });
  expect(json("docs/packaging/plugin/gemini-extension.json")).toMatchObject({ name: "tmuxwire", version });
  expect(json(".claude-plugin/marketplace.json")).toMatchObject({
    plugins: [{ name: "tmuxwire", source: "./docs/packaging/plugin" }],
  });
});
