/**
 * The last known state of each device, one file per device, so that it can be read while the device is offline and after a
 * restart of the daemon. A file is written atomically, one write at a time and not at every change; the newest wins.
 */
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { parse } from "../../../protocol/api/parse.ts";
import { putFile } from "../../../daemon/ops/privateFiles.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { SingleFlight } from "../../../daemon/time/singleFlight.ts";
import { sleep } from "../../../daemon/time/within.ts";
import { type LayoutSnapshot, parseSnapshot } from "../../../protocol/api/freshell/deviceLayout.ts";
import { deviceSchema, type DeviceSessionRequest } from "../../../protocol/api/freshell/freshellHttp.ts";
import { revisionSchema } from "../../../protocol/api/freshell/rpc.ts";
import { DEVICE_FILE_EVERY_MS, MAX_DEVICES } from "../freshellLimits.ts";

export interface KnownLayout {
  readonly workspaceRevision: number;
  readonly capturedAt: number;
  readonly snapshot: LayoutSnapshot;
}

export interface DeviceRecord extends DeviceSessionRequest {
  readonly lastSeenAt: number;
  readonly layout?: KnownLayout | undefined;
}

const { deviceId: ownerDeviceId, ...described } = deviceSchema;
const fileSchema = v.object({
  ownerDeviceId,
  ...described,
  lastSeenAt: v.number(),
  layout: v.optional(v.object({ workspaceRevision: revisionSchema, capturedAt: v.number(), snapshot: v.unknown() })),
});

interface Writing {
  /** Undefined: remove the file. */
  next: (() => DeviceRecord) | undefined;
  isDue: boolean;
  readonly flight: SingleFlight;
}

interface DeviceFolderOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
}

export class DeviceFolder {
  readonly #options: DeviceFolderOptions;
  readonly #writing = new Map<string, Writing>();
  readonly #settling = new AbortController();

  constructor(options: DeviceFolderOptions) {
    this.#options = options;
  }

  /** A file without an owner, or named after another device, is not ours and never served. */
  read(): readonly DeviceRecord[] {
    const names = this.#names().filter((name) => name.endsWith(".json"));
    return names.slice(0, MAX_DEVICES).flatMap((name) => this.#readOne(name));
  }

  /** Writes soon, with the record at that time; undefined removes the file. */
  put(deviceId: string, next: (() => DeviceRecord) | undefined): void {
    let writing = this.#writing.get(deviceId);
    if (writing === undefined) {
      const made: Writing = { next, isDue: true, flight: new SingleFlight(() => this.#write(deviceId, made)) };
      this.#writing.set(deviceId, (writing = made));
    }
    Object.assign(writing, { next, isDue: true });
    writing.flight.soon();
  }

  /** Writes what is pending, at once. */
  async settle(): Promise<void> {
    this.#settling.abort();
    await Promise.all([...this.#writing.values()].map(({ flight }) => flight.now()));
  }

  async #write(deviceId: string, writing: Writing): Promise<void> {
    if (!writing.isDue) return;
    writing.isDue = false;
    const { path: folder, clock, log } = this.#options;
    const path = join(folder, `${deviceId}.json`);
    try {
      if (writing.next === undefined) await rm(path, { force: true });
      else {
        const { deviceId: owner, ...record } = writing.next();
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await putFile(path, JSON.stringify({ ownerDeviceId: owner, ...record }), { mode: 0o600, creates: false });
      }
    } catch (error) {
      log.warn("freshell.device.unwritten", { path, error });
    }
    await sleep(clock, DEVICE_FILE_EVERY_MS, this.#settling.signal).catch(() => undefined);
    if (!writing.isDue) this.#writing.delete(deviceId);
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#options.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.#unreadable(this.#options.path, error);
      return [];
    }
  }

  #readOne(name: string): readonly DeviceRecord[] {
    const path = join(this.#options.path, name);
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
    this.#options.log.warn("freshell.device.unreadable", { path, error });
  }
}
