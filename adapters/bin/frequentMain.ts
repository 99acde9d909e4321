/**
 * The commands that people and agents run most often, each loaded alone from one small file, which shares nothing with the
 * rest: to load and compile is most of what they cost. Everything else is in `tmuxwire.ts`.
 */
import { replacePrivate } from "../../daemon/ops/privateFiles.ts";
import { processIo } from "../cli/cliIo.ts";
import type { CommandSpec } from "../cli/commandTypes.ts";
import { runCli } from "../cli/runCli.ts";
import { tmuxwireProgram } from "../cli/tmuxwireProgram.ts";
import { type FrequentName, isFrequent } from "./frequentWords.ts";
import { isForNats } from "./natsWords.ts";

const FREQUENT: Readonly<Record<FrequentName, () => Promise<CommandSpec>>> = {
  ls: async () => (await import("../commands/operations/lsCommand.ts")).lsCommand,
  send: async () => (await import("../commands/operations/paneCommands.ts")).sendCommand,
  capture: async () => (await import("../commands/operations/paneCommands.ts")).captureCommand,
  wait: async () => (await import("../commands/operations/waitCommand.ts")).waitCommand,
  run: async () => (await import("../commands/operations/paneRunCommand.ts")).runCommand,
};

/** Returns the exit code; undefined if the command line is none of these. */
export async function frequentMain(args: readonly string[]): Promise<number | undefined> {
  const [name] = args;
  if (!isFrequent(name) || isForNats(args)) return undefined;
  const command = await FREQUENT[name]();
  return runCli(tmuxwireProgram([command]), args, processIo(process, "tmuxwire"));
}

/** Where it cannot be kept, the next one compiles as this one did. */
export function keepCode(path: string, code: Uint8Array): void {
  // Node's own word for its cache.
  if (process.env["NODE_DISABLE_COMPILE_CACHE"] !== undefined) return;
  try {
    replacePrivate(path, code);
  } catch {
    // A full disk, or a directory that cannot be written.
  }
}
