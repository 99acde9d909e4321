/**
 * The files of this command line in `~/.freshell` (`FRESHELL_HOME` instead of the home directory), and which device it is:
 * `cli-device.json`, made by the first command and constant from then on. Of several concurrent first commands, one makes it
 * and all use it (seed 002 §4.2).
 */
import { readFileSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import { watchNames } from "../../../daemon/host/nodeSystem.ts";
import { createPrivate } from "../../../daemon/ops/privateFiles.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import { AppError } from "../../../protocol/errors.ts";
import { fieldsOf, parseJson } from "../../../protocol/text/jsonObject.ts";
import type { Io } from "../../cli/cliIo.ts";
import { newId } from "../newId.ts";

export function freshellHome({ env, homeDir }: Pick<Io, "env" | "homeDir">): string {
  const given = env["FRESHELL_HOME"];
  return join(given === undefined || given === "" ? homeDir : given, ".freshell");
}

export const unusable = (path: string, why: string, cause?: unknown): AppError =>
  new AppError("INTERNAL_ERROR", `${path} ${why}`, { cause });

/** @param what was tried, for the message. @throws AppError INTERNAL_ERROR */
export function attempt<Result>(path: string, what: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw unusable(path, `cannot be ${what} (${(error as NodeJS.ErrnoException).code ?? String(error)})`, error);
  }
}

/** Undefined when there is no such file. @throws AppError INTERNAL_ERROR */
export function readText(path: string): string | undefined {
  return attempt(path, "read", () => {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      throw error;
    }
  });
}

/** For changes that send no event: a process was killed, or the system has no watch left. */
const PROBE_EVERY_MS = 200;

/** Resolves once a file of the folder has changed, or soon in any case. */
export const changed = (folder: string, file: string): Promise<void> =>
  within(systemClock, PROBE_EVERY_MS, undefined, (done) => {
    const watcher = watchNames(folder, (_kind, name) => {
      if (name === null || name === file) done(undefined);
    });
    return () => watcher?.close();
  });

interface DeviceIdentity {
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
  const json = readText(path);
  if (json === undefined) return undefined;
  const { deviceId, deviceLabel } = fieldsOf(parseJson(json)) ?? {};
  if (typeof deviceId === "string" && deviceId !== "" && typeof deviceLabel === "string")
    return { deviceId, deviceLabel };
  throw unusable(path, "contains no device id: remove it, and the next command creates a new device");
}

/** The global `crypto` is loaded on use; `node:crypto` would be loaded by every command. */
function newIdentity(io: Io): DeviceIdentity {
  const suffix = Buffer.from(crypto.getRandomValues(new Uint8Array(SUFFIX_BYTES))).toString("hex");
  return { deviceId: newId(), deviceLabel: `${hostname()}-${userName(io)}-${suffix}` };
}

/** A user without an entry in the system's user table has no name. */
function userName({ env }: Io): string {
  try {
    return userInfo().username;
  } catch {
    return env["USER"] ?? "user";
  }
}
