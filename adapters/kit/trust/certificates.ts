/**
 * Chooses the certificate of an HTTPS listener (docs/contracts/addin.md §1, "TLS"): the configured one → the original
 * bridge's → one signed by mkcert's authority, if mkcert is set up → one signed by our own. Certificates that we sign are
 * renewed well before they expire; files that others renew are reread without a restart.
 */
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { createDirectory, replacePrivate, unwritable } from "../../../daemon/ops/privateFiles.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import {
  checkPair,
  privateDirectory,
  readIfPresent,
  readPair,
  requirePrivate,
  unusable,
  type UsablePair,
} from "./certificateFiles.ts";
import type { KeyPair } from "../listeners/boundedServer.ts";
import { importSigningKey, issueLeaf, makeAuthority } from "./localAuthority.ts";
import { hostname } from "node:os";

/** Sources of a certificate, in order of precedence. */
export interface CertificateConfig {
  readonly configured: { readonly keyPath: string; readonly certPath: string } | undefined;
  /** The original bridge's directory, `~/.pi-for-excel/certs`. */
  readonly bridgeDir: string;
  /** mkcert's root directory, whether or not it exists. */
  readonly mkcertRoot: string;
  /** Our own state directory. */
  readonly stateDir: string;
}

export type CertificateSource = "configured" | "bridge" | "mkcert" | "own";

export interface Certificate extends UsablePair {
  readonly source: CertificateSource;
  /** The file of the authority to trust, if it is on this machine. */
  readonly authorityPath: string | undefined;
}

/** A leaf certificate of ours is replaced if it expires within this time. */
const RENEW_BEFORE_MS = 30 * 86_400_000;
/** How often the certificate is checked while the daemon runs. */
export const CERTIFICATE_CHECK_MS = 3_600_000;

/** @throws AppError CONFIGURATION_INVALID with one line about the unusable file. */
export async function resolveCertificate(config: CertificateConfig, nowUnixMs: number): Promise<Certificate> {
  if (config.configured !== undefined) {
    const { keyPath, certPath } = config.configured;
    return { ...(await readPair(keyPath, certPath, nowUnixMs)), source: "configured", authorityPath: undefined };
  }
  const [keyPath, certPath] = [join(config.bridgeDir, "key.pem"), join(config.bridgeDir, "cert.pem")];
  const bridge = await Promise.all([readIfPresent(keyPath), readIfPresent(certPath)]);
  if (bridge[0] !== undefined && bridge[1] !== undefined) {
    const pair = checkPair({ key: bridge[0], cert: bridge[1] }, { key: keyPath, cert: certPath }, nowUnixMs);
    return { ...pair, source: "bridge", authorityPath: undefined };
  }
  const mkcert = await mkcertAuthority(config.mkcertRoot, nowUnixMs);
  if (mkcert !== undefined) return leafOf("mkcert", config, mkcert, nowUnixMs);
  return leafOf("own", config, await ownAuthority(config.stateDir, nowUnixMs), nowUnixMs);
}

/** Checks every `CERTIFICATE_CHECK_MS` and passes on a changed certificate. Returns the function that stops it. */
export function keepCertificateFresh(options: {
  readonly config: CertificateConfig;
  readonly current: Certificate;
  readonly clock: Clock;
  readonly nowUnixMs: () => number;
  readonly log: Log;
  readonly replace: (pair: KeyPair) => void;
}): () => void {
  const { config, clock, nowUnixMs, log, replace } = options;
  let shown = options.current;
  let timer: Timer | undefined;
  let stopped = false;
  const probe = async (): Promise<void> => {
    try {
      const found = await resolveCertificate(config, nowUnixMs());
      if (!stopped && (found.cert !== shown.cert || found.key !== shown.key)) {
        replace(found);
        shown = found;
        log.info("tls.certificate.replaced", { source: found.source, notAfter: isoDate(found.notAfterUnixMs) });
      }
    } catch (error) {
      // Keep the one in use: a file that is being rewritten will be complete at the next check.
      log.warn("tls.certificate.unusable", { error });
    }
    arm();
  };
  const arm = (): void => {
    if (!stopped) timer = clock.callAt(clock.nowMs() + CERTIFICATE_CHECK_MS, () => void probe());
  };
  arm();
  return () => {
    stopped = true;
    timer?.cancel();
  };
}

