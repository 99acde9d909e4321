#!/usr/bin/env node
/**
 * The executable: arguments in, exit code out. Everything else is in the command table, and loaded once it is known that
 * this Node can.
 */
import process from "node:process";
import { refuseOldNode } from "./oldNode.ts";

refuseOldNode("tmuxwire");

const { COMMANDS } = await import("./cli/commandTable.ts");
const { processIo } = await import("./cli/cliIo.ts");
const { runCli } = await import("./cli/runCli.ts");
const { tmuxwireProgram } = await import("./cli/tmuxwireProgram.ts");
const exitCode = await runCli(tmuxwireProgram(COMMANDS), process.argv.slice(2), processIo(process));
// Exits although handles may be open: a keep-alive connection, or what a stop that took too long left behind.
process.exit(exitCode);
