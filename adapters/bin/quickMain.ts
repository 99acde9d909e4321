/**
 * The commands that ask a daemon and do nothing else, in one file to load (the most frequent of them in a smaller one:
 * `frequentMain.ts`). Everything else, help included, is in the whole table.
 */
import process from "node:process";
import { processIo } from "../cli/cliIo.ts";
import { commandNamed } from "../cli/parseCommand.ts";
import { runCli } from "../cli/runCli.ts";
import { tmuxwireProgram } from "../cli/tmuxwireProgram.ts";
import { OPERATION_COMMANDS } from "../commands/operations/operationCommands.ts";
import { isForNats } from "./natsWords.ts";

/** Returns the exit code; undefined if the command line is none of these. */
export async function quickMain(args: readonly string[]): Promise<number | undefined> {
  if (isForNats(args)) return undefined;
  const command = commandNamed(Object.values(OPERATION_COMMANDS), args[0]);
  return command && runCli(tmuxwireProgram([command]), args, processIo(process, "tmuxwire"));
}
