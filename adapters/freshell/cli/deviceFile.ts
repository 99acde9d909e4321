/**
 * The layout of this command line's device: `cli-layout.json`, written atomically before a change is confirmed. A file
 * that is not a layout is moved aside, reported in one line, and a new one begins.
 */
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { DeviceRuntime } from "../../../daemon/devices/deviceRuntime.ts";
import type { DeviceStore } from "../../../daemon/devices/savedDevice.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import type { OwnerLayout } from "../../../protocol/api/freshell/deviceLayout.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { Io } from "../../bin/cli/cliIo.ts";
import { freshellHome, replacePrivate } from "./freshellHome.ts";

/** 21 base64url characters, like terminals' ids: 126 random bits. */
const ID_BYTES = 16;
const ID_CHARS = 21;

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
    io.err(`freshell: ${path} holds no layout: kept as ${aside}, and a new one begins\n`);
    return open();
  }
}

const fileStore = (path: string): DeviceStore => ({
  load: () => {
    let text: string;
    try {
      text = readFileSync(path, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return undefined;
      throw unusable(path, "read", error);
    }
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw new AppError("INVALID_ARGUMENT", `${path} is no JSON`);
    }
  },
  save: (saved) => attempt(path, "written", () => replacePrivate(path, `${JSON.stringify(saved)}\n`)),
});

function attempt(path: string, what: string, run: () => void): void {
  try {
    run();
  } catch (error) {
    throw unusable(path, what, error);
  }
}

const unusable = (path: string, what: string, cause: unknown): AppError =>
  new AppError("INTERNAL_ERROR", `${path} cannot be ${what} (${(cause as NodeJS.ErrnoException).code ?? "?"})`, {
    cause,
  });

export const newId = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(ID_BYTES)))
    .toString("base64url")
    .slice(0, ID_CHARS);
