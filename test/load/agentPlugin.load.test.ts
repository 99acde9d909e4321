/**
 * Claude Code, Codex and Gemini CLI themselves take the plugin, list it with its MCP server and skill, and give it up again,
 * offline. Needs TUI_INST (the programs' folder); says what is missing.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const INST = process.env["TUI_INST"] ?? "/nowhere";
const PLUGIN = join(ROOT, "docs/packaging/plugin");

/** The program's file below TUI_INST; undefined, with a printed reason, where it is not. */
function programAt(path: string): string | undefined {
  const file = join(INST, path);
  if (existsSync(file)) return file;
  process.stderr.write(`agentPlugin: TUI_INST has no ${path}: skipped\n`);
  return undefined;
}

type Run = (...args: string[]) => string;

/** In a home of its own; each command has to succeed. */
function inHome(command: readonly string[], use: (run: Run) => void): void {
  const home = mkdtempSync(join(tmpdir(), "tmuxwire-"));
  const [file = "", ...before] = command;
  try {
    use((...args) => {
      const env = { PATH: process.env["PATH"], HOME: home, DISABLE_AUTOUPDATER: "1", GEMINI_CLI_NO_RELAUNCH: "true" };
      // Gemini asks whether the folder is trusted.
      const options = { env, cwd: home, encoding: "utf8", timeout: 120_000, input: "y\n" } as const;
      const { stdout, stderr, status } = spawnSync(file, [...before, ...args], options);
      expect({ status, args, said: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, args, said: "" });
      return stdout + stderr;
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

const claude = programAt("cc/node_modules/.bin/claude");
test.runIf(claude !== undefined)("Claude Code installs the plugin, has its MCP server, and removes it", () => {
  inHome([claude!], (run) => {
    expect(run("plugin", "validate", ROOT)).toMatch(/passed/);
    expect(run("plugin", "validate", PLUGIN)).toMatch(/passed/);
    run("plugin", "marketplace", "add", ROOT);
    run("plugin", "install", "tmuxwire@tmuxwire");
    expect(run("plugin", "list")).toMatch(/tmuxwire@tmuxwire[^]*enabled/);
    expect(run("mcp", "list")).toContain("plugin:tmuxwire:tmuxwire: tmuxwire mcp");
    run("plugin", "uninstall", "tmuxwire@tmuxwire");
    expect(run("plugin", "list")).not.toContain("tmuxwire@tmuxwire");
  });
});

const codex = programAt("codex/node_modules/.bin/codex");
test.runIf(codex !== undefined)("Codex installs the same plugin, has its MCP server, and removes it", () => {
  inHome([codex!], (run) => {
    run("plugin", "marketplace", "add", ROOT);
    run("plugin", "add", "tmuxwire@tmuxwire");
    expect(run("plugin", "list")).toMatch(/tmuxwire@tmuxwire +installed, enabled/);
    expect(run("mcp", "list")).toMatch(/^tmuxwire +tmuxwire +mcp .*enabled/m);
    run("plugin", "remove", "tmuxwire@tmuxwire");
    expect(run("plugin", "list")).toMatch(/tmuxwire@tmuxwire +not installed/);
    expect(run("mcp", "list")).not.toMatch(/^tmuxwire /m);
  });
});

const gemini = programAt("gemini/node_modules/@google/gemini-cli/bundle/gemini.js");
test.runIf(gemini !== undefined)(
  "Gemini CLI installs it as an extension, with MCP server and skill, and removes it",
  () => {
    inHome([process.execPath, gemini!], (run) => {
      expect(run("extensions", "validate", PLUGIN)).toMatch(/successfully validated/);
      run("extensions", "install", PLUGIN, "--consent");
      expect(run("extensions", "list")).toMatch(/tmuxwire \([^]*MCP servers:\s+tmuxwire[^]*Agent skills:\s+tmuxwire:/);
      run("extensions", "uninstall", "tmuxwire");
      expect(run("extensions", "list")).toContain("No extensions installed");
    });
  },
);
