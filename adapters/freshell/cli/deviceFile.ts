/**
 * The layout of this command line's device: `cli-layout.json`, written atomically before a change is confirmed. A file
 * that is not a layout is moved aside, reported in one line, and a new one begins.
 */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { DeviceRuntime } from "../devices/deviceRuntime.ts";
import type { DeviceStore } from "../devices/savedDevice.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import type { OwnerLayout } from "../../../protocol/api/freshell/deviceLayout.ts";
import { AppError } from "../../../protocol/errors.ts";
import { replacePrivate } from "../../../daemon/ops/privateFiles.ts";
import type { Io } from "../../cli/cliIo.ts";
import { attempt, freshellHome, readText } from "./freshellHome.ts";
import { newId } from "../newId.ts";

/** @throws AppError INTERNAL_ERROR when it can be neither read nor kept. */
export function openDevice(io: Io, deviceId: string, onChange: (layout: OwnerLayout) => void): DeviceRuntime {
  const path = join(freshellHome(io), "cli-layout.json");
  const open = (): DeviceRuntime =>
    new DeviceRuntime({ deviceId, store: fileStore(path), clock: systemClock, nowUnixMs: Date.now, newId, onChange });
  try {
    return open();
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "INTERNAL_ERROR") throw error;
    const aside = `${path}.broken-${Date.now()}`;
    attempt(path, "moved", () => renameSync(path, aside));
    io.err(`freshell: ${path} is not a layout: it was moved to ${aside}, and a new layout was made\n`);
    return open();
  }
}

const fileStore = (path: string): DeviceStore => ({
  load: () => {
    const text = readText(path);
    if (text === undefined) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw new AppError("INVALID_ARGUMENT", `${path} is not JSON`);
    }
  },
  save: (saved) => attempt(path, "written", () => replacePrivate(path, `${JSON.stringify(saved)}\n`)),
});
