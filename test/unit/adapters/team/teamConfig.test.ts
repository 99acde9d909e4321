import { expect, test } from "vitest";
import { SettingReader } from "../../../../daemon/ops/settings.ts";
import { readTeam } from "../../../../adapters/team/teamConfig.ts";

const read = (env: Record<string, string> = {}, file?: object, wanted: readonly string[] = []) => {
  const inputs = {
    options: {},
    env,
    file: file === undefined ? undefined : { path: "config.json", text: JSON.stringify(file) },
    cwd: "/work",
    homeDir: "/home/me",
  };
  return readTeam(new SettingReader(inputs), inputs, { wanted: new Set(wanted) });
};

test("the defaults", () => {
  expect(read()).toEqual({
    rootDir: "/home/me/.pi/agent/tmux",
    workerArgv: ["pi"],
    passEnvironment: [],
    readyTimeoutMs: 30_000,
    homeDir: "/home/me",
    announcesToPi: false,
  });
});

test("pi is told where we are when somebody wants it", () => {
  expect(read({}, undefined, ["team"]).announcesToPi).toBe(true);
  expect(read({ TMUXWIRE_TEAM_DIR: "/teams" }).announcesToPi).toBe(true);
  expect(read({}, { team: { dir: "/teams" } }).announcesToPi).toBe(true);
  expect(read({ PI_TEAM_WORKER_ARGV: '["pi"]' }).announcesToPi).toBe(false);
});

test("the environment and the file", () => {
  const env = {
    PI_TEAM_WORKER_ARGV: '["npx","pi","--model","x y"]',
    TMUXWIRE_TEAM_PASS_ENV: "A_KEY, B",
    TMUXWIRE_TEAM_DIR: "~/t",
  };
  expect(read(env)).toMatchObject({
    workerArgv: ["npx", "pi", "--model", "x y"],
    passEnvironment: ["A_KEY", "B"],
    rootDir: "/home/me/t",
  });
  expect(read({}, { team: { workerArgv: ["mypi"], readyTimeoutMs: 5_000 } })).toMatchObject({
    workerArgv: ["mypi"],
    readyTimeoutMs: 5_000,
  });
});

test.each([
  [{ PI_TEAM_WORKER_ARGV: "pi" }, /PI_TEAM_WORKER_ARGV must be a program and its arguments as a JSON array/],
  [{ PI_TEAM_WORKER_ARGV: "[]" }, /JSON array/],
  [{ PI_TEAM_WORKER_ARGV: '[""]' }, /JSON array/],
  [{ PI_TEAM_WORKER_ARGV: '["pi",1]' }, /JSON array/],
  [{ TMUXWIRE_TEAM_PASS_ENV: "PI_TEAMD_TOKEN" }, /none of them PI_TEAMD_/],
  [{ TMUXWIRE_TEAM_PASS_ENV: "A=B" }, /names of variables/],
  [{ TMUXWIRE_TEAM_READY_TIMEOUT_MS: "5" }, /milliseconds from 1000/],
])("%j is refused", (env, message) => {
  expect(() => read(env)).toThrow(message);
});
