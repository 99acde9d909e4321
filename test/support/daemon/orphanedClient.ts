/**
 * A control client as a daemon leaves it that started it without closing descriptors: the daemon is dead, and something
 * that it started later holds the client's terminal, so the kernel tells nobody.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

interface OrphanedClient extends Disposable {
  readonly pid: number;
}

/** The same on pipes, which somebody else holds as well. @param args what tmux is run with after `-C`. */
export async function orphanedPipeClient(args: readonly string[]): Promise<OrphanedClient> {
  const body = `
    const { spawn } = require("node:child_process");
    const holder = spawn("sleep", ["1000"], { stdio: ["ignore", "pipe", "ignore"], detached: true });
    const env = { PATH: process.env.PATH, TERM: "xterm-256color" };
    // Its input never ends, and its output goes nowhere: the daemon has been killed, and tmux has not noticed.
    const client = spawn("tmux", ["-C", ...${JSON.stringify(args)}], { stdio: [holder.stdout, "ignore", "inherit"], env, cwd: "/", detached: true });
    console.log(JSON.stringify({ pid: client.pid, holder: holder.pid }));
    setInterval(() => undefined, 1000);`;
  const starter = spawn(process.execPath, ["-e", body], { stdio: ["ignore", "pipe", "inherit"] });
  const [told] = (await once(starter.stdout, "data")) as [Buffer];
  const { pid, holder } = JSON.parse(told.toString("utf8")) as { pid: number; holder: number };
  starter.kill("SIGKILL");
  await once(starter, "exit");
  return { pid, [Symbol.dispose]: () => void process.kill(holder, "SIGKILL") };
}

/** @param args what tmux is run with after `-CC`. */
export async function orphanedClient(args: readonly string[]): Promise<OrphanedClient> {
  const body = `
    const { spawn: spawnPty } = require(${JSON.stringify("@homebridge/node-pty-prebuilt-multiarch")});
    const { spawn } = require("node:child_process");
    const env = { PATH: process.env.PATH, TERM: "xterm-256color" };
    const pty = spawnPty("tmux", ["-CC", ...${JSON.stringify(args)}], { encoding: null, env, cwd: "/", cols: 80, rows: 24 });
    pty.onData((bytes) => {
      if (!bytes.includes("%session-changed")) return;
      const holder = spawn("sleep", ["1000"], { stdio: "ignore", detached: true });
      console.log(JSON.stringify({ pid: pty.pid, holder: holder.pid }));
    });
    setInterval(() => undefined, 1000);`;
  const root = fileURLToPath(new URL("../../..", import.meta.url));
  const starter = spawn(process.execPath, ["-e", body], { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const [told] = (await once(starter.stdout, "data")) as [Buffer];
  const { pid, holder } = JSON.parse(told.toString("utf8")) as { pid: number; holder: number };
  starter.kill("SIGKILL");
  await once(starter, "exit");
  return { pid, [Symbol.dispose]: () => void process.kill(holder, "SIGKILL") };
}
