/** Claude Code's part of a hook: the command of its settings in a shell, the event on stdin, waited for to its end. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inProcessCli } from "../daemon/cliOutput.ts";

/** The command for an event, as `tmuxwire hooks install` writes it into the settings below `home`. */
export async function hookCommand(
  home: string,
  event: string,
  dashboardUrl: string,
  env: Record<string, string> = {},
): Promise<string> {
  const words = ["hooks", "install", "claude", "--dashboard", dashboardUrl];
  const { code } = await inProcessCli(words, { homeDir: home, cwd: home, env });
  if (code !== 0) throw new Error(`hooks install ended with ${code}`);
  const settings = JSON.parse(readFileSync(join(home, ".claude", "settings.json"), "utf8")) as {
    hooks: Record<string, { hooks: { command: string }[] }[]>;
  };
  return settings.hooks[event]![0]!.hooks[0]!.command;
}

export interface HookRun {
  readonly code: number | null;
  /** What it printed, and what became of its stdin where that failed. */
  readonly output: string;
  readonly tookMs: number;
}

export function runHook(shell: string, command: string, event: string, env: Record<string, string>): Promise<HookRun> {
  const startMs = performance.now();
  const child = spawn(shell, ["-c", command], { env, cwd: "/" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (output += data.toString()));
  child.stdin.on("error", (error) => (output += String(error)));
  child.stdin.end(event);
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, output, tookMs: performance.now() - startMs }));
  });
}
