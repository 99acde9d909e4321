/** `tmuxwire hooks uninstall` leaves a home as it was before `install`: every file, and every directory, empty ones too. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { inProcessCli } from "../../../../support/daemon/cliOutput.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

let home = "";
beforeEach(() => {
  home = ownDirectory();
  mkdirSync(join(home, "project"));
});

/** A variable that is set has the token stored beside the script, too. */
const env = { PATH: "", TMUXWIRE_DASHBOARD_TOKEN: "s3cret-of-the-dashboard" };
async function hooks(line: string, more: Record<string, string> = {}): Promise<void> {
  const words = ["hooks", ...line.split(" ")];
  const { code, err } = await inProcessCli(words, {
    homeDir: home,
    cwd: join(home, "project"),
    env: { ...env, ...more },
  });
  expect([line, code, err]).toEqual([line, 0, ""]);
}

/** Every file with its bytes, every directory. */
const tree = (): readonly string[] =>
  readdirSync(home, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isDirectory() ? `${path}/` : `${path}: ${readFileSync(path, "latin1")}`;
    })
    .sort();

const AGENTS = [
  { agent: "claude", file: ".claude/settings.json" },
  { agent: "claude --scope project", file: "project/.claude/settings.json" },
  { agent: "codex", file: ".codex/hooks.json" },
  { agent: "gemini", file: ".gemini/settings.json" },
  { agent: "pi", file: ".pi/agent/extensions/tmuxwire.ts" },
  { agent: "opencode", file: ".config/opencode/plugin/tmuxwire.js" },
  { agent: "copilot", file: ".copilot/hooks/tmuxwire.json" },
] as const;
const SCRIPTS = ".local/share/tmuxwire/hooks";

describe.each(AGENTS)("$agent", ({ agent, file }) => {
  const folders = file.split("/").slice(0, -1);
  const above = (path: readonly string[]): string[] => path.map((_, at) => path.slice(0, at + 1).join("/"));
  // Each depth to which the directories were there, and empty, before.
  const there = ["", ...above(folders), ...above(SCRIPTS.split("/"))];

  test.each(there)("with the directory %j there and empty", async (directory) => {
    mkdirSync(join(home, directory), { recursive: true });
    const before = tree();
    await hooks(`install ${agent}`);
    await hooks(`install ${agent}`);
    expect(tree()).not.toEqual(before);
    await hooks(`uninstall ${agent}`);
    // Other projects may use the same script: it goes with the user's own hooks.
    if (agent !== "claude") await hooks("uninstall claude");
    expect(tree()).toEqual(before);
    await hooks(`uninstall ${agent}`);
    expect(tree()).toEqual(before);
  });
});

test("of several agents, in whatever order they go", async () => {
  const before = tree();
  for (const { agent } of AGENTS) await hooks(`install ${agent}`);
  for (const { agent } of [...AGENTS.slice(3), ...AGENTS.slice(0, 3)]) await hooks(`uninstall ${agent}`);
  expect(tree()).toEqual(before);
});

test("of two agents below a directory that was made for the first", async () => {
  const before = tree();
  const codex = { CODEX_HOME: join(home, ".config/codex") };
  await hooks("install opencode");
  await hooks("install codex", codex);
  await hooks("uninstall opencode");
  await hooks("uninstall codex", codex);
  expect(tree()).toEqual(before);
  await hooks("install opencode");
  await hooks("install codex", codex);
  await hooks("uninstall codex", codex);
  await hooks("uninstall opencode");
  expect(tree()).toEqual(before);
});

test("what was put into a directory of ours makes it the user's", async () => {
  await hooks("install pi");
  writeFileSync(join(home, ".pi/agent/extensions/mine.ts"), "");
  await hooks("install codex");
  await hooks("uninstall pi");
  rmSync(join(home, ".pi/agent/extensions/mine.ts"));
  const before = tree();
  await hooks("install pi");
  await hooks("uninstall pi");
  expect(tree()).toEqual(before);
});

test("without the record, or with one that is damaged, every directory stays", async () => {
  for (const damage of ["", "[1,", '{"a":1}', '["relative", 3]']) {
    await hooks("install gemini");
    writeFileSync(join(home, SCRIPTS, "directories.json"), damage);
    await hooks("uninstall gemini");
    expect(readdirSync(join(home, ".gemini"))).toEqual([]);
    expect(readdirSync(join(home, SCRIPTS))).toEqual([]);
  }
});
