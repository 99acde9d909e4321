/**
 * The known devices, and which are online: a device is online while a connection claims its layout and sends signs of life.
 * The newest such connection is the owner. All connections are notified when a device comes or goes.
 */
import type { DeviceSessionRequest } from "../../../protocol/api/freshell/freshellHttp.ts";
import type { DeviceEntry, PresenceMessage } from "../../../protocol/api/freshell/rpc.ts";
import { MAX_DEVICES } from "../freshellLimits.ts";
import type { DeviceFolder, DeviceRecord, KnownLayout } from "./deviceFolder.ts";
import type { OwnerLink } from "./ownerLink.ts";

interface PresenceOptions {
  readonly folder: DeviceFolder;
  readonly nowUnixMs: () => number;
}

/** Times are Unix milliseconds. */
export class Device {
  readonly deviceId: string;
  deviceLabel: string;
  deviceType: "browser" | "cli";
  lastSeenAt: number;
  layout: KnownLayout | undefined;
  workspaceRevision: number | undefined;
  owner: OwnerLink | undefined;
  /** Requests in progress. */
  underWay = 0;
  /** From its last connection: decides about requests while it is offline. */
  allow: ReadonlySet<string> = new Set();

  constructor({ deviceId, deviceLabel, deviceType, lastSeenAt, layout }: DeviceRecord) {
    this.deviceId = deviceId;
    this.deviceLabel = deviceLabel;
    this.deviceType = deviceType;
    this.lastSeenAt = lastSeenAt;
    this.layout = layout;
    this.workspaceRevision = layout?.workspaceRevision;
  }

  record(): DeviceRecord {
    const { deviceId, deviceLabel, deviceType, lastSeenAt, layout } = this;
    return { deviceId, deviceLabel, deviceType, lastSeenAt, layout };
  }

  entry(nowUnixMs: number): DeviceEntry {
    const { deviceId, deviceLabel, deviceType, lastSeenAt, owner, workspaceRevision = null } = this;
    const online = owner !== undefined;
    return {
      deviceId,
      deviceLabel,
      deviceType,
      online,
      lastSeenAt: online ? nowUnixMs : lastSeenAt,
      workspaceRevision,
    };
  }
}

export class Presence {
  readonly #options: PresenceOptions;
  readonly #devices = new Map<string, Device>();
  readonly #listeners = new Set<(message: PresenceMessage) => void>();

  constructor(options: PresenceOptions) {
    this.#options = options;
    for (const record of options.folder.read()) this.#devices.set(record.deviceId, new Device(record));
  }

  /** Reports devices that come and go. Returns the function that stops it. */
  watch(listener: (message: PresenceMessage) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  find(deviceId: string): Device | undefined {
    return this.#devices.get(deviceId);
  }

  all(): Iterable<Device> {
    return this.#devices.values();
  }

  list(): readonly DeviceEntry[] {
    const nowUnixMs = this.#options.nowUnixMs();
    return [...this.#devices.values()].map((device) => device.entry(nowUnixMs));
  }

  onlineCount(): number {
    return [...this.#devices.values()].filter(({ owner }) => owner !== undefined).length;
  }

  /** A device has identified itself. */
  meet({ deviceId, deviceLabel, deviceType }: DeviceSessionRequest): Device {
    const lastSeenAt = this.#options.nowUnixMs();
    let device = this.#devices.get(deviceId);
    if (device === undefined) {
      this.#makeRoom();
      device = new Device({ deviceId, deviceLabel, deviceType, lastSeenAt });
      this.#devices.set(deviceId, device);
    }
    Object.assign(device, { deviceLabel, deviceType, lastSeenAt });
    this.keep(device);
    return device;
  }

  /** Makes this connection the owner; the previous one is closed. */
  own(introduction: DeviceSessionRequest, link: OwnerLink): Device {
    const device = this.meet(introduction);
    const before = device.owner;
    device.owner = link;
    device.allow = link.allow;
    before?.supersede();
    this.#announce(device);
    return device;
  }

  /** The connection has ended. The end of a superseded one is not reported. */
  left(link: OwnerLink): void {
    link.closed();
    const device = this.#devices.get(link.deviceId);
    if (device?.owner !== link) return;
    device.owner = undefined;
    device.lastSeenAt = this.#options.nowUnixMs();
    this.keep(device);
    this.#announce(device);
  }

  /** Writes its file soon. */
  keep(device: Device): void {
    this.#options.folder.put(device.deviceId, () => device.record());
  }

  #announce(device: Device): void {
    const nowUnixMs = this.#options.nowUnixMs();
    const { workspaceRevision: _revision, ...entry } = device.entry(nowUnixMs);
    const timestamp = new Date(nowUnixMs).toISOString();
    for (const listener of this.#listeners) listener({ type: "device.presence", ...entry, timestamp });
  }

  #makeRoom(): void {
    if (this.#devices.size < MAX_DEVICES) return;
    const away = [...this.#devices.values()].filter(({ owner }) => owner === undefined);
    const [oldest] = away.toSorted((a, b) => a.lastSeenAt - b.lastSeenAt);
    if (oldest === undefined) return;
    this.#devices.delete(oldest.deviceId);
    this.#options.folder.put(oldest.deviceId, undefined);
  }
}
