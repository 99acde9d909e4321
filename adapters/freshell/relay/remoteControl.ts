/**
 * Who may change the layout of another device (seed 002 §12.3): those whom that device allows while it is online, and those
 * in the server's `remote-control.json`. The file is read at each decision, so that a revocation takes effect at once; a
 * file that others may write, or that is invalid, allows nobody.
 */
import * as v from "valibot";
import { parse } from "../../../protocol/api/parse.ts";
import { readPrivate } from "../../../daemon/ops/privateFiles.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import { DEVICE_ID } from "../../../protocol/api/freshell/freshellHttp.ts";
import type { Device } from "./presence.ts";

const ANYBODY = "*";
const MAX_FILE_BYTES = 1_048_576;
const isIn = (allow: ReadonlySet<string> | undefined, deviceId: string): boolean =>
  allow !== undefined && (allow.has(deviceId) || allow.has(ANYBODY));
const fileSchema = v.record(v.string(), v.array(v.string()));

export class RemoteControl {
  readonly #path: string;
  readonly #log: Log;

  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
  }

  allows({ deviceId, allow }: Device, callerDeviceId: string): boolean {
    if (deviceId === callerDeviceId || isIn(allow, callerDeviceId)) return true;
    return isIn(this.#read().get(deviceId), callerDeviceId);
  }

  /** Other devices whose layout it may change now: those that allow it, and those in the file. */
  targetsOf(callerDeviceId: string, devices: Iterable<Device>): readonly string[] {
    const targets = new Set<string>();
    for (const { deviceId, allow } of devices) {
      if (isIn(allow, callerDeviceId)) targets.add(deviceId);
    }
    for (const [target, callers] of this.#read()) {
      if (isIn(callers, callerDeviceId) && DEVICE_ID.test(target)) targets.add(target);
    }
    targets.delete(callerDeviceId);
    return [...targets].toSorted();
  }

  #read(): ReadonlyMap<string, ReadonlySet<string>> {
    try {
      const found = readPrivate(this.#path, { maxBytes: MAX_FILE_BYTES, followsLinks: true });
      if (found === undefined) return new Map();
      if (found.text === undefined) throw new Error("not a regular file, or too large");
      if (found.openMode !== undefined) throw new Error("accessible to others; run chmod 600");
      const allowed = parse(fileSchema, JSON.parse(found.text));
      return new Map(Object.entries(allowed).map(([target, callers]) => [target, new Set(callers)]));
    } catch (error) {
      this.#log.warn("freshell.remote.ignored", { path: this.#path, error });
      return new Map();
    }
  }
}
