/** Assembles the executable `freshell`, in one file to load. */
import process from "node:process";
import { freshellProgram } from "../freshell/cli/freshellProgram.ts";
import { packageVersion } from "../serving/version.ts";
import { processIo } from "../cli/cliIo.ts";
import { runCli } from "../cli/runCli.ts";
import { completionsCommand } from "../commands/programs/completionsCommand.ts";

const program = freshellProgram(packageVersion, [completionsCommand("freshell")]);

/** Returns the exit code. */
export const freshellMain = (): Promise<number> =>
  runCli(program, process.argv.slice(2), processIo(process, "freshell"));
