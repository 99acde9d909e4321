/** A command line run in process: what it writes is kept, nothing of the test's own process is touched. */
import { Readable } from "node:stream";
import { COMMANDS } from "../../../adapters/commands/commandTable.ts";
import { COMMAND_GROUPS, HELP_TOPICS } from "../../../adapters/commands/helpTopics.ts";
import type { CommandSpec, Program } from "../../../adapters/cli/commandTypes.ts";
import type { Io } from "../../../adapters/cli/cliIo.ts";
import { runCli } from "../../../adapters/cli/runCli.ts";
import { tmuxwireProgram } from "../../../adapters/cli/tmuxwireProgram.ts";

export interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const HELP = { groups: COMMAND_GROUPS, topics: HELP_TOPICS };

export async function inProcessCli(
  args: readonly string[],
  io: Partial<Io> = {},
  table: readonly CommandSpec[] = COMMANDS,
): Promise<CliResult> {
  return ranInProcess(tmuxwireProgram(table, table === COMMANDS ? HELP : {}), args, io);
}

export async function ranInProcess(program: Program, args: readonly string[], io: Partial<Io>): Promise<CliResult> {
  let [out, err] = ["", ""];
  const code = await runCli(program, args, {
    env: {},
    cwd: "/",
    homeDir: "/nonexistent/home",
    tmpDir: "/nonexistent/tmp",
    platform: "linux",
    stdin: Readable.from([]),
    out: async (data) => {
      out += typeof data === "string" ? data : Buffer.from(data).toString("latin1");
    },
    err: (text) => {
      err += text;
    },
    colour: false,
    signal: new AbortController().signal,
    ...io,
  });
  return { code, out, err };
}
