/**
 * Which device this command line is: `cli-device.json`, made by the first command and constant from then on. Of several
 * concurrent first commands, one makes it and all use it (seed 002 §4.2).
 */
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { createPrivate } from "../../../daemon/ops/privateFiles.ts";
import type { Io } from "../../cli/cliIo.ts";
import { newId } from "../newId.ts";
import { attempt, freshellHome, readText, unusable } from "./freshellHome.ts";

export interface DeviceIdentity {
  readonly deviceId: string;
  /** Host, user and a few random characters: people recognise it, and two devices of one user differ. */
  readonly deviceLabel: string;
}

const SUFFIX_BYTES = 3;

/** @throws AppError INTERNAL_ERROR */
export function deviceIdentity(io: Io): DeviceIdentity {
  const path = join(freshellHome(io), "cli-device.json");
  const present = readIdentity(path);
  if (present !== undefined) return present;
  attempt(path, "created", () => createPrivate(path, `${JSON.stringify(newIdentity(io), undefined, 2)}\n`));
  const made = readIdentity(path);
  if (made === undefined) throw unusable(path, "was removed while it was being created: try again");
  return made;
}

function readIdentity(path: string): DeviceIdentity | undefined {
  const text = readText(path);
  if (text === undefined) return undefined;
  const found = parsed(text);
  if (found === undefined)
    throw unusable(path, "holds no device id: remove it, and the next command makes a new device");
  return found;
}

function parsed(text: string): DeviceIdentity | undefined {
  try {
    const { deviceId, deviceLabel } = JSON.parse(text) as Partial<Record<keyof DeviceIdentity, unknown>>;
    const isWhole = typeof deviceId === "string" && deviceId !== "" && typeof deviceLabel === "string";
    return isWhole ? { deviceId, deviceLabel } : undefined;
  } catch {
    return undefined;
  }
}

function newIdentity(io: Io): DeviceIdentity {
  return {
    deviceId: newId(),
    deviceLabel: `${hostname()}-${userName(io)}-${random(SUFFIX_BYTES).toString("hex")}`,
  };
}

/** The global `crypto` is loaded on use; `node:crypto` would be loaded by every command. */
const random = (bytes: number): Buffer => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)));

/** A user without an entry in the system's user table has no name. */
function userName({ env }: Io): string {
  try {
    return userInfo().username;
  } catch {
    return env["USER"] ?? "user";
  }
}