const isoDate = (unixMs: number): string => new Date(unixMs).toISOString();

/**
 * The leaf certificate from the last start, or a new one. It is reused only while the authority that signed it is in use.
 */
async function leafOf(
  source: "mkcert" | "own",
  config: CertificateConfig,
  authority: Authority,
  nowUnixMs: number,
): Promise<Certificate> {
  await privateDirectory(config.stateDir);
  const path = join(config.stateDir, `localhost-${source}.pem`);
  const kept = await keptLeaf(path, authority, nowUnixMs);
  if (kept !== undefined) return { ...kept, source, authorityPath: authority.certPath };
  const made = await issueLeaf(authority, nowUnixMs);
  writing(path, () => replacePrivate(path, made.key + made.cert));
  return { ...checkPair(made, { key: path, cert: path }, nowUnixMs), source, authorityPath: authority.certPath };
}

async function keptLeaf(path: string, authority: UsablePair, nowUnixMs: number): Promise<UsablePair | undefined> {
  const text = await readIfPresent(path);
  if (text === undefined) return undefined;
  await requirePrivate(path);
  const certAt = text.indexOf("-----BEGIN CERTIFICATE-----");
  try {
    const kept = { key: text.slice(0, certAt), cert: text.slice(certAt) };
    const pair = checkPair(kept, { key: path, cert: path }, nowUnixMs);
    const { notAfterUnixMs } = pair;
    // One of an authority that expires soon cannot last longer.
    const isLasting = notAfterUnixMs - nowUnixMs > RENEW_BEFORE_MS || notAfterUnixMs >= authority.notAfterUnixMs;
    return isLasting && isSignedBy(pair.cert, authority.cert) ? pair : undefined;
  } catch {
    // A truncated, foreign or expired file is replaced.
    return undefined;
  }
}

const isSignedBy = (cert: string, authorityCert: string): boolean =>
  new X509Certificate(cert).verify(new X509Certificate(authorityCert).publicKey);

/**
 * The files of an authority: a directory with `rootCA.pem` and `rootCA-key.pem`, like mkcert's. Ours is created by renaming
 * its directory into place, so that two daemons that start at the same time end up with the same authority.
 */
const CERT_FILE = "rootCA.pem";
const KEY_FILE = "rootCA-key.pem";

interface Authority extends UsablePair {
  /** The certificate for the user to trust. */
  readonly certPath: string;
}

/** mkcert's authority, if it is set up here with its key and can sign. */
async function mkcertAuthority(directory: string, nowUnixMs: number): Promise<Authority | undefined> {
  try {
    return await readAuthority(directory, nowUnixMs);
  } catch {
    // An authority that cannot sign counts as missing; it is not ours to repair.
    return undefined;
  }
}

/** Our authority, made on first use. @throws AppError CONFIGURATION_INVALID */
async function ownAuthority(stateDir: string, nowUnixMs: number): Promise<Authority> {
  await privateDirectory(stateDir);
  const directory = join(stateDir, "authority");
  const present = await readOwn(directory, nowUnixMs);
  if (present !== undefined) return present;
  const made = await makeAuthority(nowUnixMs, `tmuxwire local authority of ${hostname()}`);
  // If another daemon was faster, use its authority.
  const files = { [KEY_FILE]: [made.key, 0o600], [CERT_FILE]: [made.cert, 0o644] } as const;
  writing(directory, () => createDirectory(directory, files));
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
  const pair = checkPair({ key, cert }, paths, nowUnixMs);
  await importSigningKey(key).catch((error: unknown) => {
    throw unusable(`${paths.key} is neither RSA nor ECDSA on a NIST curve`, "replace the authority", error);
  });
  return { ...pair, certPath: paths.cert };
}

/** @throws AppError CONFIGURATION_INVALID */
function writing(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw unwritable(path, error);
  }
}
