/** `tmuxwire hooks` on real files: what is written, what stays as it was, what is refused. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { hookScript } from "../../../../../adapters/hooks/hookScript.ts";
import { inProcessCli, type CliResult } from "../../../../support/daemon/cliOutput.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

const SCRIPT = hookScript({ name: "claude", title: "Claude Code", guard: [] });

let home = "";
let env: Record<string, string> = {};
beforeEach(() => {
  home = ownDirectory("tmuxwire it's-");
  env = { PATH: process.env["PATH"] ?? "" };
});

const hooks = (...words: string[]): Promise<CliResult> =>
  inProcessCli(["hooks", ...words], { homeDir: home, cwd: join(home, "project"), env });
const path = (...parts: string[]): string => join(home, ...parts);
const settings = (): string => path(".claude", "settings.json");
const script = (agent = "claude"): string => path(".local/share/tmuxwire/hooks", `${agent}.sh`);
const secrets = (): string => path(".local/share/tmuxwire/hooks/claude.curl");
const containing = (text: string): string => expect.stringContaining(text) as string;

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Its file, its variable, and where below that the file is. */
const AGENTS = [
  { agent: "claude", file: ".claude/settings.json", variable: "CLAUDE_CONFIG_DIR", below: "settings.json" },
  { agent: "gemini", file: ".gemini/settings.json", variable: "GEMINI_CLI_HOME", below: ".gemini/settings.json" },
  { agent: "codex", file: ".codex/hooks.json", variable: "CODEX_HOME", below: "hooks.json" },
  {
    agent: "pi",
    file: ".pi/agent/extensions/tmuxwire.ts",
    variable: "PI_CODING_AGENT_DIR",
    below: "extensions/tmuxwire.ts",
  },
  {
    agent: "opencode",
    file: ".config/opencode/plugin/tmuxwire.js",
    variable: "OPENCODE_CONFIG_DIR",
    below: "plugin/tmuxwire.js",
  },
  { agent: "copilot", file: ".copilot/hooks/tmuxwire.json", variable: "COPILOT_HOME", below: "hooks/tmuxwire.json" },
] as const;

