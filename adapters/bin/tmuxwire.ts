#!/usr/bin/env node
/** The executable: arguments in, exit code out. Everything else is in the command table. */
import process from "node:process";
import { COMMANDS } from "./commandTable.ts";
import { processIo } from "./io.ts";
import { runCli } from "./runCli.ts";

const exitCode = await runCli(COMMANDS, process.argv.slice(2), processIo(process));
// Exits although handles may be open: a keep-alive connection, or what a stop that took too long left behind.
process.exit(exitCode);
