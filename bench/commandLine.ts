/**
 * The frequent commands, each a process of its own that asks a daemon, against the least that Node does (`node -e 0`), in
 * turns. BENCH_NODE names another Node than the one that runs this.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { check, compare, type Contender, type Emit } from "./figures.ts";

const NODE = process.env["BENCH_NODE"] ?? process.execPath;
const PROGRAM = fileURLToPath(new URL("../adapters/bin/tmuxwire.cjs", import.meta.url));
const TURNS = { rounds: 5, perRound: 3, warmUp: 2 };
const COMMANDS: Readonly<Record<string, readonly string[]>> = {
  ls: ["ls"],
  send: ["send", "bench", "--enter", ":"],
  capture: ["capture", "bench"],
  // What `send` has typed stands there.
  "wait that is met": ["wait", "bench", "--text", ":", "--from", "tail:5"],
  "run true": ["run", "bench", "true"],
};

export async function run(emit: Emit): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "tw-bench-"));
  const runtime = join(home, "run");
  mkdirSync(runtime, { mode: 0o700 });
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_RUNTIME_DIR: runtime,
    XDG_STATE_HOME: join(home, "state"),
    SHELL: "/bin/sh",
  };
  const daemon = spawn(NODE, [PROGRAM, "serve", "--only", "native", "--port", "0"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(daemon.stdout, "data");
    const ours = (args: readonly string[]): number => {
      const startMs = performance.now();
      const { status, stderr } = spawnSync(NODE, [PROGRAM, ...args], { env, encoding: "utf8" });
      check(status === 0, `tmuxwire ${args.join(" ")}: ${stderr}`);
      return performance.now() - startMs;
    };
    const least: Contender = {
      name: "node -e 0",
      sample: async () => {
        const startMs = performance.now();
        check(spawnSync(NODE, ["-e", "0"], { env }).status === 0, "node -e 0");
        return performance.now() - startMs;
      },
    };
    ours(["new", "bench"]);
    ours(["wait", "bench", "--prompt", "--from", "tail:5"]);
    for (const [figure, args] of Object.entries(COMMANDS)) {
      const command = { name: "tmuxwire", sample: async () => ours(args) };
      await compare({ bench: "commandLine", figure, unit: "ms" }, [command, least], TURNS, emit);
    }
    ours(["kill", "bench"]);
  } finally {
    spawnSync("tmux", ["-S", join(runtime, "tmuxwire", "tmux.sock"), "kill-server"], { env });
    if (daemon.kill("SIGTERM")) await once(daemon, "exit");
    rmSync(home, { recursive: true, force: true });
  }
}
