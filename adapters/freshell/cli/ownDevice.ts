/**
 * This command line as the owner of its layout: `cli-layout.json`, written atomically before a change is confirmed, and a
 * connection on which the server sends requests and the device responds.
 */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { WebSocket } from "ws";
import { replacePrivate } from "../../../daemon/ops/privateFiles.ts";
import { systemClock, type Timer } from "../../../daemon/time/clock.ts";
import { DEVICE_ID } from "../../../protocol/api/freshell/freshellHttp.ts";
import { FRESHELL_MAX_MESSAGE_BYTES, type ServerMessage } from "../../../protocol/api/freshell/freshellWire.ts";
import { AppError, invalidArgument, toAppError } from "../../../protocol/errors.ts";
import { parseJson } from "../../../protocol/text/jsonObject.ts";
import type { Io } from "../../cli/cliIo.ts";
import type { CommandCall } from "../../cli/commandTypes.ts";
import { type DeviceRuntime, openDevice } from "../devices/deviceRuntime.ts";
import { FreshellLink, type LinkState } from "../devices/freshellLink.ts";
import { answerRequest, layoutMessage, presenceMessage } from "../devices/ownerMessages.ts";
import type { DeviceStore } from "../devices/savedDevice.ts";
import { newId } from "../newId.ts";
import { attempt, deviceIdentity, freshellHome, readText } from "./deviceIdentity.ts";
import { CommandFailure, unreachable } from "./freshellRequest.ts";
import { FreshellSession } from "./freshellSession.ts";
import { takeLock } from "./homeLock.ts";

/** A command holds it while it is the owner, `device run` while it runs. */
export const DEVICE_LOCK = "cli-device.lock";

/** For whoever holds the lock of the device. */
export class OwnDevice {
  readonly runtime: DeviceRuntime;
  readonly #session: FreshellSession;
  readonly #allow: readonly string[];
  readonly #link: FreshellLink;
  #onState: (state: LinkState) => void = () => undefined;
  #heartbeat: Timer | undefined;
  #refusal: CommandFailure | undefined;

  /** @param allow devices that may change its layout; `*` for each. @throws AppError INTERNAL_ERROR, INVALID_ARGUMENT */
  constructor(io: Io, session: FreshellSession, allow: readonly string[] = []) {
    this.#session = session;
    this.#allow = allow;
    const device = { ...deviceIdentity(io), deviceType: "cli", role: "owner" };
    this.runtime = this.#open(io, device.deviceId);
    const address = `${session.url.replace(/^http/, "ws")}/ws`;
    this.#link = new FreshellLink({
      open: () => new WebSocket(address, { perMessageDeflate: false, maxPayload: FRESHELL_MAX_MESSAGE_BYTES }),
      token: (refusedToken) => session.token(refusedToken),
      isLoggedOut: (error) => toAppError(error).code === "UNAUTHORIZED",
      device,
      clock: systemClock,
      random: Math.random,
      newId,
      onState: (state) => this.#onState(state),
      onReady: ({ heartbeatIntervalMs }) => {
        this.#present(heartbeatIntervalMs);
        this.#link.send(layoutMessage(this.runtime.layout()));
      },
      onMessage: (message) => this.#received(message),
    });
  }

  /** Connects, and reconnects until it is closed. */
  start(onState: (state: LinkState) => void): void {
    this.#onState = onState;
    this.#link.start();
  }

  /** Resolves when the device is online. @throws AppError */
  online(): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      this.start((state) => {
        if (state.kind === "live") resolve();
        else if (state.kind !== "connecting") reject(this.failure(state));
      });
    }).catch((error: unknown) => {
      this.close();
      throw error;
    });
  }

  /** Why it is not online. */
  failure(state: LinkState): unknown {
    if (state.kind === "superseded")
      return new AppError("INCONSISTENT_STATE", "another owner of this device has connected, so this one has ended");
    const { message = "the connection was closed", error } = state as { message?: string; error?: unknown };
    return this.#refusal ?? error ?? unreachable(this.#session.url, message);
  }

  /** Frames already sent still arrive. */
  close(): void {
    this.#heartbeat?.cancel();
    this.#onState = () => undefined;
    this.#link.close();
  }

  /** A file that is not a layout is moved aside, reported in one line, and a new one begins. */
  #open(io: Io, deviceId: string): DeviceRuntime {
    const path = join(freshellHome(io), "cli-layout.json");
    return openDevice(
      {
        deviceId,
        store: fileStore(path),
        clock: systemClock,
        nowUnixMs: Date.now,
        newId,
        onChange: (layout) => this.#link.send(layoutMessage(layout)),
      },
      () => {
        const aside = `${path}.broken-${Date.now()}`;
        attempt(path, "moved", () => renameSync(path, aside));
        io.err(`freshell: ${path} is not a layout: it was moved to ${aside}, and a new layout was made\n`);
      },
    );
  }

  #received(message: ServerMessage): void {
    const send = (answer: object): boolean => this.#link.send(answer);
    if (message.type === "layout.rpc.request") answerRequest(message, (asked) => this.runtime.respond(asked), send);
    else if (message.type === "error") this.#refusal = refused(message);
  }

  /** Now and at each heartbeat. */
  #present(everyMs: number): void {
    this.#heartbeat?.cancel();
    this.#link.send(presenceMessage(this.runtime.layout(), this.#allow));
    this.#heartbeat = systemClock.callAt(systemClock.nowMs() + everyMs, () => this.#present(everyMs));
  }
}

const fileStore = (path: string): DeviceStore => ({
  load: () => {
    const text = readText(path);
    const saved = parseJson(text ?? "");
    if (text === undefined || saved !== undefined) return saved;
    throw invalidArgument(`${path} is not JSON`);
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
    throw invalidArgument("--allow-remote takes the id of a device, or *");
  const { deviceId } = deviceIdentity(io);
  const lock = await takeLock(io, DEVICE_LOCK, true);
  if (lock === undefined)
    throw new AppError("INCONSISTENT_STATE", "`freshell device run` is already running for this home: end it first");
  try {
    const device = new OwnDevice(io, new FreshellSession(io), allow);
    try {
      await new Promise<void>((resolve, reject) => {
        let [isLive, wasLive] = [false, false];
        io.signal.addEventListener("abort", () => resolve(), { once: true });
        if (io.signal.aborted) resolve();
        device.start((state) => {
          if (state.kind === "live") {
            [isLive, wasLive] = [true, true];
            const online = `the device ${deviceId} is online\n`;
            // With `--json` stdout holds one document, which comes at the end.
            if (options.flag("json")) io.err(`freshell: ${online}`);
            else void io.out(online);
          } else if (state.kind === "lost" && wasLive) {
            // At the start this is the result; later the server may come back.
            if (isLive) io.err("freshell: the connection was lost; reconnecting\n");
            isLive = false;
          } else if (state.kind !== "connecting") reject(device.failure(state));
        });
      });
    } finally {
      device.close();
    }
    return { deviceId, workspaceRevision: device.runtime.workspaceRevision };
  } finally {
    lock.release();
  }
}
