/**
 * This command line as the owner of its layout: a WebSocket on which the server sends requests and the device responds. It is
 * open once `ready` has come, and ends with the server, the device or the network.
 */
import { WebSocket } from "ws";
import type { DeviceRuntime } from "../devices/deviceRuntime.ts";
import { systemClock, type Timer } from "../../../daemon/time/clock.ts";
import type { OwnerLayout } from "../../../protocol/api/freshell/deviceLayout.ts";
import { FRESHELL_MAX_MESSAGE_BYTES, type ServerMessage } from "../../../protocol/api/freshell/freshellWire.ts";
import type { OwnerRequest } from "../../../protocol/api/freshell/rpc.ts";
import { CommandFailure, unreachable } from "./commandFailure.ts";
import type { DeviceIdentity } from "./deviceIdentity.ts";

interface OwnerOptions {
  readonly url: string;
  readonly token: string;
  readonly device: DeviceIdentity;
  readonly runtime: DeviceRuntime;
  /** Devices that may change this one's layout; `*` for each. */
  readonly allow?: readonly string[] | undefined;
}

/** From the first packet to `ready`. */
const READY_WITHIN_MS = 10_000;

export class OwnerConnection {
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  readonly #options: OwnerOptions;
  #beat: Timer | undefined;

  private constructor(socket: WebSocket, options: OwnerOptions) {
    this.#socket = socket;
    this.#options = options;
    // The close that follows says why.
    socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once("close", (code) => {
        this.#beat?.cancel();
        resolve(code);
      });
    });
  }

  /** @throws CommandFailure */
  static async open(options: OwnerOptions): Promise<OwnerConnection> {
    const { url, token, device } = options;
    const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ws`, {
      perMessageDeflate: false,
      maxPayload: FRESHELL_MAX_MESSAGE_BYTES,
      handshakeTimeout: READY_WITHIN_MS,
    });
    const connection = new OwnerConnection(socket, options);
    const send = (message: object): void => socket.send(JSON.stringify(message));
    const ready = new Promise<Extract<ServerMessage, { type: "ready" }>>((resolve, reject) => {
      const timer = systemClock.callAt(systemClock.nowMs() + READY_WITHIN_MS, () => {
        reject(unreachable(url, `it was not ready after ${READY_WITHIN_MS / 1_000} s`));
      });
      socket.once("error", (error) => reject(unreachable(url, error.message, error)));
      socket.once("close", (code) => {
        timer.cancel();
        reject(unreachable(url, `the connection was closed (${code})`));
      });
      socket.once("open", () =>
        send({
          type: "hello",
          token,
          capabilities: { layoutOwnershipV1: true, layoutRpcV1: true, devicePresenceV1: true },
          device: { ...device, deviceType: "cli", role: "owner" },
        }),
      );
      socket.on("message", (data: Buffer) => {
        const message = JSON.parse(data.toString("utf8")) as ServerMessage;
        if (message.type === "ready") {
          timer.cancel();
          resolve(message);
        } else if (message.type === "error") reject(refused(message));
        else if (message.type === "layout.rpc.request") connection.#respond(message);
      });
    });
    try {
      const { heartbeatIntervalMs } = await ready;
      connection.#present();
      connection.publish(options.runtime.layout());
      connection.#keepBeating(heartbeatIntervalMs);
      return connection;
    } catch (error) {
      socket.terminate();
      throw error;
    }
  }

  publish({ ownerDeviceId, workspaceRevision, capturedAt, snapshot }: OwnerLayout): void {
    this.#send({ type: "layout.snapshot.updated", ownerDeviceId, workspaceRevision, capturedAt, snapshot });
  }

  /** Frames already sent still arrive. */
  close(): void {
    this.#socket.close(1000);
  }

  /** The change is saved and published before its result is sent. */
  #respond(request: OwnerRequest): void {
    const { requestId } = request;
    const { device, runtime } = this.#options;
    this.#send({ type: "layout.rpc.ack", requestId, targetDeviceId: device.deviceId });
    this.#send({ type: "layout.rpc.result", requestId, ...runtime.respond(request) });
  }

  #present(): void {
    const { device, runtime, allow = [] } = this.#options;
    const { workspaceRevision } = runtime;
    this.#send({ type: "device.presence", deviceId: device.deviceId, workspaceRevision, remoteControl: { allow } });
  }

  #keepBeating(intervalMs: number): void {
    this.#beat = systemClock.callAt(systemClock.nowMs() + intervalMs, () => {
      this.#present();
      this.#keepBeating(intervalMs);
    });
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

function refused({ code, message, details }: Extract<ServerMessage, { type: "error" }>): CommandFailure {
  const isToken = code === "NOT_AUTHENTICATED" || code === "UNAUTHORIZED";
  return new CommandFailure({
    code: isToken ? "UNAUTHORIZED" : "INTERNAL_ERROR",
    message: `the server refused this device: ${message}`,
    details: { ...details, cause: code },
  });
}
