/**
 * The last known state of each device, one file per device, so that it can be read while the device is offline and after a
 * restart of the daemon. A file is written atomically, one write at a time and not at every change; the newest wins.
 */
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as v from "valibot";
import { parse } from "../../../protocol/api/parse.ts";
import { putFile } from "../../../daemon/ops/privateFiles.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { type LayoutSnapshot, parseSnapshot } from "../../../protocol/api/freshell/deviceLayout.ts";
import { deviceSchema } from "../../../protocol/api/freshell/freshellHttp.ts";
import { revisionSchema } from "../../../protocol/api/freshell/rpc.ts";
import { DEVICE_FILE_EVERY_MS, MAX_DEVICES } from "../freshellLimits.ts";

export interface KnownLayout {
  readonly workspaceRevision: number;
  readonly capturedAt: number;
  readonly snapshot: LayoutSnapshot;
}

export interface DeviceRecord {
  readonly deviceId: string;
  readonly deviceLabel: string;
  readonly deviceType: "browser" | "cli";
  readonly lastSeenAt: number;
  readonly layout?: KnownLayout | undefined;
}

const fileSchema = v.object({
  ownerDeviceId: deviceSchema.deviceId,
  deviceLabel: deviceSchema.deviceLabel,
  deviceType: deviceSchema.deviceType,
  lastSeenAt: v.number(),
  layout: v.optional(v.object({ workspaceRevision: revisionSchema, capturedAt: v.number(), snapshot: v.unknown() })),
});

interface Writing {
  /** Undefined: remove the file. */
  next: (() => DeviceRecord) | undefined;
  isDue: boolean;
  /** Concurrent writes could finish in either order. */
  isUnderWay: boolean;
}

export class DeviceFolder {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #writing = new Map<string, Writing>();
  readonly #works = new Set<Promise<void>>();
  #isSettling = false;

  constructor(options: { readonly path: string; readonly clock: Clock; readonly log: Log }) {
    this.#path = options.path;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** A file without an owner, or of another device's name, is none of ours and never served. */
  read(): readonly DeviceRecord[] {
    const names = this.#names().filter((name) => name.endsWith(".json"));
    return names.slice(0, MAX_DEVICES).flatMap((name) => this.#readOne(name));
  }

  /** Writes soon, with the record at that time; undefined removes the file. */
  put(deviceId: string, next: (() => DeviceRecord) | undefined): void {
    const writing = this.#writing.get(deviceId);
    if (writing !== undefined) {
      writing.next = next;
      writing.isDue = true;
      return;
    }
    this.#writing.set(deviceId, { next, isDue: true, isUnderWay: false });
    this.#write(deviceId);
  }

  /** Writes what is pending, at once. */
  async settle(): Promise<void> {
    this.#isSettling = true;
    for (const deviceId of this.#writing.keys()) this.#write(deviceId);
    while (this.#works.size > 0) await Promise.all(this.#works);
  }

  #write(deviceId: string): void {
    const writing = this.#writing.get(deviceId);
    if (writing?.isDue !== true || writing.isUnderWay) return;
    writing.isDue = false;
    writing.isUnderWay = true;
    const path = join(this.#path, `${deviceId}.json`);
    const work = (writing.next === undefined ? rm(path, { force: true }) : writeWhole(path, textOf(writing.next())))
      .catch((error: unknown) => this.#log.warn("freshell.device.unwritten", { path, error }))
      .finally(() => {
        this.#works.delete(work);
        writing.isUnderWay = false;
        if (this.#isSettling) this.#write(deviceId);
        else this.#clock.callAt(this.#clock.nowMs() + DEVICE_FILE_EVERY_MS, () => this.#again(deviceId));
      });
    this.#works.add(work);
  }

  #again(deviceId: string): void {
    const writing = this.#writing.get(deviceId);
    if (writing?.isDue === true) this.#write(deviceId);
    else if (writing?.isUnderWay === false) this.#writing.delete(deviceId);
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.#unreadable(this.#path, error);
      return [];
    }
  }

  #readOne(name: string): readonly DeviceRecord[] {
    const path = join(this.#path, name);
    try {
      const found = parse(fileSchema, JSON.parse(readFileSync(path, "utf8")));
      const { ownerDeviceId: deviceId, layout, ...known } = found;
      if (`${deviceId}.json` !== name) throw new Error(`it is of the device ${deviceId}`);
      if (layout === undefined) return [{ deviceId, ...known }];
      const snapshot = parseSnapshot(layout.snapshot);
      return [{ deviceId, ...known, layout: { ...layout, snapshot } }];
    } catch (error) {
      this.#unreadable(path, error);
      return [];
    }
  }

  #unreadable(path: string, error: unknown): void {
    this.#log.warn("freshell.device.unreadable", { path, error });
  }
}

function textOf({ deviceId, ...record }: DeviceRecord): string {
  return JSON.stringify({ ownerDeviceId: deviceId, ...record });
}

async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await putFile(path, text, { mode: 0o600, creates: false });
}
