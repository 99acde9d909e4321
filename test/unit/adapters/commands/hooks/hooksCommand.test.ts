/** `tmuxwire hooks` on real files: what is written, what stays as it was, what is refused. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hookScript } from "../../../../../adapters/hooks/hookScript.ts";
import { inProcessCli, type CliResult } from "../../../../support/daemon/cliOutput.ts";

const SCRIPT = hookScript({ name: "claude", title: "Claude Code", guard: [] });

let home = "";
let env: Record<string, string> = {};

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "tmuxwire-"));
  env = { PATH: process.env["PATH"] ?? "" };
});
afterEach(() => rmSync(home, { recursive: true }));

const hooks = (...words: string[]): Promise<CliResult> =>
  inProcessCli(["hooks", ...words], { homeDir: home, cwd: join(home, "project"), env });
const path = (...parts: string[]): string => join(home, ...parts);
const settings = (): string => path(".claude", "settings.json");
const script = (): string => path(".local", "share", "tmuxwire", "hooks", "claude.sh");
const secrets = (): string => path(".local", "share", "tmuxwire", "hooks", "claude.curl");

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

test("into a home without settings, twice, and out again", async () => {
  const first = await hooks("install", "claude");
  expect(first).toMatchObject({ code: 0, err: "" });
  expect(first.out).toContain(settings());
  expect(first.out).toContain("http://127.0.0.1:5055");
  expect(readFileSync(script(), "utf8")).toBe(SCRIPT);
  const written = readFileSync(settings(), "utf8");
  expect(Object.keys((JSON.parse(written) as { hooks: object }).hooks)).toHaveLength(8);
  expect((await hooks("install", "claude")).out).toContain("nothing to do");
  expect(readFileSync(settings(), "utf8")).toBe(written);
  expect(await hooks("status", "claude")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/: installed\n/) as string,
  });
  expect(await hooks("uninstall", "claude")).toMatchObject({ code: 0 });
  expect(readdirSync(home)).toEqual([]);
  expect((await hooks("uninstall", "claude")).out).toContain("nothing to do");
  expect(await hooks("status", "claude")).toMatchObject({
    code: 3,
    out: expect.stringContaining("not installed") as string,
  });
});

test("the settings keep their mode, their bytes and, behind a link, their place", async () => {
  const before = '{\n\t"model": "opus",\n\t"hooks": { "Stop": [] }\n}';
  write(path("dotfiles", "claude.json"), before);
  chmodSync(path("dotfiles", "claude.json"), 0o600);
  mkdirSync(path(".claude"));
  symlinkSync(path("dotfiles", "claude.json"), settings());
  expect(await hooks("install", "claude")).toMatchObject({ code: 0 });
  expect(lstatSync(settings()).isSymbolicLink()).toBe(true);
  expect(statSync(settings()).mode & 0o777).toBe(0o600);
  expect(readFileSync(path("dotfiles", "claude.json"), "utf8")).toContain('"model": "opus"');
  expect(readdirSync(path("dotfiles"))).toEqual(["claude.json"]);
  await hooks("uninstall", "claude");
  expect(lstatSync(settings()).isSymbolicLink()).toBe(true);
  expect(readFileSync(settings(), "utf8")).toBe(before);
});

test("a link to nowhere is refused", async () => {
  mkdirSync(path(".claude"));
  symlinkSync(path("nowhere"), settings());
  expect(await hooks("install", "claude")).toMatchObject({ code: 1, err: expect.stringContaining("ENOENT") as string });
  expect(existsSync(path("nowhere"))).toBe(false);
});

test("settings with comments are refused, and nothing at all is written", async () => {
  const before = '{\n  "token": "hush", // mine\n}\n';
  write(settings(), before);
  for (const action of ["install", "uninstall", "status"]) {
    const result = await hooks(action, "claude");
    expect(result).toMatchObject({ code: 1, out: "" });
    expect(result.err).toMatch(/settings\.json is not plain JSON \(line 2\)/);
    expect(result.err).not.toContain("hush");
  }
  expect(readFileSync(settings(), "utf8")).toBe(before);
  expect(existsSync(path(".local"))).toBe(false);
});

test("a project's settings name no path of this user's", async () => {
  mkdirSync(path("project"));
  expect(await hooks("install", "claude", "--scope", "project")).toMatchObject({ code: 0 });
  const text = readFileSync(path("project", ".claude", "settings.json"), "utf8");
  expect(text).not.toContain(home);
  expect(text).toContain("XDG_DATA_HOME");
  expect(existsSync(settings())).toBe(false);
  expect(await hooks("status", "claude", "--scope", "project")).toMatchObject({ code: 0 });
  expect(await hooks("status", "claude")).toMatchObject({ code: 3 });
  await hooks("uninstall", "claude", "--scope", "project");
  expect(readdirSync(path("project"))).toEqual([]);
  // Another project's hooks may need it.
  expect(existsSync(script())).toBe(true);
});

test("where the environment says, for the dashboard that is configured or asked for", async () => {
  env["CLAUDE_CONFIG_DIR"] = path("elsewhere");
  env["XDG_DATA_HOME"] = path("it's data");
  env["TMUXWIRE_DASHBOARD_HOST"] = "::1";
  env["TMUXWIRE_DASHBOARD_PORT"] = "6000";
  const result = await hooks("install", "claude", "--json");
  const found = JSON.parse(result.out) as { changed: string[] };
  expect(found).toMatchObject({ installed: true, scope: "user", dashboard: "http://[::1]:6000", curl: true });
  expect(found.changed).toEqual([
    path("it's data", "tmuxwire", "hooks", "claude.sh"),
    path("elsewhere", "settings.json"),
  ]);
  expect(await hooks("status", "claude", "--dashboard", "http://other:1/")).toMatchObject({ code: 3 });
  expect(await hooks("install", "claude", "--dashboard", "https://other/base/")).toMatchObject({ code: 0 });
  expect(readFileSync(path("elsewhere", "settings.json"), "utf8")).toContain("'https://other/base' stop");
  for (const url of ["other:1", "ftp://x", "http://x/?a", "http://u:p@x/"]) {
    expect(await hooks("install", "claude", "--dashboard", url)).toMatchObject({ code: 2 });
  }
});

test("what is lacking or old is told, and put right", async () => {
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

test("without curl it says what is missing", async () => {
  env["PATH"] = path("bin");
  expect((await hooks("install", "claude")).out).toContain("install it");
});

test.each([[["install"]], [["install", "vim"]], [["remove", "claude"]], [["status", "claude", "--scope", "all"]]])(
  "refused: %j",
  async (words) => {
    expect(await hooks(...words)).toMatchObject({ code: 2, out: "" });
    expect(readdirSync(home)).toEqual([]);
  },
);

test.each([
  ["claude", "CLAUDE_CONFIG_DIR", "settings.json"],
  ["codex", "CODEX_HOME", "hooks.json"],
  ["pi", "PI_CODING_AGENT_DIR", join("extensions", "tmuxwire.ts")],
] as const)(
  "status and uninstall of %s know the directory and the dashboard that install was given",
  async (agent, variable, file) => {
    env[variable] = path("elsewhere");
    await hooks("install", agent, "--dashboard", "http://127.0.0.1:6001");
    delete env[variable];
    const status = await hooks("status", agent);
    expect(status.out).toContain(`${path("elsewhere", file)}: installed`);
    expect(status.out).toContain("http://127.0.0.1:6001");
    expect(status.code).toBe(0);
    expect((await hooks("uninstall", agent)).out).toContain(path("elsewhere", file));
    expect(readdirSync(home)).toEqual([]);
    expect((await hooks("status", agent)).code).toBe(3);
  },
);

test("status names the projects that have hooks as well, and takes what it is told over what it knows", async () => {
  await hooks("install", "claude", "--scope", "project", "--dashboard", "http://127.0.0.1:6001");
  await hooks("install", "claude");
  const status = await hooks("status", "claude");
  expect(status).toMatchObject({ code: 0 });
  expect(status.out).toContain(
    `also installed: ${path("project", ".claude", "settings.json")}, dashboard http://127.0.0.1:6001`,
  );
  expect((await hooks("status", "claude", "--scope", "project")).code).toBe(0);
  expect((await hooks("status", "claude", "--dashboard", "http://127.0.0.1:6002")).code).toBe(3);
});
