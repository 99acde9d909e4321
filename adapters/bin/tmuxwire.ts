#!/usr/bin/env node
/**
 * Every command: arguments in, exit code out. What is run most often never comes here from the executable (`entry.ts`).
 * Everything is in the command table, and loaded after the check of Node's version, because a script may name this file.
 */
import process from "node:process";

/** `engines` in package.json. */
const OLDEST_NODE = [20, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  const needed = OLDEST_NODE.join(".");
  process.stderr.write(
    `tmuxwire: needs Node ${needed} or newer, this is ${process.versions.node}: install a newer one\n`,
  );
  process.exit(1);
}

const args = process.argv.slice(2);
const [name] = args;
const daemon = name === "serve" || name === "addin" ? await daemonCommands() : undefined;
if (daemon === undefined) {
  const { quickMain } = await import("./quickMain.ts");
  const quick = await quickMain(args);
  // Exits although handles may be open: a keep-alive connection, or what a stop that took too long left behind.
  if (quick !== undefined) process.exit(quick);
}
const { commands, ...help } = daemon ?? (await allCommands());
const { processIo } = await import("../cli/cliIo.ts");
const { runCli } = await import("../cli/runCli.ts");
const { tmuxwireProgram } = await import("../cli/tmuxwireProgram.ts");
const exitCode = await runCli(tmuxwireProgram(commands, help), args, processIo(process, "tmuxwire"));
process.exit(exitCode);

/** A daemon holds what it loads for weeks, so it does not load the commands that ask one. */
async function daemonCommands() {
  const { addinCommand, serveCommand } = await import("../commands/service/serveCommand.ts");
  return { commands: [serveCommand, addinCommand] };
}

async function allCommands() {
  const { COMMANDS } = await import("../commands/commandTable.ts");
  const { COMMAND_GROUPS: groups, HELP_TOPICS: topics } = await import("../commands/helpTopics.ts");
  return { commands: COMMANDS, groups, topics };
}
