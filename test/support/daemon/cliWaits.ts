/** Waits as a user starts them: `tmuxwire wait` in a process of its own, and panes to wait in. */
import type { NativeWaitResponse } from "../../../adapters/client/client.ts";
import type { CliSandbox } from "./cliSandbox.ts";

interface CliWait {
  readonly code: number | null;
  /** Undefined when it failed. */
  readonly answer: NativeWaitResponse | undefined;
  /** What it says then. */
  readonly failure: string | undefined;
}

export async function waitIn(sandbox: CliSandbox, pane: string, ...options: readonly string[]): Promise<CliWait> {
  const { code, stdout } = await sandbox.run(["wait", pane, "--json", ...options]);
  if (code !== 0) return { code, answer: undefined, failure: stdout };
  return { code, answer: JSON.parse(stdout) as NativeWaitResponse, failure: undefined };
}

/** A pane that prints what is typed, byte for byte, and nothing else. */
export const echoPane = (sandbox: CliSandbox, name: string): Promise<string> =>
  paneOf(sandbox, name, ["sh", "-c", "stty raw -echo; printf 'ready;'; exec cat"]);

/** A pane that runs this JavaScript, once it has printed `ready;`. */
export const programPane = (sandbox: CliSandbox, name: string, body: string): Promise<string> =>
  paneOf(sandbox, name, [process.execPath, "-e", body]);

async function paneOf(sandbox: CliSandbox, name: string, command: readonly string[]): Promise<string> {
  const made = await sandbox.run(["new", name, "--", ...command]);
  if (made.code !== 0) throw new Error(made.stderr);
  const pane = made.stdout.trim();
  const begun = await waitIn(sandbox, pane, "--text", "ready;", "--from", "tail:200");
  if (begun.code !== 0) throw new Error(begun.failure);
  return pane;
}
