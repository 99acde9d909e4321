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
/** What keeps a daemon from starting is known, and another one's tmux server taken, when it has nearly begun to listen. */
const TAKEN_LISTENS_WITHIN_MS = 2_000;
const READY = /^native API listening on unix:/m;

interface StartedDaemon {
  /** Undefined: it was there already, and has restarted, or somebody else has started it. */
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
  const there = { pid: undefined, logPath };
  if (await listensWhile(() => isRestarting(socketPath), socketPath, signal)) return there;
  try {
    const pid = await autostart({ flags: ["--only", "native", ...flags], env, signal, logPath, ready: READY });
    return { pid, logPath };
  } catch (error) {
    // Another command may have started one at the same time: ours finds its place taken before that one listens.
    const untilMs = systemClock.nowMs() + TAKEN_LISTENS_WITHIN_MS;
    if (await listensWhile(() => systemClock.nowMs() < untilMs, socketPath, signal)) return there;
    const message = `no daemon is running, and starting one failed: ${(error as Error).message}`;
    throw new AppError("DAEMON_UNREACHABLE", message, { cause: error });
  }
}

/** Whether one listens, looked at as long as it `isExpected`. @throws the signal's reason */
async function listensWhile(isExpected: () => boolean, socketPath: string, signal: AbortSignal): Promise<boolean> {
  while (isExpected()) {
    // oxlint-disable-next-line no-await-in-loop -- until it listens, or has not come
    if (await isListening(socketPath)) return true;
    // oxlint-disable-next-line no-await-in-loop -- between two looks
    await sleep(systemClock, LOOK_EVERY_MS, signal);
  }
  return false;
}
