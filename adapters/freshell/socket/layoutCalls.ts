/**
 * The role of a `/ws` connection towards devices: owner of a layout, which gets requests and publishes, or caller. Results
 * and snapshots count only from the device's present owner connection.
 */
import { parseSnapshot } from "../../../protocol/api/freshell/deviceLayout.ts";
import {
  CLOSE_CODES,
  type ClientMessage,
  type ClientMessageOf,
  type HelloMessage,
} from "../../../protocol/api/freshell/freshellWire.ts";
import { DEVICE_MESSAGES } from "../../../protocol/api/freshell/rpc.ts";
import { AppError, toAppError } from "../../../protocol/errors.ts";
import { MAX_PRESENCE_FRAMES, PRESENCE_FRAMES_WITHIN_MS } from "../freshellLimits.ts";
import { OwnerLink } from "../relay/ownerLink.ts";
import { failureOf } from "../relay/outcomes.ts";
import type { Device } from "../relay/presence.ts";
import type { SocketClient } from "./socketClient.ts";

type DeviceMessage = ClientMessageOf<keyof typeof DEVICE_MESSAGES>;

export const isOfDevices = (message: ClientMessage): message is DeviceMessage =>
  Object.hasOwn(DEVICE_MESSAGES, message.type);

export class LayoutCalls {
  readonly #client: SocketClient;
  /** The connection's device; undefined for the bootstrap token alone. */
  readonly #deviceId: string | undefined;
  readonly #unwatch: () => void;
  readonly #left = new AbortController();
  #link: OwnerLink | undefined;
  #device: Device | undefined;
  #presenceFrames = { count: 0, sinceMs: 0 };

  constructor(client: SocketClient) {
    this.#client = client;
    const { context, principal, device, send } = client;
    this.#deviceId = device?.deviceId ?? (principal.kind === "device" ? principal.deviceId : undefined);
    this.#unwatch = context.layout.presence.watch(send);
    if (device === undefined) return;
    if (device.role === "owner") this.#own(device);
    else context.layout.presence.meet(device);
  }

  /** Any frame of the client has come. */
  heard(): void {
    this.#link?.heard();
  }

  perform(message: DeviceMessage, json: unknown): void {
    switch (message.type) {
      case "device.presence":
        this.#presence(message);
        return;
      case "layout.rpc.request":
        void this.#request(message.requestId, json);
        return;
      case "layout.rpc.ack":
        if (this.#link?.acked(message.requestId) !== true) this.#client.context.layout.relay.ignored();
        return;
      case "layout.rpc.result":
        if (this.#link?.takeResult(message.requestId, json) !== true) this.#client.context.layout.relay.ignored();
        return;
      case "layout.snapshot.updated":
        this.#snapshot(message, json);
        return;
    }
  }

  /** The connection is gone or closing. Safe to call twice. */
  close(): void {
    this.#unwatch();
    this.#left.abort(new AppError("CANCELLED", "the client has left"));
    if (this.#link !== undefined) this.#client.context.layout.presence.left(this.#link);
    this.#link = undefined;
  }

  #own(device: NonNullable<HelloMessage["device"]>): void {
    const { context, send, close } = this.#client;
    const { clock, settings, layout } = context;
    const { deviceId } = device;
    this.#link = new OwnerLink({
      deviceId,
      clock,
      times: settings,
      send,
      close,
      onLate: (request) => layout.relay.late(request),
    });
    this.#device = layout.presence.own(device, this.#link);
  }

  #presence({ deviceId, workspaceRevision, remoteControl }: ClientMessageOf<"device.presence">): void {
    const { clock } = this.#client.context;
    const nowMs = clock.nowMs();
    const frames = this.#presenceFrames;
    if (nowMs - frames.sinceMs >= PRESENCE_FRAMES_WITHIN_MS) this.#presenceFrames = { count: 1, sinceMs: nowMs };
    else if ((frames.count += 1) > MAX_PRESENCE_FRAMES) {
      this.#client.close(CLOSE_CODES.BACKPRESSURE, "Too many device.presence");
      return;
    }
    if (deviceId !== this.#deviceId) {
      this.#client.fail("UNAUTHORIZED", "device.presence is about the device that the connection is; say hello as it");
      return;
    }
    const [link, device] = [this.#link, this.#device];
    // Only the owner may report a revision and permissions.
    if (link === undefined || device?.owner !== link) return;
    if (workspaceRevision !== undefined) device.workspaceRevision = workspaceRevision;
    if (remoteControl !== undefined) {
      link.allow = new Set(remoteControl.allow);
      device.allow = link.allow;
    }
  }

  async #request(requestId: string, json: unknown): Promise<void> {
    const { context, send } = this.#client;
    let outcome;
    try {
      outcome = await context.layout.relay.request({ deviceId: this.#deviceId }, json, this.#left.signal);
    } catch (error) {
      outcome = failureOf(error);
    }
    send({ type: "layout.rpc.result", requestId, ...outcome });
  }

  /** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
  #snapshot(message: ClientMessageOf<"layout.snapshot.updated">, json: unknown): void {
    const { context, fail } = this.#client;
    const { ownerDeviceId, workspaceRevision, capturedAt } = message;
    const [link, device] = [this.#link, this.#device];
    if (link === undefined || device?.owner !== link || ownerDeviceId !== device.deviceId) {
      fail("UNAUTHORIZED", "a layout is published by the connection that is its device");
      return;
    }
    if (workspaceRevision < link.publishedRevision) {
      fail("INVALID_MESSAGE", `workspaceRevision: goes back from ${link.publishedRevision} to ${workspaceRevision}`);
      return;
    }
    let snapshot;
    try {
      // As received: the schema's copy lacks unknown fields.
      snapshot = parseSnapshot((json as { readonly snapshot: unknown }).snapshot);
    } catch (error) {
      fail("INVALID_MESSAGE", toAppError(error).message);
      return;
    }
    link.publishedRevision = workspaceRevision;
    device.workspaceRevision = workspaceRevision;
    device.layout = { workspaceRevision, capturedAt, snapshot };
    context.layout.presence.keep(device);
    context.layout.shown(snapshot);
  }
}
