/** Starts a daemon with the native API for a command that finds none running. */
import { dirname, join } from "node:path";
import { systemClock } from "../../../daemon/time/clock.ts";
import { sleep } from "../../../daemon/time/within.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { Io } from "../../cli/cliIo.ts";
import { isRestarting } from "../../serving/restart.ts";
import { isListening } from "../../serving/socketProbe.ts";
import { autostart } from "../../serving/autostart.ts";

const LOOK_EVERY_MS = 25;
const READY = /^native API listening on unix:/m;

interface StartedDaemon {
  /** Undefined: it was there already, and has restarted. */
  readonly pid: number | undefined;
  readonly logPath: string;
}

/**
 * A daemon that restarts is waited for: one of ours, with other arguments, must not come before it.
 * @param flags after `serve --only native`
 * @throws AppError DAEMON_UNREACHABLE
 */
export async function startNative(
  { env, signal }: Io,
  socketPath: string,
  flags: readonly string[] = [],
): Promise<StartedDaemon> {
  const logPath = join(dirname(socketPath), "daemon.log");
  while (isRestarting(socketPath)) {
    // oxlint-disable-next-line no-await-in-loop -- until it listens, or has not come
    if (await isListening(socketPath)) return { pid: undefined, logPath };
    // oxlint-disable-next-line no-await-in-loop -- between two looks
    await sleep(systemClock, LOOK_EVERY_MS, signal);
  }
  try {
    const pid = await autostart({ flags: ["--only", "native", ...flags], env, signal, logPath, ready: READY });
    return { pid, logPath };
  } catch (error) {
    const message = `no daemon is running, and starting one failed: ${(error as Error).message}`;
    throw new AppError("DAEMON_UNREACHABLE", message, { cause: error });
  }
}
