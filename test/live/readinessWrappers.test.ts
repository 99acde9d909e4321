/**
 * Agents as people start them: behind shells that go on afterwards, shims, launchers, `script`, another tmux. The program is
 * a stand-in called `claude` that draws its box; what counts here is who is found, not what its screens mean.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { measureAvailability } from "../../adapters/dashboard/panes/availability.ts";
import { findAddressee } from "../../daemon/delivery/pane/addressee.ts";
import { addresseeOf } from "../../daemon/panes/foreground.ts";
import type { Readiness } from "../../daemon/readiness/readiness.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type OwnedFixture, ownedFixture } from "../support/tmux/ownedFixture.ts";
import { text } from "../support/tmux/panePrograms.ts";
import { watchPane } from "../support/agents/readinessWatch.ts";
import { profileNamed } from "../support/agents/agentCatalogue.ts";

/** Draws Claude's box, and says on which pid; with `--bare` nothing on the screen tells whose box it is. */
const CLAUDE = `#!${process.execPath}
const rule = "─".repeat(60);
require("node:fs").writeFileSync(process.argv[1] + ".pid", String(process.pid));
process.stdin.setRawMode?.(true);
process.stdin.on("data", () => undefined);
const banner = process.argv.includes("--bare") ? "" : " Claude Code v2.1.330";
process.stdout.write(\`\\x1b[?2004h\\x1b[2J\\x1b[H\${banner}\\r\\n\${rule}\\r\\n❯ \\r\\n\${rule}\\r\\n  ? for shortcuts\\x1b[3;3H\`);
`;

interface Place {
  readonly fixture: OwnedFixture;
  readonly directory: string;
  readonly start: (...command: string[]) => Promise<PaneId>;
  /** Ends the agent as a crash does. */
  readonly kill: () => void;
}

