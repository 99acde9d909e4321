/** `tmuxwire hooks` for agents whose settings have Claude Code's form: each into its own file, and out again to the byte. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { inProcessCli, type CliResult } from "../../../support/daemon/cliOutput.ts";

let home = "";
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), "tmuxwire it's-"))));
afterEach(() => rmSync(home, { recursive: true }));

const hooks = (words: readonly string[], env: Record<string, string> = {}): Promise<CliResult> =>
  inProcessCli(["hooks", ...words], { homeDir: home, cwd: home, env: { PATH: process.env["PATH"] ?? "", ...env } });

interface Hook {
  readonly command: string;
  readonly timeout: number;
}

describe.each([
  {
    agent: "gemini",
    file: [".gemini", "settings.json"],
    variable: "GEMINI_CLI_HOME",
    below: [".gemini", "settings.json"],
    timeout: 5_000,
    before: '// mine\n{\n\t"model": { "name": "x" }, // cheap\n\t"hooks": { "AfterTool": [] } // none\n}',
    routes: {
      SessionStart: "session-start",
      BeforeAgent: "user-prompt-submit",
      AfterAgent: "stop",
      AfterTool: "post-tool-use",
      Notification: "permission-request",
    },
  },
  {
    agent: "codex",
    file: [".codex", "hooks.json"],
    variable: "CODEX_HOME",
    below: ["hooks.json"],
    timeout: 3,
    before: '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"bell"}]}]}}\n',
    routes: {
      SessionStart: "session-start",
      SessionEnd: "session-end",
      UserPromptSubmit: "user-prompt-submit",
      Stop: "stop",
      Interrupt: "stop",
      PostToolUse: "post-tool-use",
      PermissionRequest: "permission-request",
    },
  },
])("$agent", ({ agent, file, variable, below, timeout, before, routes }) => {
  const settings = () => join(home, ...file);
  const script = () => join(home, ".local/share/tmuxwire/hooks", `${agent}.sh`);
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };

  test("into a home without settings, twice, and out again", async () => {
    expect(await hooks(["install", agent])).toMatchObject({ code: 0, err: "" });
    const written = readFileSync(settings(), "utf8");
    const found = (JSON.parse(written) as { hooks: Record<string, { hooks: Hook[] }[]> }).hooks;
    expect(Object.keys(found)).toEqual(Object.keys(routes));
    for (const [event, route] of Object.entries(routes)) {
      const [hook] = found[event]![0]!.hooks;
      expect(hook!.timeout).toBe(timeout);
      expect(hook!.command).toContain(`'http://127.0.0.1:5055' ${route};`);
      // What an agent could take for a variable of its own.
      expect(hook!.command).not.toContain("$");
    }
    expect((await hooks(["install", agent])).out).toContain("nothing to do");
    expect(readFileSync(settings(), "utf8")).toBe(written);
    expect(await hooks(["status", agent])).toMatchObject({ code: 0 });
    expect(await hooks(["status", "claude"])).toMatchObject({ code: 3 });
    expect((await hooks(["status", agent, "--dashboard", "http://127.0.0.1:1"])).out).toContain(": outdated");
    expect(await hooks(["uninstall", agent])).toMatchObject({ code: 0 });
    expect(readdirSync(home)).toEqual([]);
    expect((await hooks(["uninstall", agent])).out).toContain("nothing to do");
  });

  test("behind a link, every byte that was there is there again", async () => {
    const kept = join(home, "dotfiles", "settings");
    write(kept, before);
    mkdirSync(dirname(settings()));
    symlinkSync(kept, settings());
    expect(await hooks(["install", agent])).toMatchObject({ code: 0, err: "" });
    expect(readFileSync(kept, "utf8")).toContain("tmuxwire/hooks");
    expect(await hooks(["status", agent])).toMatchObject({ code: 0 });
    await hooks(["install", agent, "--dashboard", "http://127.0.0.1:1"]);
    await hooks(["uninstall", agent]);
    expect(lstatSync(settings()).isSymbolicLink()).toBe(true);
    expect(readFileSync(kept, "utf8")).toBe(before);
  });

  test("a broken file is refused in one line, and nothing is written", async () => {
    for (const text of ['{\n  "token": "hush",\n}\n', '{ "hooks": [] }', "", "[]"]) {
      write(settings(), text);
      for (const action of ["install", "uninstall", "status"]) {
        const result = await hooks([action, agent]);
        expect(result).toMatchObject({ code: 1, out: "" });
        expect(result.err).toMatch(/^[^\n]*it was not changed[^\n]*\n$/);
        expect(result.err).not.toContain("hush");
      }
      expect(readFileSync(settings(), "utf8")).toBe(text);
    }
    expect(existsSync(script())).toBe(false);
  });

  test("its own variable says where, and a project has none", async () => {
    await hooks(["install", agent], { [variable]: join(home, "elsewhere") });
    expect(existsSync(join(home, "elsewhere", ...below))).toBe(true);
    expect(existsSync(settings())).toBe(false);
    expect(await hooks(["install", agent, "--scope", "project"])).toMatchObject({ code: 2 });
  });
});
