/** `device run`: keeps this command line's device online, as the owner of its layout, until it is told to stop. */
import { systemClock } from "../../../daemon/time/clock.ts";
import { DEVICE_ID } from "../../../protocol/api/freshell/freshellHttp.ts";
import { CLOSE_CODES } from "../../../protocol/api/freshell/freshellWire.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { Io } from "../../cli/cliIo.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { failureOf } from "./commandFailure.ts";
import { openDevice } from "./deviceFile.ts";
import { deviceIdentity } from "./deviceIdentity.ts";
import { takeDeviceLock } from "./deviceLock.ts";
import { FreshellSession } from "./freshellSession.ts";
import { OwnerConnection } from "./ownerConnection.ts";

/** Between two attempts to reach an absent server; doubled from the first to the second. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

export interface DeviceRan {
  readonly deviceId: string;
  readonly workspaceRevision: number;
}

/** @throws AppError, CommandFailure */
export async function runDevice(call: CommandCall): Promise<DeviceRan> {
  const { io, options } = call;
  const allow = options.list("allow-remote");
  if (!allow.every((one) => one === "*" || DEVICE_ID.test(one)))
    throw new AppError("INVALID_ARGUMENT", "--allow-remote takes the id of a device, or *");
  const device = deviceIdentity(io);
  const lock = await takeDeviceLock(io, true);
  if (lock === undefined) {
    throw new AppError("INCONSISTENT_STATE", "`freshell device run` is already running for this home: end it first");
  }
  try {
    let connection: OwnerConnection | undefined;
    const runtime = openDevice(io, device.deviceId, (layout) => connection?.publish(layout));
    const stop = stopped(io);
    let pauseMs = FIRST_PAUSE_MS;
    let wasOnline = false;
    while (!io.signal.aborted) {
      try {
        // Other commands may have renewed the login since.
        connection = await new FreshellSession(io).connect((url, token) =>
          OwnerConnection.open({ url, token, device, runtime, allow }),
        );
      } catch (error) {
        // At the start this is the result; later the server may come back.
        if (!wasOnline || failureOf(error).fault.code === "UNAUTHORIZED") throw error;
        await Promise.race([pause(pauseMs), stop]);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        continue;
      }
      await report(call, `the device ${device.deviceId} is online\n`);
      [wasOnline, pauseMs] = [true, FIRST_PAUSE_MS];
      const code = await Promise.race([connection.closed, stop]);
      connection.close();
      if (code === CLOSE_CODES.DEVICE_SUPERSEDED) {
        throw new AppError("INCONSISTENT_STATE", "another owner of this device has connected, so this one has ended");
      }
      if (code !== undefined) io.err("freshell: the connection was lost; reconnecting\n");
    }
    return { deviceId: device.deviceId, workspaceRevision: runtime.workspaceRevision };
  } finally {
    lock.release();
  }
}

/** With `--json` stdout holds one document, which comes at the end. */
async function report({ io, options }: CommandCall, text: string): Promise<void> {
  if (options.flag("json")) io.err(`freshell: ${text}`);
  else await io.out(text);
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => void systemClock.callAt(systemClock.nowMs() + ms, resolve));

/** Resolves when told to stop. One promise for all waits: each would add a listener. */
const stopped = ({ signal }: Io): Promise<undefined> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
    if (signal.aborted) resolve(undefined);
  });
