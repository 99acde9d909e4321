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
import type { Clock } from "../../../daemon/time/clock.ts";
import type { FreshellConfig } from "../freshellConfig.ts";
import { MAX_PRESENCE_FRAMES, PRESENCE_FRAMES_WITHIN_MS } from "../freshellLimits.ts";
import { OwnerLink } from "../relay/ownerLink.ts";
import { failureOf } from "../relay/outcomes.ts";
import type { LayoutRelay } from "../relay/layoutRelay.ts";
import type { Device, Presence } from "../relay/presence.ts";
import type { TerminalRegistry } from "../terminals/terminalRegistry.ts";
import type { SocketClient } from "./socketClient.ts";

type DeviceMessage = ClientMessageOf<keyof typeof DEVICE_MESSAGES>;

export const isOfDevices = (message: ClientMessage): message is DeviceMessage =>
  Object.hasOwn(DEVICE_MESSAGES, message.type);

interface LayoutParts {
  readonly presence: Presence;
  readonly relay: LayoutRelay;
  readonly terminals: TerminalRegistry;
  readonly config: FreshellConfig;
  readonly clock: Clock;
}

export class LayoutCalls {
  readonly #client: SocketClient;
  readonly #parts: LayoutParts;
  /** The connection's device; undefined for the bootstrap token alone. */
  readonly #deviceId: string | undefined;
  readonly #unwatch: () => void;
  readonly #left = new AbortController();
  #link: OwnerLink | undefined;
  #device: Device | undefined;
  #presenceFrames = { count: 0, sinceMs: 0 };

  constructor(
    client: SocketClient,
    parts: LayoutParts,
    deviceId: string | undefined,
    introduced: HelloMessage["device"],
  ) {
    this.#client = client;
    this.#parts = parts;
    this.#deviceId = deviceId;
    const { presence, relay, clock, config: times } = parts;
    this.#unwatch = presence.watch(client.send);
    if (introduced?.role === "owner") {
      this.#link = new OwnerLink({
        deviceId: introduced.deviceId,
        clock,
        times,
        send: client.send,
        close: (code, reason) => client.close(code, reason),
        onLate: (request) => relay.late(request),
      });
      this.#device = presence.own(introduced, this.#link);
    } else if (introduced !== undefined) presence.meet(introduced);
  }

  /** Any frame of the client has come. */
  received(): void {
    this.#link?.received();
  }

  perform(message: DeviceMessage, json: unknown): void {
    switch (message.type) {
      case "device.presence":
        return this.#presence(message);
      case "layout.rpc.request":
        return void this.#request(message.requestId, json);
      case "layout.rpc.ack":
        if (this.#link?.acked(message.requestId) !== true) this.#parts.relay.ignored();
        return undefined;
      case "layout.rpc.result":
        if (this.#link?.takeResult(message.requestId, json) !== true) this.#parts.relay.ignored();
        return undefined;
      case "layout.snapshot.updated":
        return this.#snapshot(message, json);
    }
  }

  /** The connection is gone or closing. Safe to call twice. */
  close(): void {
    this.#unwatch();
    this.#left.abort(new AppError("CANCELLED", "the client has left"));
    if (this.#link !== undefined) this.#parts.presence.left(this.#link);
    this.#link = undefined;
  }

  #presence({ deviceId, workspaceRevision, remoteControl }: ClientMessageOf<"device.presence">): void {
    const nowMs = this.#parts.clock.nowMs();
    const frames = this.#presenceFrames;
    if (nowMs - frames.sinceMs >= PRESENCE_FRAMES_WITHIN_MS) this.#presenceFrames = { count: 1, sinceMs: nowMs };
    else if ((frames.count += 1) > MAX_PRESENCE_FRAMES) {
      this.#client.close(CLOSE_CODES.BACKPRESSURE, "Too many device.presence");
      return;
    }
    if (deviceId !== this.#deviceId) {
      this.#client.fail("UNAUTHORIZED", "device.presence must name the connection's own device");
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
    let outcome;
    try {
      outcome = await this.#parts.relay.request({ deviceId: this.#deviceId }, json, this.#left.signal);
    } catch (error) {
      outcome = failureOf(error);
    }
    this.#client.send({ type: "layout.rpc.result", requestId, ...outcome });
  }

  /** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
  #snapshot(message: ClientMessageOf<"layout.snapshot.updated">, json: unknown): void {
    const { ownerDeviceId, workspaceRevision, capturedAt } = message;
    const [link, device] = [this.#link, this.#device];
    if (link === undefined || device?.owner !== link || ownerDeviceId !== device.deviceId) {
      this.#client.fail("UNAUTHORIZED", "only the device's owner connection may publish its layout");
      return;
    }
    if (workspaceRevision < link.publishedRevision) {
      this.#client.fail(
        "INVALID_MESSAGE",
        `workspaceRevision: goes back from ${link.publishedRevision} to ${workspaceRevision}`,
      );
      return;
    }
    let snapshot;
    try {
      // As received: the schema's copy lacks unknown fields.
      snapshot = parseSnapshot((json as { readonly snapshot: unknown }).snapshot);
    } catch (error) {
      this.#client.fail("INVALID_MESSAGE", toAppError(error).message);
      return;
    }
    link.publishedRevision = workspaceRevision;
    device.workspaceRevision = workspaceRevision;
    device.layout = { workspaceRevision, capturedAt, snapshot };
    this.#parts.presence.keep(device);
    this.#parts.terminals.shownIn(snapshot);
  }
}
