/** A Node that is too old gets one line, before anything is loaded that it cannot load. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { builtCli, builtFreshell } from "../support/daemon/cliBuild.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const { engines } = JSON.parse(readFileSync(resolve(ROOT, "package.json"), "utf8")) as { engines: { node: string } };
const oldest = engines.node.replace(">=", "");

/** Ours, which says that it is another. */
function runAs(version: string, args: readonly string[], executable = builtCli()) {
  const pretend = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${version}" } });`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, executable, ...args],
    { encoding: "utf8" },
  );
  return { status, stdout, stderr };
}

test.each(["18.20.8", "20.18.3", "16.20.2"])("%s", (version) => {
  expect(runAs(version, ["--version"])).toEqual({
    status: 1,
    stdout: "",
    stderr: `tmuxwire: needs Node ${oldest} or newer, this is ${version}: install a newer one\n`,
  });
});

test("freshell says so as well", () => {
  const { status, stdout, stderr } = runAs("18.20.8", ["--version"], builtFreshell());
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^freshell: needs Node .* install a newer one\n$/);
  expect(runAs(oldest, ["--version"], builtFreshell()).status).toBe(0);
});

test.each([oldest, "22.0.0", "24.1.0"])("%s is new enough", (version) => {
  const { status, stderr } = runAs(version, ["--version"]);
  expect([status, stderr]).toEqual([0, ""]);
});

test.each([
  ["tmuxwire", builtCli(), []],
  [
    "tmuxwire.js, which is named in services",
    join(dirname(builtCli()), "tmuxwire.js"),
    ["node:module", "node:process"],
  ],
  ["freshell", builtFreshell(), ["node:module", "node:process"]],
])("%s itself loads nothing else of ours before that", (_name, executable, expected) => {
  const text = readFileSync(executable, "utf8");
  const statements = [...text.matchAll(/^(?:import|export)\b.* "(.*)";$/gm)].map(([, from]) => from);
  // `node:module` is the bundle's own, and as old as ES modules are.
  expect(statements).toEqual(expected);
});

test("an older Node can read the executable", () => {
  // What came with Node 14 and later.
  expect(readFileSync(builtCli(), "utf8")).not.toMatch(/\?\.(?!\d)|\?\?|\|\|=|&&=|#\w+[;=(]/);
});
