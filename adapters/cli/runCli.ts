/**
 * Runs one command line, from arguments to exit code. Help and the version go to stdout with exit code 0; a usage error is
 * one line on stderr and exit code 2; the program reports what a command throws (`Program.fail`).
 */
import type { CommandCall, Program } from "./commandTypes.ts";
import { colourStyle, commandHelp, overview, plainStyle, topicHelp } from "./help.ts";
import { type Io, OutputLost } from "./cliIo.ts";
import { commandNamed, findCommand, ownWords, parseCommand } from "./parseCommand.ts";

/** Returns the exit code; never throws. */
export async function runCli(program: Program, args: readonly string[], io: Io): Promise<number> {
  // Before parsing, so that even an invalid command line is reported in the requested format.
  const command = commandNamed(program.commands, args[0]);
  const json = jsonAsked(command === undefined ? args : ownWords(command, args.slice(1)));
  let exitCode: number;
  try {
    exitCode = await dispatch(program, args, io);
  } catch (error) {
    exitCode = await program.fail(io, error, json, command?.exitCodeOf);
  }
  const { reason } = io.signal as { readonly reason: unknown };
  return reason instanceof OutputLost ? reason.exitCode : exitCode;
}

async function dispatch(program: Program, args: readonly string[], io: Io): Promise<number> {
  const style = io.colour ? colourStyle : plainStyle;
  const [name, ...rest] = args;
  if (name === undefined) {
    io.err(overview(program, plainStyle));
    return 2;
  }
  if (name === "--version" || name === "-V") {
    await io.out(`${program.name} ${program.version()}\n`);
    return 0;
  }
  if (name === "--help" || name === "-h" || name === "help") {
    const about = name === "help" ? rest.find((word) => !word.startsWith("-")) : undefined;
    const topic = program.topics?.find((each) => each.name === about);
    if (topic !== undefined) await io.out(topicHelp(program.name, topic, style));
    else if (about === undefined) await io.out(overview(program, style));
    else await io.out(commandHelp(program.name, findCommand(program, about), style));
    return 0;
  }
  const command = findCommand(program, name);
  const { options, positionals, tail, help } = parseCommand(program.name, command, rest);
  if (help) {
    await io.out(commandHelp(program.name, command, style));
    return 0;
  }
  const call: CommandCall = { io, program, options, positionals, tail };
  return command.run(call);
}

function jsonAsked(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end === -1 ? args.length : end).includes("--json");
}
