/**
 * The files of an authority: a directory with `rootCA.pem` and `rootCA-key.pem`, like mkcert's. Ours is created by renaming
 * its directory into place, so that two daemons that start at the same time end up with the same authority.
 */
import { hostname } from "node:os";
import { join } from "node:path";
import { createDirectory } from "../../../daemon/ops/privateFiles.ts";
import type { UsablePair } from "./certificateFiles.ts";
import { checkPair, privateDirectory, readIfPresent, requirePrivate, unusable } from "./certificateFiles.ts";
import { makeAuthority } from "./localAuthority.ts";

const CERT_FILE = "rootCA.pem";
const KEY_FILE = "rootCA-key.pem";

export interface Authority extends UsablePair {
  /** The certificate for the user to trust. */
  readonly certPath: string;
}

/** mkcert's authority, if it is set up here with its key and can sign. */
export async function mkcertAuthority(directory: string, nowUnixMs: number): Promise<Authority | undefined> {
  try {
    return await readAuthority(directory, nowUnixMs);
  } catch {
    // An authority that cannot sign counts as missing; it is not ours to repair.
    return undefined;
  }
}

/** Our authority, made on first use. @throws AppError CONFIGURATION_INVALID */
export async function ownAuthority(stateDir: string, nowUnixMs: number): Promise<Authority> {
  await privateDirectory(stateDir);
  const directory = join(stateDir, "authority");
  const present = await readOwn(directory, nowUnixMs);
  if (present !== undefined) return present;
  const made = await makeAuthority(nowUnixMs, `tmuxwire local authority of ${hostname()}`);
  // If another daemon was faster, use its authority.
  createDirectory(directory, { [KEY_FILE]: [made.key, 0o600], [CERT_FILE]: [made.cert, 0o644] });
  const stored = await readOwn(directory, nowUnixMs);
  if (stored === undefined) {
    throw unusable(`${directory} holds no complete authority`, "remove it, and a new one will be created");
  }
  return stored;
}

async function readOwn(directory: string, nowUnixMs: number): Promise<Authority | undefined> {
  const authority = await readAuthority(directory, nowUnixMs);
  if (authority !== undefined) await requirePrivate(join(directory, KEY_FILE));
  return authority;
}

async function readAuthority(directory: string, nowUnixMs: number): Promise<Authority | undefined> {
  const paths = { key: join(directory, KEY_FILE), cert: join(directory, CERT_FILE) };
  const cert = await readIfPresent(paths.cert);
  const key = await readIfPresent(paths.key);
  if (cert === undefined || key === undefined) return undefined;
  return { ...checkPair({ key, cert }, paths, nowUnixMs), certPath: paths.cert };
}
