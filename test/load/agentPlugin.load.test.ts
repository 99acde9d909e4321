/**
 * Claude Code's own program takes the plugin from the marketplace, lists it with its MCP server and skill, and gives it up
 * again, offline. Needs TUI_INST (the programs' folder); says what is missing.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");
const claude = join(process.env["TUI_INST"] ?? "/nowhere", "cc/node_modules/.bin/claude");
const isThere = existsSync(claude);
if (!isThere) console.log("skipped: TUI_INST has no cc/node_modules/.bin/claude");

test.runIf(isThere)("Claude Code installs the plugin, has its MCP server, and removes it", () => {
  const home = mkdtempSync(join(tmpdir(), "tmuxwire-"));
  const run = (...args: string[]): string => {
    const env = { PATH: process.env["PATH"], HOME: home, DISABLE_AUTOUPDATER: "1" };
    const { stdout, stderr, status } = spawnSync(claude, args, { env, cwd: home, encoding: "utf8", timeout: 60_000 });
    expect({ status, args, said: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, args, said: "" });
    return stdout;
  };
  try {
    expect(run("plugin", "validate", ROOT)).toMatch(/passed/);
    expect(run("plugin", "validate", join(ROOT, "docs/packaging/plugin"))).toMatch(/passed/);
    run("plugin", "marketplace", "add", ROOT);
    run("plugin", "install", "tmuxwire@tmuxwire");
    expect(run("plugin", "list")).toMatch(/tmuxwire@tmuxwire[^]*enabled/);
    expect(run("mcp", "list")).toContain("plugin:tmuxwire:tmuxwire: tmuxwire mcp");
    run("plugin", "uninstall", "tmuxwire@tmuxwire");
    expect(run("plugin", "list")).not.toContain("tmuxwire@tmuxwire");
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
