/**
 * The service files as `tmuxwire service install` writes them, read by the programs they are for: systemd's own verifier,
 * which knows every key and value, and a property list parser. A program that is not installed is told about and skipped.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { servicePlan } from "../../adapters/commands/service/serviceUnits.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";

const isInstalled = (command: string, ...args: readonly string[]): boolean => spawnSync(command, args).status === 0;

const noVerifier = !isInstalled("systemd-analyze", "--version");
if (noVerifier) process.stderr.write("systemd-analyze is not installed: units are not verified\n");
const noPython = !isInstalled("python3", "-c", "import plistlib");
if (noPython) process.stderr.write("python3 is not installed: the property list is not parsed\n");

/** Exit code and what systemd finds fault with. */
function verify(unit: string, env: Readonly<Record<string, string>>): readonly [number | null, string] {
  const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--user", unit], { encoding: "utf8", env });
  return [status, stderr];
}

test.skipIf(noVerifier)("systemd finds no fault with the units, nor with paths that are hard to quote", async () => {
  await using sandbox = cliSandbox();
  const env = { ...sandbox.env, PATH: `${sandbox.env["PATH"]}:/odd 50% "path"/$HOME` };
  const installed = await sandbox.run(["service", "install"], { env });
  expect([installed.code, installed.stderr]).toEqual([0, ""]);
  const directory = sandbox.path("config/systemd/user");
  expect(readdirSync(directory).sort()).toEqual(["tmuxwire.service", "tmuxwire.socket"]);
  for (const unit of ["tmuxwire.service", "tmuxwire.socket"]) {
    expect([unit, ...verify(`${directory}/${unit}`, sandbox.env)]).toEqual([unit, 0, ""]);
  }
  // A verifier that says nothing of anything would not be one.
  const service = readFileSync(`${directory}/tmuxwire.service`, "utf8");
  writeFileSync(`${directory}/tmuxwire.service`, service.replace("KillMode=", "KilMode="));
  expect(verify(`${directory}/tmuxwire.service`, sandbox.env)[1]).toContain("KilMode");
});

test.skipIf(noPython)("the launchd agent is a property list that says what it should", () => {
  const plan = servicePlan({
    platform: "darwin",
    homeDir: "/Users/me & <you>",
    env: { PATH: '/bin:/odd "path"', API_KEY: "hush" },
    execPath: "/opt/node",
    scriptPath: "/opt/<a>&b/tmuxwire.js",
    socketPath: "/run/t.sock",
    host: "127.0.0.1",
    port: 7_420,
  });
  const script = "import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))";
  const { stdout, stderr } = spawnSync("python3", ["-c", script], { input: plan?.files[0]?.text, encoding: "utf8" });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({
    Label: "tmuxwire.daemon",
    ProgramArguments: [
      "/opt/node",
      "--max-semi-space-size=2",
      "--enable-source-maps",
      "/opt/<a>&b/tmuxwire.js",
      "serve",
    ],
    EnvironmentVariables: { PATH: '/bin:/odd "path"' },
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    AbandonProcessGroup: true,
    ExitTimeOut: 5,
    StandardErrorPath: "/Users/me & <you>/Library/Logs/tmuxwire.log",
  });
});
