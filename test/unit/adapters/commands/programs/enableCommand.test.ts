/** What plain `serve` starts besides: named in the file, or set up on purpose. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { loadConfig } from "../../../../../adapters/commands/connection/configuration.ts";
import { inProcessCli } from "../../../../support/daemon/cliOutput.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

let homeDir: string;
beforeEach(() => {
  homeDir = ownDirectory();
});

const path = (): string => join(homeDir, ".config/tmuxwire/config.json");
const cli = (...args: string[]) => inProcessCli(args, { homeDir });
const file = (): unknown => JSON.parse(readFileSync(path(), "utf8"));
function put(text: string): void {
  mkdirSync(join(homeDir, ".config/tmuxwire"), { recursive: true });
  writeFileSync(path(), text);
}

test("enable and disable keep what else is in the file", async () => {
  put('{"native":{"port":1234},"serve":{"enabled":"team"}}');
  expect((await cli("enable", "addin")).out).toMatch(/^addin starts when the daemon next starts/);
  expect(file()).toEqual({ native: { port: 1234 }, serve: { enabled: ["team", "addin"] } });
  expect((await cli("enable", "addin")).out).toMatch(/nothing to change/);
  expect((await cli("disable", "team")).code).toBe(0);
  expect(file()).toEqual({ native: { port: 1234 }, serve: { enabled: ["addin"] } });
});

test("a file is made when there is none, for its user alone", async () => {
  expect((await cli("enable", "team")).code).toBe(0);
  expect(file()).toEqual({ serve: { enabled: ["team"] } });
});

test.each(["{", "[]", '{"serve":3}', '{"serve":{"enabled":[3]}}'])("%s is left as it is", async (text) => {
  put(text);
  expect((await cli("enable", "addin")).code).toBe(1);
  expect(readFileSync(path(), "utf8")).toBe(text);
});

test("only what there is to enable", async () => {
  expect((await cli("enable", "native")).err).toMatch(/NAME must be one of addin, team, not "native"/);
  put('{"serve":{"enabled":["nope"]}}');
  expect((await cli("config")).err).toMatch(/serve\.enabled and --with take addin, team; "nope" is none of them/);
});

const config = (env: Record<string, string>, options: object, text?: string) =>
  loadConfig({
    options: options as Record<string, string>,
    env,
    file: text === undefined ? undefined : { path: "/f", text },
    cwd: "/",
    homeDir: "/home/me",
    tmpDir: "/tmp",
    platform: "linux",
    uid: 1000,
    defaults: "service",
  });

test.each([
  [{}, {}, undefined, false],
  [{ HOST: "localhost", PORT: "80", HTTPS: "1" }, {}, undefined, false],
  [{ TMUX_BRIDGE_MODE: "stub" }, {}, undefined, true],
  [{ TMUXWIRE_WITH: "team, addin" }, {}, undefined, true],
  [{}, { with: ["team,addin"] }, undefined, true],
  [{}, { with: ["team", "addin"] }, undefined, true],
  [{}, { with: ["team"] }, undefined, false],
  [{}, { "addin-port": "1" }, undefined, true],
  [{}, { only: "native,addin" }, undefined, true],
  [{}, {}, '{"addin":{"port":3341}}', true],
  [{}, {}, '{"serve":{"enabled":["addin"]}}', true],
  [{}, {}, '{"serve":{"with":["addin"]}}', true],
  [{}, { with: ["team"] }, '{"serve":{"enabled":["addin"]}}', true],
])("%j %j %s: the add-in is wanted: %s", (env, options, text, wanted) => {
  expect(config(env, options, text).addin.isWanted).toBe(wanted);
});
