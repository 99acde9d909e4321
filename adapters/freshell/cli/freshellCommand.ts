/**
 * A command of `freshell`: a row of the table whose work gets a session and returns data. With `--json` stdout holds
 * exactly one document, on success and on failure; without, text for a person.
 */
import type { Io } from "../../cli/cliIo.ts";
import { Interrupted } from "../../cli/cliIo.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { oneLine } from "../../cli/textTable.ts";
import { failureOf } from "./commandFailure.ts";
import { flag } from "./commandOptions.ts";
import { deviceIdentity } from "./deviceIdentity.ts";
import { FreshellSession } from "./freshellSession.ts";

const JSON_OPTION = flag("json", "print one JSON document");

export interface FreshellCall extends CommandCall {
  /** The command's name, for messages. */
  readonly name: string;
  readonly session: FreshellSession;
}

type Lists = "positionals" | "options" | "examples";
interface FreshellCommand<Data> extends Omit<CommandSpec, "run" | Lists>, Partial<Pick<CommandSpec, Lists>> {
  /** Refuses bad input before anything else. @throws AppError */
  readonly perform: (call: FreshellCall) => Promise<Data> | Data;
  /** For a person; default nothing. */
  readonly show?: ((data: Data) => string) | undefined;
}

export function freshellCommand<Data>({ perform, show, ...spec }: FreshellCommand<Data>): CommandSpec {
  const { name, positionals = [], options: own = [], examples = [] } = spec;
  return {
    ...spec,
    positionals,
    examples,
    options: [...own, JSON_OPTION],
    run: async (call) => {
      const { io, options } = call;
      const session = new FreshellSession(io);
      makeIdentity(io);
      const data = await perform({ ...call, name, session });
      if (options.flag("json")) await io.out(`${JSON.stringify({ status: "ok", data })}\n`);
      else await io.out(show?.(data) ?? "");
      return 0;
    },
  };
}

/** By the first command, whichever it is. Only commands that need it fail without: the home may be read-only. */
function makeIdentity(io: Io): void {
  try {
    deviceIdentity(io);
  } catch {
    // Commands that need it try again, and fail.
  }
}

/** Reports a command's failure, and returns the exit code. */
export async function reportFreshellFailure(io: Io, thrown: unknown, json: boolean): Promise<number> {
  const reason = [thrown, io.signal.reason].find((one) => one instanceof Interrupted);
  if (reason !== undefined) return reason.exitCode;
  const { fault, exitCode } = failureOf(thrown);
  const { code, message, details = {}, stage } = fault;
  if (json) await io.out(`${JSON.stringify({ status: "error", code, message, details, stage })}\n`);
  io.err(`freshell: ${oneLine(message)} (${code})\n`);
  return exitCode;
}
