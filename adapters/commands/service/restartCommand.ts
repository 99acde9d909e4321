/** `tmuxwire restart`: the version that this command belongs to takes the place of the daemon that runs. */
import { join } from "node:path";
import {
  DEFAULT_DRAIN_SEC,
  type NativeDaemon,
  type NativeRestarting,
} from "../../../protocol/api/native/nativeRestart.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { sleep } from "../../../daemon/time/within.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { CommandCall, CommandSpec } from "../../cli/commandTypes.ts";
import { JSON_OPTION, printResult } from "../../cli/jsonOutput.ts";
import { HttpCaller, TmuxwireError } from "../../client/clientHttp.ts";
import { isRestarting } from "../../serving/restart.ts";
import { unixFetch } from "../../serving/unixFetch.ts";
import { CLIENT_OPTIONS, daemonAddress } from "../connection/clientConnection.ts";

/** The new daemon has this long: it may have databases to migrate, and a service manager waits before it starts again. */
const BACK_WITHIN_MS = 30_000;
const LOOK_EVERY_MS = 25;

export const restartCommand: CommandSpec = {
  name: "restart",
  summary: "replace the running daemon with this version of tmuxwire",
  details: [
    "The new version is tried first: if it cannot start with the daemon's settings and files, the daemon goes on and the " +
      "command says why. Prompts that are being typed are finished, messages wait, programs in panes keep running. Streams " +
      "and pages reconnect by themselves; output printed meanwhile is declared as a gap. Waits and runs under way fail with " +
      "SHUTTING_DOWN.",
    "The daemon keeps its arguments, its environment and its log. Where a service manager opened its listeners, the service " +
      "manager starts the version that its unit names.",
  ],
  positionals: [],
  options: [
    {
      name: "timeout",
      type: "number",
      value: "SECONDS",
      description: "how long prompts that are being typed may take",
      default: String(DEFAULT_DRAIN_SEC),
      min: 0,
      max: 600,
    },
    ...CLIENT_OPTIONS.filter(({ name }) => name === "socket" || name === "token-file"),
    JSON_OPTION,
  ],
  examples: [{ line: "tmuxwire restart", does: "after an update (`npm install -g tmuxwire`)" }],
  run: restart,
};

async function restart(call: CommandCall): Promise<number> {
  const { io, options } = call;
  const { socketPath, token } = await daemonAddress(call);
  const daemon = new HttpCaller({ url: "http://localhost", token, fetch: unixFetch(socketPath) });
  const now = (): Promise<NativeDaemon> => daemon.json({ method: "GET", path: ["v1", "daemon"], signal: io.signal });
  const before = await now().catch(unlessOlder);
  const asked = await daemon
    .json<NativeRestarting>({
      method: "POST",
      path: ["v1", "daemon", "restart"],
      body: {
        node: process.execPath,
        script: join(import.meta.dirname, "tmuxwire.js"),
        timeoutSec: Math.trunc(options.number("timeout") ?? DEFAULT_DRAIN_SEC),
      },
      signal: io.signal,
    })
    .catch((error: unknown) => {
      // Somebody else has asked for it a moment before.
      if (isRestarting(socketPath)) return undefined;
      throw error;
    });
  const after = await untilBack(now, before, call);
  const { from, to, unfinished, by } = asked ?? { from: before.version, to: after.version, unfinished: 0 };
  const left = unfinished === 0 ? [] : [`${unfinished} deliveries had not ended in time: look at their panes`];
  await printResult(call, { from, to: after.version, pid: after.pid, unfinished, by }, [
    `the daemon runs ${after.version} now (before: ${from}), pid ${after.pid}`,
    // The unit names another file than the one of this command.
    ...(after.version === to
      ? []
      : [`the service manager started ${after.version}, not ${to}: run \`tmuxwire service install\``]),
    ...left,
  ]);
  return 0;
}

function unlessOlder(error: unknown): never {
  if (!(error instanceof TmuxwireError) || error.code !== "NOT_FOUND") throw error;
  throw new AppError(
    "INCONSISTENT_STATE",
    "the running daemon is too old to restart by itself: stop it (SIGTERM is enough; programs in panes keep running) and " +
      "start it again",
    { cause: error },
  );
}

/** @throws AppError DAEMON_UNREACHABLE: it did not come back */
async function untilBack(now: () => Promise<NativeDaemon>, before: NativeDaemon, { io }: CommandCall) {
  const untilMs = systemClock.nowMs() + BACK_WITHIN_MS;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- until it responds
    const after = await now().catch((error: unknown) => {
      io.signal.throwIfAborted();
      if (systemClock.nowMs() > untilMs) {
        const message = "the daemon has ended and the new one does not respond; `tmuxwire logs` says why";
        throw new AppError("DAEMON_UNREACHABLE", message, { cause: error });
      }
    });
    if (after !== undefined && after.startedUnixMs !== before.startedUnixMs) return after;
    // oxlint-disable-next-line no-await-in-loop -- between two looks
    await sleep(systemClock, LOOK_EVERY_MS, io.signal);
  }
}
