/** Starting processes is for a few named places: everything else speaks to tmux over the connection it has. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

/** May import `node:child_process` or node-pty, and why. */
const MAY_START_PROCESSES = new Set([
  // the control client itself, and with it an owned server: on a pty, or on pipes
  "daemon/host/clients/ptyTransport.ts",
  "daemon/host/clients/pipeTransport.ts",
  // `tmux -V`, once at start-up; the same of a server's own program before the first client goes to it
  "daemon/host/runProgram.ts",
  // an agent's session: one program for each, which is what a session is
  "daemon/host/groupedProgram.ts",
  // runs inside a command or inside pi, not inside the daemon: the daemon itself, for those who find none
  "adapters/serving/autostart.ts",
  // a command that puts another program into its place: tmux itself, the journal
  "adapters/cli/foregroundProgram.ts",
]);

function sources(layer: string): string[] {
  return readdirSync(join(ROOT, layer), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${layer}/${name}`);
}

test("only the named places can start a process", () => {
  const starters = ["protocol", "daemon", "adapters"]
    .flatMap(sources)
    .filter((file) => /["'](?:node:)?child_process["']|node-pty/.test(readFileSync(join(ROOT, file), "utf8")));
  expect(new Set(starters)).toEqual(MAY_START_PROCESSES);
});

test("each of them that runs in the daemon counts what it starts", () => {
  const calls = (file: string, pattern: RegExp): number =>
    readFileSync(join(ROOT, file), "utf8").match(pattern)?.length ?? 0;
  const inDaemon = [...MAY_START_PROCESSES].filter((file) => file.startsWith("daemon/"));
  const counted = inDaemon.map((file) => [file, calls(file, /\bcountSpawn\(/g)]);
  expect(counted).toEqual(inDaemon.map((file) => [file, calls(file, /\b(?:spawnPty|spawnChild|execFile)\(/g)]));
});

test("only one file knows the native pty module, and only one the regex engine", () => {
  const importers = (name: string): string[] =>
    ["protocol", "daemon", "adapters"]
      .flatMap(sources)
      .filter((file) =>
        new RegExp(`(?:from|import|require)\\s*\\(?\\s*["']${name}`).test(readFileSync(join(ROOT, file), "utf8")),
      );
  expect(importers("@homebridge/node-pty")).toEqual(["daemon/host/clients/ptyTransport.ts"]);
  expect(importers("re2-wasm")).toEqual(["daemon/waits/regex/regexWorker.ts"]);
});

test("time comes from the clock", () => {
  const direct = ["protocol", "daemon", "adapters"]
    .flatMap(sources)
    .filter((file) => file !== "daemon/time/clock.ts")
    .filter((file) => /\b(?:setTimeout|setInterval|performance\.now)\(/.test(readFileSync(join(ROOT, file), "utf8")));
  expect(direct).toEqual([]);
});