describe.each(AGENTS)("$agent", ({ agent, file, variable, below }) => {
  // hookDirectories.test.ts compares every byte below the home before and after.
  test("is installed twice, outdated for another dashboard, and removed", async () => {
    expect(await hooks("status", agent)).toMatchObject({ code: 3, out: containing(": not installed\n") });
    const first = await hooks("install", agent);
    expect(first).toMatchObject({ code: 0, err: "", out: containing("http://127.0.0.1:5055") });
    expect(first.out).toContain(path(file));
    const written = readFileSync(path(file), "utf8");
    expect(written).toMatch(/["']http:\/\/127\.0\.0\.1:5055["']/);
    expect((await hooks("install", agent)).out).toContain("nothing to do");
    expect(readFileSync(path(file), "utf8")).toBe(written);
    expect(await hooks("status", agent)).toMatchObject({ code: 0, out: containing(": installed\n") });
    expect((await hooks("status", agent, "--dashboard", "http://127.0.0.1:1")).out).toContain(": outdated");
    expect(await hooks("uninstall", agent)).toMatchObject({ code: 0 });
    expect((await hooks("uninstall", agent)).out).toContain("nothing to do");
  });

  test("is installed where its variable says, which status and uninstall remember with the dashboard", async () => {
    env[variable] = path("elsewhere");
    await hooks("install", agent, "--dashboard", "http://127.0.0.1:6001");
    delete env[variable];
    expect(existsSync(path(file))).toBe(false);
    const status = await hooks("status", agent);
    expect(status).toMatchObject({ code: 0, out: containing(`${path("elsewhere", below)}: installed`) });
    expect(status.out).toContain("http://127.0.0.1:6001");
    expect((await hooks("uninstall", agent)).out).toContain(path("elsewhere", below));
    expect(readdirSync(home)).toEqual([]);
    expect((await hooks("status", agent)).code).toBe(3);
    expect((await hooks("install", agent, "--scope", "project")).code).toBe(agent === "claude" ? 0 : 2);
  });
});

/** Events and their routes in the settings, and how long the agent waits for them. */
const MERGED = [
  {
    agent: "gemini",
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
] as const;

describe.each(MERGED)("the settings of $agent", ({ agent, timeout, before, routes }) => {
  const file = (): string => path(AGENTS.find((one) => one.agent === agent)!.file);

  test("hold a command for each event, without what the agent could take for a variable", async () => {
    await hooks("install", agent);
    const found = (
      JSON.parse(readFileSync(file(), "utf8")) as {
        hooks: Record<string, { hooks: { command: string; timeout: number }[] }[]>;
      }
    ).hooks;
    expect(Object.keys(found)).toEqual(Object.keys(routes));
    for (const [event, route] of Object.entries(routes)) {
      const hook = found[event]![0]!.hooks[0]!;
      expect(hook).toMatchObject({ timeout, command: containing(`'http://127.0.0.1:5055' ${route};`) });
      expect(hook.command).not.toContain("$");
    }
    expect(await hooks("status", "claude")).toMatchObject({ code: 3 });
  });

  test("keep their mode and their place behind a link, and get every byte back", async () => {
    const kept = path("dotfiles/settings");
    write(kept, before);
    chmodSync(kept, 0o600);
    mkdirSync(dirname(file()));
    symlinkSync(kept, file());
    expect(await hooks("install", agent)).toMatchObject({ code: 0, err: "" });
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(readFileSync(kept, "utf8")).toContain("tmuxwire/hooks");
    expect(readdirSync(path("dotfiles"))).toEqual(["settings"]);
    await hooks("install", agent, "--dashboard", "http://127.0.0.1:1");
    await hooks("uninstall", agent);
    expect(lstatSync(file()).isSymbolicLink()).toBe(true);
    expect(readFileSync(kept, "utf8")).toBe(before);
  });

  test.each(['{\n  "token": "hush",\n}\n', '{ "hooks": [] }', "", "[]"])(
    "that read %j are refused in one line, and nothing is written",
    async (text) => {
      write(file(), text);
      for (const action of ["install", "uninstall", "status"]) {
        const result = await hooks(action, agent);
        expect(result).toMatchObject({ code: 1, out: "" });
        expect(result.err).toMatch(/^[^\n]*it was not changed[^\n]*\n$/);
        expect(result.err).not.toContain("hush");
      }
      expect(readFileSync(file(), "utf8")).toBe(text);
      expect(existsSync(path(".local"))).toBe(false);
    },
  );
});

describe.each(AGENTS.slice(3))("the file of $agent", ({ agent, file }) => {
  test.each(["somebody else's file", "a link"])("%s in its place is left alone", async (what) => {
    mkdirSync(dirname(path(file)), { recursive: true });
    const kept = path("kept.js");
    writeFileSync(kept, "export default () => {};\n");
    if (what === "a link") symlinkSync(kept, path(file));
    else writeFileSync(path(file), readFileSync(kept));
    const refused = await hooks("install", agent);
    expect(refused.code).not.toBe(0);
    expect(refused.err).toMatch(/^[^\n]*was not written by tmuxwire[^\n]*\n$/);
    expect((await hooks("status", agent)).out).toContain(": not ours\n");
    await hooks("uninstall", agent);
    expect(readFileSync(path(file), "utf8")).toBe("export default () => {};\n");
  });
});

test("a link is not ours, even to a file that is", async () => {
  const file = path(".pi/agent/extensions/tmuxwire.ts");
  await hooks("install", "pi");
  renameSync(file, path("kept.ts"));
  symlinkSync(path("kept.ts"), file);
  expect((await hooks("status", "pi")).out).toContain(": not ours\n");
  await hooks("uninstall", "pi");
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
});

test("settings that hold nothing but our hooks stay behind their link, empty", async () => {
  await hooks("install", "claude");
  renameSync(settings(), path("kept.json"));
  symlinkSync(path("kept.json"), settings());
  await hooks("uninstall", "claude");
  expect(readFileSync(settings(), "utf8")).toBe("{}\n");
});

test("copilot's file is valid, and is ours only while every command in it is", async () => {
  const file = path(".copilot/hooks/tmuxwire.json");
  await hooks("install", "copilot");
  const written = JSON.parse(readFileSync(file, "utf8")) as { version: number; hooks: Record<string, object[]> };
  expect(written.version).toBe(1);
  expect(Object.keys(written.hooks)).toHaveLength(6);
  rmSync(script("copilot"));
  expect((await hooks("status", "copilot")).code).toBe(3);
  await hooks("install", "copilot");
  expect(existsSync(script("copilot"))).toBe(true);
  written.hooks["Stop"]!.push({ type: "command", bash: "bell" });
  writeFileSync(file, JSON.stringify(written));
  expect((await hooks("install", "copilot")).err).toMatch(/was not written by tmuxwire/);
  expect(readFileSync(file, "utf8")).toBe(JSON.stringify(written));
});

test("a link to nowhere is refused", async () => {
  mkdirSync(path(".claude"));
  symlinkSync(path("nowhere"), settings());
  expect(await hooks("install", "claude")).toMatchObject({ code: 1, err: containing("ENOENT") });
  expect(existsSync(path("nowhere"))).toBe(false);
});

test("a project's settings name no path of this user's", async () => {
  mkdirSync(path("project"));
  const project = ["--scope", "project"];
  expect(await hooks("install", "claude", ...project)).toMatchObject({ code: 0 });
  const text = readFileSync(path("project/.claude/settings.json"), "utf8");
  expect(text).not.toContain(home);
  expect(text).toContain("XDG_DATA_HOME");
  expect(existsSync(settings())).toBe(false);
  expect(await hooks("status", "claude", ...project)).toMatchObject({ code: 0 });
  expect(await hooks("status", "claude")).toMatchObject({ code: 3 });
  await hooks("uninstall", "claude", ...project);
  expect(readdirSync(path("project"))).toEqual([]);
  // Another project's hooks may need it.
  expect(readFileSync(script(), "utf8")).toBe(SCRIPT);
});

test("hooks in another directory keep the script and the token, which go with the last of them", async () => {
  env["TMUXWIRE_DASHBOARD_TOKEN"] = "s3cret-of-the-dashboard";
  await hooks("install", "claude");
  env["CLAUDE_CONFIG_DIR"] = path("work");
  await hooks("install", "claude");
  await hooks("uninstall", "claude");
  delete env["CLAUDE_CONFIG_DIR"];
  expect(await hooks("status", "claude")).toMatchObject({ code: 0 });
  expect(readFileSync(secrets(), "utf8")).toContain("s3cret");
  await hooks("uninstall", "claude");
  expect([existsSync(script()), existsSync(secrets())]).toEqual([false, false]);
});

test("status names the projects that have hooks as well, and takes what it is told over what it knows", async () => {
  await hooks("install", "claude", "--scope", "project", "--dashboard", "http://127.0.0.1:6001");
  await hooks("install", "claude");
  const also = `also installed: ${path("project/.claude/settings.json")}, dashboard http://127.0.0.1:6001`;
  expect(await hooks("status", "claude")).toMatchObject({ code: 0, out: containing(also) });
  expect((await hooks("status", "claude", "--scope", "project")).code).toBe(0);
  expect((await hooks("status", "claude", "--dashboard", "http://127.0.0.1:6002")).code).toBe(3);
});

test("the dashboard is the one that is configured or asked for", async () => {
  env["XDG_DATA_HOME"] = path("it's data");
  env["TMUXWIRE_DASHBOARD_HOST"] = "::1";
  env["TMUXWIRE_DASHBOARD_PORT"] = "6000";
  const found = JSON.parse((await hooks("install", "claude", "--json")).out) as { changed: string[] };
  expect(found).toMatchObject({ installed: true, scope: "user", dashboard: "http://[::1]:6000", curl: true });
  expect(found.changed).toEqual([path("it's data/tmuxwire/hooks/claude.sh"), settings()]);
  expect(await hooks("status", "claude", "--dashboard", "http://other:1/")).toMatchObject({ code: 3 });
  expect(await hooks("install", "claude", "--dashboard", "https://other/base/")).toMatchObject({ code: 0 });
  expect(readFileSync(settings(), "utf8")).toContain("'https://other/base' stop");
  for (const url of ["other:1", "ftp://x", "http://x/?a", "http://u:p@x/"]) {
    expect(await hooks("install", "claude", "--dashboard", url)).toMatchObject({ code: 2 });
  }
});

test("what is lacking or old is reported, and put right", async () => {
  await hooks("install", "claude");
  writeFileSync(script(), "#!/bin/sh\n");
  const state = async (): Promise<object> => JSON.parse((await hooks("status", "claude", "--json")).out) as object;
  expect(await state()).toMatchObject({ installed: false, state: "outdated", script_state: "different" });
  rmSync(script());
  expect(await state()).toMatchObject({ installed: false, state: "partly", script_state: "missing" });
  const parsed = JSON.parse(readFileSync(settings(), "utf8")) as { hooks: Record<string, unknown> };
  delete parsed.hooks["Stop"];
  writeFileSync(settings(), JSON.stringify({ ...parsed, disableAllHooks: true }));
  expect(await state()).toMatchObject({
    state: "partly",
    disabled: true,
    events: { Stop: "missing", SessionEnd: "installed" },
  });
  expect(await hooks("install", "claude")).toMatchObject({ code: 0 });
  expect(await state()).toMatchObject({ installed: true, state: "installed" });
});

test("the dashboard's token is for this user's eyes, and goes with the hooks", async () => {
  env["TMUXWIRE_DASHBOARD_TOKEN"] = 'a"b\\c';
  const { out } = await hooks("install", "claude");
  expect(statSync(secrets()).mode & 0o777).toBe(0o600);
  expect(readFileSync(secrets(), "utf8")).toBe('header = "Authorization: Bearer a\\"b\\\\c"\n');
  expect(readFileSync(settings(), "utf8") + out + SCRIPT).not.toContain('a"b');
  delete env["TMUXWIRE_DASHBOARD_TOKEN"];
  await hooks("install", "claude");
  expect(existsSync(secrets())).toBe(false);
});

test("without curl it says what is missing, where a script needs it", async () => {
  env["PATH"] = path("bin");
  expect((await hooks("install", "claude")).out).toContain("install it");
  expect((await hooks("install", "pi")).out).not.toContain("curl");
});

test.each([[["install"]], [["install", "vim"]], [["remove", "claude"]], [["status", "claude", "--scope", "all"]]])(
  "refused: %j",
  async (words) => {
    expect(await hooks(...words)).toMatchObject({ code: 2, out: "" });
    expect(readdirSync(home)).toEqual([]);
  },
);
