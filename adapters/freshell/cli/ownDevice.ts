/**
 * This command line as the owner of its layout: `cli-layout.json`, written atomically before a change is confirmed, and a
 * WebSocket on which the server sends requests and the device responds. It is open once `ready` has come, and ends with the
 * server, the device or the network.
 */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { WebSocket } from "ws";
import { replacePrivate } from "../../../daemon/ops/privateFiles.ts";
import { systemClock, type Timer } from "../../../daemon/time/clock.ts";
import { sleep } from "../../../daemon/time/within.ts";
import { DEVICE_ID } from "../../../protocol/api/freshell/freshellHttp.ts";
import {
  CLOSE_CODES,
  FRESHELL_MAX_MESSAGE_BYTES,
  type ServerMessage,
} from "../../../protocol/api/freshell/freshellWire.ts";
import { AppError, toAppError } from "../../../protocol/errors.ts";
import { parseJson } from "../../../protocol/text/jsonObject.ts";
import type { Io } from "../../cli/cliIo.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { DeviceRuntime } from "../devices/deviceRuntime.ts";
import { answerRequest, DEVICE_CAPABILITIES, layoutMessage, presenceMessage } from "../devices/ownerMessages.ts";
import type { DeviceStore } from "../devices/savedDevice.ts";
import { newId } from "../newId.ts";
import { attempt, deviceIdentity, freshellHome, readText } from "./deviceIdentity.ts";
import { takeDeviceLock } from "./deviceLock.ts";
import { invalid } from "./freshellCommand.ts";
import { CommandFailure, unreachable } from "./freshellRequest.ts";
import { FreshellSession } from "./freshellSession.ts";

/** From the first packet to `ready`. */
const READY_WITHIN_MS = 10_000;
/** Between two attempts to reach an absent server; doubled from the first to the second. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** For who holds the lock of the device. */
export class OwnDevice {
  readonly runtime: DeviceRuntime;
  readonly #io: Io;
  readonly #allow: readonly string[];
  #socket: WebSocket | undefined;
  #beat: Timer | undefined;

  /** @param allow devices that may change its layout; `*` for each. @throws AppError INTERNAL_ERROR */
  constructor(io: Io, allow: readonly string[] = []) {
    this.#io = io;
    this.#allow = allow;
    this.runtime = this.#open();
  }