function place(fixture: OwnedFixture): Place {
  const { directory } = fixture.socket;
  const bin = join(directory, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  const program = join(bin, "claude");
  writeFileSync(program, CLAUDE);
  chmodSync(program, 0o755);
  symlinkSync(program, join(directory, "claude"));
  return {
    fixture,
    directory,
    start: async (...command) => {
      const session = await fixture.server.createSession({ name: "w", cwd: directory, command, cols: 80, rows: 24 });
      return session.activePane!;
    },
    kill: () => {
      const found = spawnSync("sh", ["-c", `cat ${directory}/*.pid ${bin}/*.pid 2>/dev/null | head -1`]);
      process.kill(Number(found.stdout.toString().trim()), "SIGKILL");
    },
  };
}

const isIdle =
  (profile: string) =>
  (readiness: Readiness): boolean =>
    readiness.state === "idle" && readiness.profile === profile;

const WRAPPERS = [
  { name: "sh -c that goes on with a shell", command: ["sh", "-c", "./claude; exec bash --norc"], needs: "sh" },
  { name: "a shell's shim", command: ["bash", "-c", "sh -c 'exec ./claude'; true"], needs: "bash" },
  { name: "script", command: ["script", "-qc", "./claude", "/dev/null"], needs: "script" },
  { name: "npx", command: ["npx", "--no-install", "claude"], needs: "npx" },
  {
    name: "env and timeout",
    command: ["env", "A=1", "timeout", "1000", "sh", "-c", "./claude; true"],
    needs: "timeout",
  },
  {
    name: "another tmux",
    command: ["sh", "-c", "unset TMUX; tmux -S ./inner.sock -f /dev/null new ./claude"],
    needs: "tmux",
  },
] as const;
const there = WRAPPERS.filter(({ name, needs }) => {
  const isThere = spawnSync("sh", ["-c", `command -v ${needs}`]).status === 0;
  if (!isThere) console.log(`skipped: there is no ${needs} for ${name}`);
  return isThere;
});

test.each(there)("behind $name the agent is found", async ({ command }) => {
  await using fixture = await ownedFixture();
  const { directory, start } = place(fixture);
  try {
    const pane = await start(...command);
    using watched = watchPane(fixture.server, pane);
    await watched.until(isIdle("claude"));
    // Nothing that came before was taken for a shell that reads.
    expect(watched.seen.filter(({ readiness }) => isIdle("shell")(readiness))).toEqual([]);
    // `script` outlives its terminal.
    for (const { pid } of (await fixture.server.foreground(pane)).processes ?? []) {
      try {
        process.kill(pid, "SIGKILL");
      } catch (error) {
        // The one before has taken it with it.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  } finally {
    spawnSync("tmux", ["-S", join(directory, "inner.sock"), "kill-server"]);
  }
});

/** Starts the program below itself, in its own process group, and waits for it. */
const STARTS_CHILD = `const [name, ...words] = process.argv.slice(2);
require("node:child_process").spawn(name, words, { stdio: "inherit" }).on("exit", (code) => process.exit(code ?? 1));
`;

/** Launchers and shims that may not be installed here, by name, each as the real one behaves. */
const STAND_INS = [
  // Node under its name runs the file that has the name of its subcommand: a native program, as they are.
  { name: "bun x", words: ["bun", "x", "claude"] },
  { name: "uv run", words: ["uv", "run", "claude"] },
  { name: "mise exec", words: ["mise", "exec", "--", "claude"] },
  { name: "a shim of mise", words: ["mise-shims/claude"] },
  { name: "a shim of asdf", words: ["asdf-shims/claude"] },
] as const;

function standIns(directory: string): string {
  const bin = join(directory, "bin");
  const installed = join(directory, "node_modules/.bin");
  const script = (path: string, content: string): void =>
    writeFileSync(join(directory, path), content, { mode: 0o755 });
  for (const folder of ["bin", "mise-shims", "asdf-shims"]) mkdirSync(join(directory, folder));
  for (const name of ["bun", "uv"]) symlinkSync(process.execPath, join(bin, name));
  for (const subcommand of ["x", "run"]) script(subcommand, STARTS_CHILD);
  // mise is told by the name that it is called by, and becomes the program.
  script(
    "bin/mise",
    `#!/bin/sh\ncase $0 in */mise) shift 2 ;; *) set -- "\${0##*/}" "$@" ;; esac\nname=$1; shift; exec "${installed}/$name" "$@"\n`,
  );
  symlinkSync(join(bin, "mise"), join(directory, "mise-shims/claude"));
  script("asdf-shims/claude", '#!/usr/bin/env bash\n# asdf-plugin: nodejs 20\nexec asdf exec "claude" "$@"\n');
  script("bin/asdf", `#!/usr/bin/env bash\nshift; name=$1; shift; exec "${installed}/$name" "$@"\n`);
  return `PATH=${bin}:${installed}:${process.env["PATH"]}`;
}

test.each(STAND_INS)("behind $name readiness, delivery and availability find the agent", async ({ words }) => {
  await using fixture = await ownedFixture();
  const { server } = fixture;
  const { directory, start } = place(fixture);
  const pane = await start("env", standIns(directory), ...words, "--bare");
  using watched = watchPane(server, pane);
  await watched.until(isIdle("claude"));
  expect(watched.seen.filter(({ readiness }) => isIdle("shell")(readiness))).toEqual([]);
  const { processes = [] } = await server.foreground(pane);
  const pid = Number(readFileSync(join(directory, "node_modules/.bin/claude.pid"), "utf8"));
  expect(addresseeOf(processes, new Set(["claude"]))?.pid).toBe(pid);
  const isAvailable = (program: string): Promise<boolean> =>
    measureAvailability({ server, level: "process_tree", programs: new Set([program]) })(pane);
  expect([await isAvailable("claude"), await isAvailable("codex")]).toEqual([true, false]);
});

test("a shell's function that runs the agent: shell, agent, shell", async () => {
  await using fixture = await ownedFixture();
  const { kill, start } = place(fixture);
  const pane = await start("bash", "--norc", "--noprofile");
  using watched = watchPane(fixture.server, pane);
  await watched.until(isIdle("shell"));
  let from = watched.seen.length;
  await fixture.server.input(pane, [text("agent() { ( ./claude; true ); }; agent\r")]);
  await watched.until(isIdle("claude"), from);
  from = watched.seen.length;
  kill();
  const { readiness } = await watched.until(isIdle("shell"), from);
  expect(readiness.profile).toBe("shell");
});

test("an agent that dies in another tmux cannot be told from outside, except by what is drawn then", async () => {
  await using fixture = await ownedFixture();
  const { server } = fixture;
  const { directory, kill, start } = place(fixture);
  const below = "./claude; PS1='$ ' exec bash --norc --noprofile";
  writeFileSync(join(directory, "below.sh"), below);
  try {
    const pane = await start("sh", "-c", "unset TMUX; tmux -S ./inner.sock -f /dev/null new 'sh below.sh'");
    using watched = watchPane(server, pane);
    await watched.until(isIdle("claude"));
    const addressee = await findAddressee(server, pane, profileNamed("claude"), {
      readers: undefined,
      isNamed: true,
      hadAgent: false,
    });
    const from = watched.seen.length;
    kill();
    await watched.until(({ state }) => state !== "idle", from);
    await eventually(async () => (await server.capture(pane)).lines.some((line) => line.startsWith("$")));
    const states = new Set(watched.seen.slice(from).map(({ readiness }) => readiness.state));
    expect([...states].filter((state) => state !== "idle")).toEqual(["unknown"]);
    expect([addressee.isGone, addressee.isEnding]).toEqual([false, false]);
  } finally {
    spawnSync("tmux", ["-S", join(directory, "inner.sock"), "kill-server"]);
  }
});

test("a script that is about to start the agent is no idle shell, whatever it has printed", async () => {
  await using fixture = await ownedFixture();
  const { directory, start } = place(fixture);
  writeFileSync(join(directory, "launch.sh"), "printf 'ready in a moment $ '\nread line < go\nexec ./claude\n");
  expect(spawnSync("mkfifo", [join(directory, "go")]).status).toBe(0);
  const pane = await start("sh", "launch.sh");
  using watched = watchPane(fixture.server, pane);
  await eventually(async () => (await fixture.server.capture(pane)).lines.some((line) => line.includes("moment $")));
  expect((await watched.pane.probe()).state).not.toBe("idle");
  expect((await watched.pane.probe()).state).not.toBe("idle");
  writeFileSync(join(directory, "go"), "\n");
  await watched.until(isIdle("claude"));
  expect(watched.seen.filter(({ readiness }) => isIdle("shell")(readiness))).toEqual([]);
});

test.each([undefined, "claude"])(
  "an agent whose process is gone is so at once, whatever its hook said (profile %s)",
  async (profile) => {
    await using fixture = await ownedFixture();
    const { kill, start } = place(fixture);
    // Nothing is printed when it ends, and no prompt follows.
    const pane = await start("sh", "-c", "./claude </dev/tty 2>/dev/null & wait $! 2>/dev/null; sleep 1000");
    const engineProfile = profile === undefined ? {} : { profile };
    using watched = watchPane(fixture.server, pane, engineProfile);
    await watched.until(isIdle("claude"));
    watched.pane.report({ state: "asking" });
    expect(watched.pane.current.state).toBe("asking");
    kill();
    await eventually(() => watched.engine.known(fixture.server, pane)?.state !== "asking");
    watched.pane.report({ state: "asking" });
    const { state } = await watched.pane.probe();
    expect(state).toBe(profile === undefined ? "unknown" : "dead");
  },
);
