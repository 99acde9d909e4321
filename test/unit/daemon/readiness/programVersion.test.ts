/** Versions of running programs, by where their files are and what they draw; no process is started for this. */
import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import type { HostProcesses } from "../../../../daemon/host/hostProcesses.ts";
import { versionOfProcess, versionOnScreen } from "../../../../daemon/readiness/programVersion.ts";
import { profileNamed } from "../../../support/agents/agentCatalogue.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

const NAMES = new Set(["tool", "@maker/tool"]);

let root: string;
beforeEach(() => {
  root = realpathSync(ownDirectory());
});

function write(path: string, content: unknown = ""): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

/** A process's executable is a link, as in procfs. */
function processWith({ executable, words }: { readonly executable?: string; readonly words: readonly string[] }) {
  const link = join(root, "exe");
  if (executable !== undefined) symlinkSync(executable, link);
  return {
    wordsNow: () => words,
    programOf: () => link,
    cwdNow: () => root,
  } as unknown as HostProcesses;
}

const ofScript = (...words: readonly string[]): string | undefined =>
  versionOfProcess(1, NAMES, processWith({ words, executable: process.execPath }));
const ofExecutable = (executable: string): string | undefined =>
  versionOfProcess(1, NAMES, processWith({ words: ["tool"], executable }));

test("the npm package that a script is part of, behind links and above packages without a version", () => {
  write("node_modules/@maker/tool/package.json", { name: "@maker/tool", version: "2.1.340" });
  write("node_modules/@maker/tool/dist/package.json", { type: "module" });
  const script = write("node_modules/@maker/tool/dist/cli.js");
  mkdirSync(join(root, "bin"));
  symlinkSync(script, join(root, "bin/tool"));
  expect(ofScript("node", "--no-warnings", join(root, "bin/tool"), "--resume")).toBe("2.1.340");
});

test("a script named relative to the process's directory", () => {
  write("node_modules/@maker/tool/package.json", { name: "@maker/tool", version: "1.2" });
  write("node_modules/@maker/tool/cli.js");
  expect(ofScript("/usr/bin/node", "node_modules/@maker/tool/cli.js")).toBe("1.2");
});

test("the package for one platform that an executable is part of", () => {
  write("lib/package.json", { name: "@maker/tool-linux-x64", version: "0.169.0-linux-x64" });
  expect(ofExecutable(write("lib/vendor/tool/tool"))).toBe("0.169.0");
});

test.each([
  ["another package's", { name: "project", version: "9.9.9" }],
  ["a name that only begins like it", { name: "@maker/tool-kit", version: "9.9.9" }],
  ["no version", { name: "@maker/tool" }],
  ["a version that is none", { name: "@maker/tool", version: "new\nest" }],
  ["members of other types", { name: ["@maker/tool"], version: 3 }],
  ["no object", "null"],
  ["no JSON", "{"],
  ["more than 64 kB", { name: "@maker/tool", version: "9.9.9", more: "x".repeat(65_536) }],
])("unknown beside %s", (_, content) => {
  write("app/package.json", content);
  expect(ofExecutable(write("app/tool"))).toBeUndefined();
});

test("a package.json that is a FIFO keeps nobody waiting", () => {
  const executable = write("app/tool");
  execFileSync("mkfifo", [join(root, "app/package.json")]);
  expect(ofExecutable(executable)).toBeUndefined();
});

test.each([
  ["share/tool/versions/2.1.340", "2.1.340"],
  ["share/tool/versions/v2.1.340/tool", "2.1.340"],
  ["share/tool/versions/2.1.341 (deleted)", "2.1.341"],
  ["pyenv/versions/3.11.4/bin/python3", undefined],
  ["nvm/versions/node/v20.19.0/bin/tool", undefined],
  ["versions/latest/tool", undefined],
])("as native installers lay it out: %s", (path, version) => {
  expect(ofExecutable(join(root, path))).toBe(version);
});

test("unknown where the host does not tell", () => {
  const nothing = { wordsNow: () => undefined, programOf: () => undefined, cwdNow: () => undefined };
  expect(versionOfProcess(1, NAMES, nothing as unknown as HostProcesses)).toBeUndefined();
  expect(
    versionOfProcess(1, NAMES, { ...nothing, wordsNow: () => ["node", "cli.js"] } as unknown as HostProcesses),
  ).toBe(undefined);
});

test.each([
  ["claude", " ▐▛███▛█   Claude Code v2.1.330", "2.1.330"],
  ["codex", " >_ OpenAI Codex (v0.169.0)", "0.169.0"],
  ["copilot", " ╰─╯╰─╯  Copilot v1.0.102 uses AI.", "1.0.102"],
  ["gemini", " Gemini CLI v0.61.0", "0.61.0"],
  ["pi", " pi v0.74.2", "0.74.2"],
  ["qwen", "│ >_ Qwen Code (v0.24.4)", "0.24.4"],
  ["codex", "\u001b[2m│\u001b[0m >_ \u001b[1mOpenAI Codex\u001b[0m \u001b[2m(v0.169.0)\u001b[0m", "0.169.0"],
  ["opencode", "Ask anything", undefined],
  ["codex", "OpenAI Codex", undefined],
])("%s draws %j when it starts", (name, row, version) => {
  expect(versionOnScreen(profileNamed(name), { lines: ["$ ", row, ""], cursor: { row: 2, col: 0 }, cols: 80 })).toBe(
    version,
  );
});
