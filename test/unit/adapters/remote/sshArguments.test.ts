import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import {
  commandArguments,
  exitArguments,
  forwardArguments,
  hostInfoCommandLine,
  masterArguments,
  scriptLine,
} from "../../../../adapters/remote/sshArguments.ts";

/** What ssh itself makes of them, without connecting. */
function understood(args: readonly string[]): ReadonlyMap<string, string> {
  const { status, stdout, stderr } = spawnSync("ssh", ["-G", ...args], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return new Map(stdout.split("\n").map((line) => [line.split(" ", 1)[0] ?? "", line.replace(/^\S* /, "")]));
}

test.each([
  ["build", "build", undefined],
  ["me@build.example", "build.example", undefined],
  ["ssh://me@build.example:2222", "build.example", "2222"],
  ["fe80::1", "fe80::1", undefined],
] as const)("%s is a destination", (destination, host, port) => {
  const args = masterArguments({ destination, configFile: "none" }, "/run/ctl");
  expect(args.slice(-2)).toEqual(["--", destination]);
  const options = understood(args);
  expect(options.get("hostname")).toBe(host);
  if (port !== undefined) expect(options.get("port")).toBe(port);
  expect(Object.fromEntries(options)).toMatchObject({
    batchmode: "yes",
    connecttimeout: "10",
    serveraliveinterval: "3",
    serveralivecountmax: "2",
    exitonforwardfailure: "yes",
    streamlocalbindunlink: "yes",
    controlpersist: "no",
    permitlocalcommand: "yes",
    sessiontype: "none",
    requesttty: "false",
    forwardagent: "no",
    forwardx11: "no",
  });
  expect(options.get("controlpath")).toBe("/run/ctl");
});

test.each(["", "-oProxyCommand=true", "a b", "a\nb", "a\u0000", "$(touch x)", "a;b", "a`b`", "a'b", "x".repeat(513)])(
  "%j is none",
  (destination) => {
    expect(() => masterArguments({ destination }, "/run/ctl")).toThrow(/is no destination for ssh/);
  },
);

test("the short ones go through the control socket alone", () => {
  for (const args of [commandArguments("/run/ctl", "true"), forwardArguments("/run/ctl", "/run/l", "/run/r")]) {
    expect(args.slice(0, 4)).toEqual(["-F", "none", "-S", "/run/ctl"]);
    expect(understood(args.filter((word) => !["-O", "forward"].includes(word))).get("proxycommand")).toBe("false");
  }
  expect(forwardArguments("/run/ctl", "/run/l", "/run/r")).toContain("/run/l:/run/r");
  expect(exitArguments("/run/ctl").slice(-4)).toEqual(["-O", "exit", "--", "host"]);
});

test("the command on the host", () => {
  expect(hostInfoCommandLine("tmuxwire")).toBe("tmuxwire host-info");
  expect(hostInfoCommandLine("~/.local/bin/tmuxwire")).toBe("~/.local/bin/tmuxwire host-info");
  expect(hostInfoCommandLine("/opt/it's here/tmuxwire")).toBe("'/opt/it'\\''s here/tmuxwire' host-info");
  expect(() => hostInfoCommandLine("a\nb")).toThrow(/is no path of a program/);
  expect(() => hostInfoCommandLine("-x")).toThrow(/is no path of a program/);
});

test("a script is one line for any shell, without what csh takes for its own, and runs as it is", () => {
  const script = `printf '%s\\n' "$1" '!\\' &&\n{ ! false; } && cat`;
  const line = scriptLine(script, "'it'\\''s'");
  expect(line).not.toMatch(/[!\n]/);
  expect(spawnSync("sh", ["-c", line], { input: "input", encoding: "utf8" })).toMatchObject({
    status: 0,
    stdout: "it's\n!\\\ninput",
    stderr: "",
  });
});
