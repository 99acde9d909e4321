/** What the daemon asks of the machine that tmux runs on, it asks a `Host`: another machine could answer as well. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

const sources = ["protocol", "daemon", "adapters"].flatMap((layer) =>
  readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${layer}/${name}`),
);

/** Without comments, which may say what they like. A `//` behind a colon is an address. */
const codeOf = (file: string): string =>
  readFileSync(join(ROOT, file), "utf8")
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/(?<!:)\/\/.*$/gm, "");

const outside = (pattern: RegExp): string[] =>
  sources.filter((file) => !file.startsWith("daemon/host/") && pattern.test(codeOf(file)));

/** Allowed all the same, and why. */
const NAMES_SYSTEM_FILES = [
  // what is typed into a shell, which may be on any machine: it has something else where there is no such file
  "daemon/shell/shellLine.ts",
  // a thread of our own process, wherever tmux is
  "daemon/waits/regex/regexWorker.ts",
  "daemon/waits/regex/regexThread.ts",
  // tells a person what the system does not have
  "adapters/commands/doctor/doctorSystem.ts",
  // who is at the other end of a connection to a listener of ours, wherever tmux is
  "adapters/kit/peers/peerTable.ts",
  // what is asked of another machine, by its own shell, where there is no `ps` of the usual kind
  "adapters/remote/agentlessConnection.ts",
  // an example in the API's description
  "adapters/operations/panes/paneOperations.ts",
];

test("the system's files about processes, sockets and terminals are read in one place", () => {
  expect(outside(/\/proc\b|\/dev\/(?:pts|ptmx|tty)/).toSorted()).toEqual(NAMES_SYSTEM_FILES.toSorted());
});

test("processes are started in one place", () => {
  // Inside pi, or inside a command: neither is the daemon.
  expect(outside(/["'](?:node:)?child_process["']/).toSorted()).toEqual([
    "adapters/cli/foregroundProgram.ts",
    "adapters/serving/autostart.ts",
  ]);
});

test("processes are signalled in one place", () => {
  expect(outside(/\bprocess\.kill\(/)).toEqual([]);
});
