/**
 * Key and certificate files: read and checked, or refused with one line that names the file and says what to do.
 * Our private keys are readable by our user only; a key that others could have read is not used.
 */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { chmod, mkdir, readFile, stat } from "node:fs/promises";
import { isOwn } from "../../../daemon/ops/privateFiles.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { KeyPair } from "../listeners/boundedServer.ts";

/** A key with its certificate, and when they expire. */
export interface UsablePair extends KeyPair {
  readonly notAfterUnixMs: number;
}

export const unusable = (problem: string, remedy: string, cause?: unknown): AppError =>
  new AppError("CONFIGURATION_INVALID", `${problem}: ${remedy}`, { cause });

/** The file's text, or undefined if the file does not exist. @throws AppError CONFIGURATION_INVALID */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw unusable(`cannot read ${path} (${code ?? "unknown error"})`, "make it readable, or remove it", error);
  }
}

/** @throws AppError CONFIGURATION_INVALID when one is missing, malformed or expired, or they do not match. */
export async function readPair(keyPath: string, certPath: string, nowUnixMs: number): Promise<UsablePair> {
  const key = await readIfPresent(keyPath);
  if (key === undefined) throw unusable(`${keyPath} does not exist`, "create it or correct the setting");
  const cert = await readIfPresent(certPath);
  if (cert === undefined) throw unusable(`${certPath} does not exist`, "create it or correct the setting");
  return checkPair({ key, cert }, { key: keyPath, cert: certPath }, nowUnixMs);
}

/** @throws AppError CONFIGURATION_INVALID */
export function checkPair(pair: KeyPair, paths: { key: string; cert: string }, nowUnixMs: number): UsablePair {
  const certificate = parsed(paths.cert, "a PEM certificate", () => new X509Certificate(pair.cert));
  const key = parsed(paths.key, "an unencrypted PEM private key", () => createPrivateKey(pair.key));
  if (!certificate.checkPrivateKey(key)) {
    throw unusable(`${paths.cert} was not made for the key ${paths.key}`, "give a matching pair");
  }
  const notAfterUnixMs = Date.parse(certificate.validTo);
  if (notAfterUnixMs <= nowUnixMs) {
    throw unusable(
      `${paths.cert} expired on ${certificate.validTo}`,
      "renew it, or remove it and a new one will be created",
    );
  }
  return { ...pair, notAfterUnixMs };
}

function parsed<T>(path: string, what: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw unusable(`${path} is not ${what}`, "replace it, or remove it and a new one will be created", error);
  }
}

/** Makes `path` a directory that only our user can access. @throws AppError CONFIGURATION_INVALID if it is another user's. */
export async function privateDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const { uid, mode } = await stat(path);
    if (!isOwn(uid)) {
      throw unusable(`${path} belongs to another user`, "remove it or choose another XDG_STATE_HOME");
    }
    if ((mode & 0o077) !== 0) await chmod(path, 0o700);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw unusable(
      `cannot create ${path} (${code})`,
      "make its parent writable or choose another XDG_STATE_HOME",
      error,
    );
  }
}

/** @throws AppError CONFIGURATION_INVALID if other users may have read the key in `path`. */
export async function requirePrivate(path: string): Promise<void> {
  const { mode } = await stat(path);
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    throw unusable(`${path} is readable by others`, "remove its directory, restart, and trust the new certificate");
  }
}