  /** Resolves when the device is online, with a promise of the close code. @throws AppError */
  connect(session: FreshellSession): Promise<{ readonly closed: Promise<number> }> {
    return session.connect((url, token) => this.#connect(url, token));
  }

  /** Frames already sent still arrive. */
  close(): void {
    this.#socket?.close(1000);
  }

  /** A file that is not a layout is moved aside, reported in one line, and a new one begins. */
  #open(): DeviceRuntime {
    const path = join(freshellHome(this.#io), "cli-layout.json");
    const open = (): DeviceRuntime =>
      new DeviceRuntime({
        deviceId: deviceIdentity(this.#io).deviceId,
        store: fileStore(path),
        clock: systemClock,
        nowUnixMs: Date.now,
        newId,
        onChange: (layout) => this.#send(layoutMessage(layout)),
      });
    try {
      return open();
    } catch (error) {
      if (!(error instanceof AppError) || error.code === "INTERNAL_ERROR") throw error;
      const aside = `${path}.broken-${Date.now()}`;
      attempt(path, "moved", () => renameSync(path, aside));
      this.#io.err(`freshell: ${path} is not a layout: it was moved to ${aside}, and a new layout was made\n`);
      return open();
    }
  }

  async #connect(url: string, token: string): Promise<{ readonly closed: Promise<number> }> {
    const device = { ...deviceIdentity(this.#io), deviceType: "cli", role: "owner" };
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`, {
      perMessageDeflate: false,
      maxPayload: FRESHELL_MAX_MESSAGE_BYTES,
      handshakeTimeout: READY_WITHIN_MS,
    });
    this.#socket = socket;
    const closed = new Promise<number>((resolve) => socket.once("close", resolve));
    const ready = new Promise<number>((resolve, reject) => {
      const fail = (why: string, cause?: Error): void => reject(unreachable(url, why, cause));
      const late = systemClock.callAt(systemClock.nowMs() + READY_WITHIN_MS, () =>
        fail(`it was not ready after ${READY_WITHIN_MS / 1_000} s`),
      );
      socket.on("error", (error) => fail(error.message, error));
      socket.once("close", (code) => {
        late.cancel();
        this.#beat?.cancel();
        fail(`the connection was closed (${code})`);
      });
      socket.once("open", () => this.#send({ type: "hello", token, capabilities: DEVICE_CAPABILITIES, device }));
      socket.on("message", (data: Buffer) => {
        const message = JSON.parse(data.toString("utf8")) as ServerMessage;
        if (message.type === "layout.rpc.request")
          answerRequest(message, (request) => this.runtime.respond(request), this.#send);
        else if (message.type === "error") reject(refused(message));
        else if (message.type === "ready") {
          late.cancel();
          resolve(message.heartbeatIntervalMs);
        }
      });
    });
    try {
      const heartbeatMs = await ready;
      this.#present(heartbeatMs);
      this.#send(layoutMessage(this.runtime.layout()));
      return { closed };
    } catch (error) {
      socket.terminate();
      throw error;
    }
  }

  /** Now and at each heartbeat. */
  #present(everyMs: number): void {
    this.#send(presenceMessage(this.runtime.layout(), this.#allow));
    this.#beat = systemClock.callAt(systemClock.nowMs() + everyMs, () => this.#present(everyMs));
  }

  readonly #send = (message: object): void => {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  };
}

const fileStore = (path: string): DeviceStore => ({
  load: () => {
    const text = readText(path);
    const saved = parseJson(text ?? "");
    if (text === undefined || saved !== undefined) return saved;
    throw new AppError("INVALID_ARGUMENT", `${path} is not JSON`);
  },
  save: (saved) => attempt(path, "written", () => replacePrivate(path, `${JSON.stringify(saved)}\n`)),
});

function refused({ code, message, details }: Extract<ServerMessage, { type: "error" }>): CommandFailure {
  const isToken = code === "NOT_AUTHENTICATED" || code === "UNAUTHORIZED";
  return new CommandFailure({
    code: isToken ? "UNAUTHORIZED" : "INTERNAL_ERROR",
    message: `the server refused this device: ${message}`,
    details: { ...details, cause: code },
  });
}

export interface DeviceRan {
  readonly deviceId: string;
  readonly workspaceRevision: number;
}

/** `device run`: keeps the device online until it is told to stop. @throws AppError */
export async function runDevice({ io, options }: CommandCall): Promise<DeviceRan> {
  const allow = options.list("allow-remote");
  if (!allow.every((one) => one === "*" || DEVICE_ID.test(one)))
    throw invalid("--allow-remote takes the id of a device, or *");
  const { deviceId } = deviceIdentity(io);
  const lock = await takeDeviceLock(io, true);
  if (lock === undefined)
    throw new AppError("INCONSISTENT_STATE", "`freshell device run` is already running for this home: end it first");
  try {
    const device = new OwnDevice(io, allow);
    // One promise for all waits: each would add a listener.
    const stop = new Promise<undefined>((resolve) => {
      io.signal.addEventListener("abort", () => resolve(undefined), { once: true });
      if (io.signal.aborted) resolve(undefined);
    });
    let pauseMs = FIRST_PAUSE_MS;
    let wasOnline = false;
    while (!io.signal.aborted) {
      let connection;
      try {
        // Other commands may have renewed the login since.
        connection = await device.connect(new FreshellSession(io));
      } catch (error) {
        // At the start this is the result; later the server may come back.
        if (!wasOnline || toAppError(error).code === "UNAUTHORIZED") throw error;
        await Promise.race([sleep(systemClock, pauseMs), stop]);
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        continue;
      }
      const online = `the device ${deviceId} is online\n`;
      // With `--json` stdout holds one document, which comes at the end.
      if (options.flag("json")) io.err(`freshell: ${online}`);
      else await io.out(online);
      [wasOnline, pauseMs] = [true, FIRST_PAUSE_MS];
      const code = await Promise.race([connection.closed, stop]);
      device.close();
      if (code === CLOSE_CODES.DEVICE_SUPERSEDED)
        throw new AppError("INCONSISTENT_STATE", "another owner of this device has connected, so this one has ended");
      if (code !== undefined) io.err("freshell: the connection was lost; reconnecting\n");
    }
    return { deviceId, workspaceRevision: device.runtime.workspaceRevision };
  } finally {
    lock.release();
  }
}
