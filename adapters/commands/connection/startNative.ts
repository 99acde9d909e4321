/** Starts a daemon with the native API for a command that finds none running. */
import { dirname, join } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import type { Io } from "../../cli/cliIo.ts";
import { autostart } from "../../serving/autostart.ts";

const READY = /^native API listening on unix:/m;

interface StartedDaemon {
  readonly pid: number | undefined;
  readonly logPath: string;
}

/** @param flags after `serve --only native` @throws AppError DAEMON_UNREACHABLE */
export async function startNative(
  { env, signal }: Io,
  socketPath: string,
  flags: readonly string[] = [],
): Promise<StartedDaemon> {
  const logPath = join(dirname(socketPath), "daemon.log");
  try {
    const pid = await autostart({ flags: ["--only", "native", ...flags], env, signal, logPath, ready: READY });
    return { pid, logPath };
  } catch (error) {
    const message = `no daemon is running, and starting one failed: ${(error as Error).message}`;
    throw new AppError("DAEMON_UNREACHABLE", message, { cause: error });
  }
}
