import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { Interrupted } from "../../../../../adapters/cli/cliIo.ts";
import { inProcessCli } from "../../../../support/daemon/cliOutput.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

let homeDir: string;
beforeEach(() => {
  homeDir = ownDirectory();
});

const logs = (...args: string[]) =>
  inProcessCli(["logs", ...args], { homeDir, env: { XDG_RUNTIME_DIR: join(homeDir, "run") } });
const logFile = (): string => {
  mkdirSync(join(homeDir, "run", "tmuxwire"), { recursive: true });
  return join(homeDir, "run", "tmuxwire", "daemon.log");
};

test("the end of the file of a daemon that was started by a command", async () => {
  writeFileSync(logFile(), Array.from({ length: 200 }, (_, at) => `{"line":${at}}\n`).join(""));
  expect((await logs("-n", "2")).out).toBe('{"line":198}\n{"line":199}\n');
  expect((await logs()).out.split("\n")).toHaveLength(101);
  expect((await logs("-n", "1000")).out.startsWith('{"line":0}\n')).toBe(true);
});

test("none: it says where one would be", async () => {
  const { code, err } = await logs();
  expect(code).toBe(3);
  expect(err).toMatch(/no log at .*run\/tmuxwire\/daemon\.log, and no service: a daemon in a terminal/);
});

test("goes on with what comes", async () => {
  const path = logFile();
  writeFileSync(path, "one\n");
  const abort = new AbortController();
  let seen = "";
  const { code } = await inProcessCli(["logs", "-f"], {
    homeDir,
    env: { XDG_RUNTIME_DIR: join(homeDir, "run") },
    signal: abort.signal,
    out: async (data) => {
      seen += String(data);
      if (seen === "one\n") appendFileSync(path, "two\n");
      if (seen === "one\ntwo\n") abort.abort(new Interrupted(130, "interrupted"));
    },
  });
  expect([code, seen]).toEqual([130, "one\ntwo\n"]);
});
