/**
 * A user of their own for one test: home, configuration, state, runtime and temporary directories that nobody else has, the
 * executable run in them, and nothing left behind: processes, tmux servers and directories go at the end.
 */
import type { ChildProcess } from "node:child_process";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { builtCli } from "./cliBuild.ts";

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The first match on stdout; rejects when the process ends before. */
  line(pattern: RegExp): Promise<RegExpExecArray>;
  readonly finished: Promise<Finished>;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
  /** Another executable beside ours. */
  readonly script?: string;
}

export interface CliSandbox extends AsyncDisposable {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where the defaults are. */
  readonly socketPath: string;
  readonly tmuxSocketPath: string;
  readonly tokenPath: string;
  path(...parts: string[]): string;
  start(args: readonly string[], options?: RunOptions): Running;
  /** Watches a process that the test has started itself, and ends it with the rest. */
  adopt(child: ChildProcess): Running;
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** A daemon with its native listeners ready, on free ports. */
  serve(args?: readonly string[], options?: RunOptions): Promise<Running>;
  /** A directory for PATH with these executables and Node's. */
  binaries(name: string, scripts: Readonly<Record<string, string>>): string;
  tmux(socketPath: string, ...args: readonly string[]): string;
}

export function cliSandbox(): CliSandbox {
  const root = mkdtempSync(join(tmpdir(), "tw-"));
  const path = (...parts: string[]): string => join(root, ...parts);
  const env: Record<string, string> = {
    PATH: process.env["PATH"] ?? "",
    HOME: path("home"),
    TMPDIR: path("tmp"),
    XDG_RUNTIME_DIR: path("run"),
    XDG_STATE_HOME: path("state"),
    XDG_CONFIG_HOME: path("config"),
    XDG_DATA_HOME: path("data"),
    LANG: "C.UTF-8",
    TERM: "dumb",
    SHELL: "/bin/sh",
    PS1: "$ ",
    // Nobody's own tmux server, and no fixed port.
    TMUX_TMPDIR: path("tmp"),
    TMUXWIRE_DASHBOARD_PORT: "0",
  };
  for (const name of ["home", "tmp", "run", "state", "config", "data"]) mkdirSync(path(name), { mode: 0o700 });
  const running = new Set<Running>();
  const executable = builtCli();

  // A test that is ended from outside ends its processes as well.
  const killAll = (): void => running.forEach(({ child }) => child.kill("SIGKILL"));
  process.once("exit", killAll);

  const adopt = (child: ChildProcess): Running => {
    const one = watch(child);
    running.add(one);
    void one.finished.then(() => running.delete(one));
    return one;
  };

  const start = (args: readonly string[], options: RunOptions = {}): Running => {
    const child = spawn(
      process.execPath,
      [options.script === undefined ? executable : join(dirname(executable), options.script), ...args],
      {
        env: { ...env, ...options.env },
        cwd: options.cwd ?? root,
        stdio: ["pipe", "pipe", "pipe"],
      },
    );
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    return adopt(child);
  };

  const sandbox: CliSandbox = {
    root,
    env,
    path,
    socketPath: path("run/tmuxwire/tmuxwire.sock"),
    tmuxSocketPath: path("run/tmuxwire/tmux.sock"),
    tokenPath: path("state/tmuxwire/token"),
    start,
    adopt,
    run: (args, options) => start(args, options).finished,
    serve: async (args = [], options = {}) => {
      const daemon = start(["serve", "--only", "native", "--port", "0", ...args], options);
      await daemon.line(/listening on unix:/);
      return daemon;
    },
    binaries: (name, scripts) => {
      mkdirSync(path(name));
      symlinkSync(process.execPath, path(name, "node"));
      for (const [file, text] of Object.entries(scripts)) {
        writeFileSync(path(name, file), text);
        chmodSync(path(name, file), 0o755);
      }
      return path(name);
    },
    tmux: (socketPath, ...args) => {
      const { status, stdout, stderr } = spawnSync("tmux", ["-u", "-S", socketPath, ...args], { encoding: "utf8" });
      if (status !== 0) throw new Error(`tmux ${args.join(" ")}: ${stderr}`);
      return stdout;
    },
    [Symbol.asyncDispose]: async () => {
      killAll();
      process.off("exit", killAll);
      await Promise.all([...running].map((one) => one.finished));
      for (const socket of sockets(root)) await endTmux(socket);
      rmSync(root, { recursive: true, force: true });
    },
  };
  return sandbox;
}

/** The system's directories behind `directory`, for scripts that need a shell. */
export const behind = (directory: string): string => [directory, "/usr/bin", "/bin"].join(delimiter);

function watch(child: ChildProcess): Running {
  let [stdout, stderr] = ["", ""];
  const listeners = new Set<() => void>();
  const tell = (): void => listeners.forEach((listener) => listener());
  child.stdout?.setEncoding("latin1").on("data", (text: string) => {
    stdout += text;
    tell();
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  let ended = false;
  const finished = once(child, "close").then(([code]): Finished => {
    ended = true;
    tell();
    return { code: code as number | null, stdout, stderr };
  });
  return {
    child,
    pid: child.pid ?? -1,
    stdout: () => stdout,
    stderr: () => stderr,
    finished,
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const probe = (): void => {
          const match = pattern.exec(stdout);
          if (match === null && !ended) return;
          listeners.delete(probe);
          if (match === null)
            reject(new Error(`ended without ${String(pattern)}; stdout: ${stdout} stderr: ${stderr}`));
          else resolve(match);
        };
        listeners.add(probe);
        probe();
      }),
  };
}

const sockets = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((name) => join(root, name))
    .filter((name) => /(?:tmux(-[^/]*)?|freshell)\.sock$|\/tmux-\d+\/[^/]+$/.test(name));

/** kill-server returns before the server is gone, and nothing announces that it is (docs/tmuxFacts.md 6). */
async function endTmux(socketPath: string): Promise<void> {
  if (!(await accepts(socketPath))) return;
  spawnSync("tmux", ["-S", socketPath, "kill-server"]);
  while (await accepts(socketPath)) await delay(10);
}

const accepts = (socketPath: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(socketPath);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
