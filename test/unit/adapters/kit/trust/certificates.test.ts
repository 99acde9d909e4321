import { generateKeyPairSync, webcrypto, X509Certificate } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import {
  CERTIFICATE_CHECK_MS,
  keepCertificateFresh,
  resolveCertificate,
} from "../../../../../adapters/kit/trust/certificates.ts";
import type { KeyPair } from "../../../../../adapters/kit/listeners/boundedServer.ts";
import { issueLeaf, makeAuthority } from "../../../../../adapters/kit/trust/localAuthority.ts";
import type { CertificateConfig } from "../../../../../adapters/kit/trust/certificates.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";
import { ownDirectory } from "../../../../support/daemon/ownDirectory.ts";

const NOW = Date.UTC(2026, 0, 15);
const DAY = 86_400_000;

let root: string;
let config: CertificateConfig;

beforeEach(() => {
  root = ownDirectory();
  config = {
    configured: undefined,
    bridgeDir: join(root, "bridge"),
    mkcertRoot: join(root, "mkcert"),
    stateDir: join(root, "state", "certs"),
  };
});

function writePair(directory: string, pair: Partial<KeyPair>, names: { key: string; cert: string }): void {
  mkdirSync(directory, { recursive: true });
  if (pair.key !== undefined) writeFileSync(join(directory, names.key), pair.key, { mode: 0o600 });
  if (pair.cert !== undefined) writeFileSync(join(directory, names.cert), pair.cert);
}

const PLAIN_NAMES = { key: "key.pem", cert: "cert.pem" };
const AUTHORITY_NAMES = { key: "rootCA-key.pem", cert: "rootCA.pem" };

async function somePair(nowUnixMs = NOW): Promise<KeyPair> {
  return issueLeaf(await makeAuthority(nowUnixMs, "some authority"), nowUnixMs);
}

async function loadX509() {
  await import("reflect-metadata");
  return import("@peculiar/x509");
}

/** An authority as mkcert or somebody else makes it. */
async function authorityOf(kind: string): Promise<KeyPair> {
  const x509 = await loadX509();
  const algorithm =
    kind === "RSA"
      ? {
          name: "RSASSA-PKCS1-v1_5",
          hash: "SHA-256",
          modulusLength: 2_048,
          publicExponent: Uint8Array.of(1, 0, 1),
        }
      : kind === "Ed25519"
        ? { name: kind }
        : { name: "ECDSA", namedCurve: kind, hash: "SHA-384" };
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"])) as webcrypto.CryptoKeyPair;
  const notAfter = new Date(NOW + 1_000 * DAY);
  const made = await x509.X509CertificateGenerator.createSelfSigned({ notAfter, signingAlgorithm: algorithm, keys });
  const key = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey)).toString("base64");
  return { key: `-----BEGIN PRIVATE KEY-----\n${key}\n-----END PRIVATE KEY-----\n`, cert: made.toString("pem") };
}

/** Which extensions it has, and whether each is critical. */
async function extensionsOf(certificate: X509Certificate): Promise<Readonly<Record<string, boolean>>> {
  const { X509Certificate: Parsed } = await loadX509();
  const { extensions } = new Parsed(certificate.raw);
  return Object.fromEntries(extensions.map(({ type, critical }) => [type, critical]));
}

describe("the order of certificates", () => {
  test("configured files win over everything", async () => {
    const [configured, bridge] = [await somePair(), await somePair()];
    writePair(join(root, "configured"), configured, PLAIN_NAMES);
    writePair(config.bridgeDir, bridge, PLAIN_NAMES);
    const files = { keyPath: join(root, "configured/key.pem"), certPath: join(root, "configured/cert.pem") };
    const found = await resolveCertificate({ ...config, configured: files }, NOW);
    expect(found).toMatchObject({ source: "configured", cert: configured.cert, key: configured.key });
  });

  test("then the present bridge's own", async () => {
    const bridge = await somePair();
    writePair(config.bridgeDir, bridge, PLAIN_NAMES);
    writePair(config.mkcertRoot, await makeAuthority(NOW, "mkcert"), AUTHORITY_NAMES);
    expect(await resolveCertificate(config, NOW)).toMatchObject({ source: "bridge", cert: bridge.cert });
  });

  test("then a leaf signed by mkcert's authority", async () => {
    const authority = await makeAuthority(NOW, "mkcert");
    writePair(config.mkcertRoot, authority, AUTHORITY_NAMES);
    const found = await resolveCertificate(config, NOW);
    expect(found).toMatchObject({ source: "mkcert", authorityPath: join(config.mkcertRoot, "rootCA.pem") });
    expect(new X509Certificate(found.cert).verify(new X509Certificate(authority.cert).publicKey)).toBe(true);
  });

  test.each(["RSA", "P-384"])("mkcert's authority may have a key of the kind %s", async (kind) => {
    const authority = await authorityOf(kind);
    const { cert } = await issueLeaf(authority, NOW);
    expect(new X509Certificate(cert).verify(new X509Certificate(authority.cert).publicKey)).toBe(true);
  });

  test("another kind of key is refused", async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const key = privateKey.export({ format: "pem", type: "pkcs8" }).toString();
    const { cert } = await makeAuthority(NOW, "some authority");
    await expect(issueLeaf({ key, cert }, NOW)).rejects.toThrow(/must be RSA or ECDSA/);
  });

  test.each<[string, () => unknown]>([
    [
      "mkcert's key is of another kind",
      async () => writePair(config.mkcertRoot, await authorityOf("Ed25519"), AUTHORITY_NAMES),
    ],
    ["mkcert's key is missing", () => rmSync(join(config.mkcertRoot, "rootCA-key.pem"))],
    ["mkcert's files are rubbish", () => writeFileSync(join(config.mkcertRoot, "rootCA.pem"), "rubbish")],
    ["the bridge has a key alone", () => writePair(config.bridgeDir, { key: "" }, PLAIN_NAMES)],
    ["the bridge has a certificate alone", () => writePair(config.bridgeDir, { cert: "" }, PLAIN_NAMES)],
    ["the bridge's directory is a file", () => writeFileSync(config.bridgeDir, "")],
  ])("passed over: %s", async (why, spoil) => {
    writePair(config.mkcertRoot, await makeAuthority(NOW, "mkcert"), AUTHORITY_NAMES);
    await spoil();
    expect((await resolveCertificate(config, NOW)).source).toBe(why.startsWith("mkcert") ? "own" : "mkcert");
  });

  test("last, a leaf signed by our own authority, for the loopback names and at most 397 days", async () => {
    const found = await resolveCertificate(config, NOW);
    expect(found.source).toBe("own");
    const leaf = new X509Certificate(found.cert);
    const authority = new X509Certificate(readFileSync(found.authorityPath ?? ""));
    expect(leaf.checkIssued(authority) && leaf.verify(authority.publicKey)).toBe(true);
    expect(leaf.subjectAltName).toBe("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
    expect(leaf.ca).toBe(false);
    // Its basic constraints name no authority: that is read only where the key usage would allow one.
    expect(leaf.raw.toString("hex")).toContain("0603551d130101ff04023000");
    expect(authority.ca).toBe(true);
    for (const { validFrom, serialNumber } of [leaf, authority]) {
      expect(Date.parse(validFrom)).toBe(NOW - 3_600_000);
      // 127 bits, and positive.
      expect(serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
    }
    expect([leaf.subject, authority.subject]).toEqual([
      "O=tmuxwire\nCN=localhost",
      expect.stringMatching(/^O=tmuxwire\nCN=tmuxwire local authority of /),
    ]);
    // Basic constraints, key usage, name constraints: whoever cannot read one must refuse the certificate.
    expect(await extensionsOf(authority)).toMatchObject({ "2.5.29.19": true, "2.5.29.15": true, "2.5.29.30": true });
    expect(await extensionsOf(leaf)).toMatchObject({ "2.5.29.19": true, "2.5.29.15": true });
    // For servers.
    expect(leaf.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
    expect(Date.parse(leaf.validTo)).toBe(NOW + 397 * DAY);
    expect(found.notAfterUnixMs).toBe(NOW + 397 * DAY);
  });
});

describe("what we keep", () => {
  test("a directory that others can read is closed, another user's is refused, and one that cannot be made is named", async () => {
    mkdirSync(config.stateDir, { recursive: true, mode: 0o755 });
    await resolveCertificate(config, NOW);
    expect(statSync(config.stateDir).mode & 0o777).toBe(0o700);
    vi.spyOn(process, "getuid").mockReturnValue((process.getuid?.() ?? 0) + 1);
    await expect(resolveCertificate(config, NOW)).rejects.toThrow(/certs belongs to another user: remove it/);
    vi.restoreAllMocks();
    writeFileSync(join(root, "file"), "");
    const below = { ...config, stateDir: join(root, "file", "certs") };
    await expect(resolveCertificate(below, NOW)).rejects.toThrow(/cannot create .*certs \(ENOTDIR\): make its parent/);
  });

  test("what cannot be written is named", async () => {
    mkdirSync(config.stateDir, { recursive: true });
    writeFileSync(join(config.stateDir, "authority"), "");
    await expect(resolveCertificate(config, NOW)).rejects.toMatchObject({
      code: "CONFIGURATION_INVALID",
      message: expect.stringMatching(/^cannot write .*authority \(ENOTDIR\)/) as string,
    });
  });

  test.each(["rootCA-key.pem", "rootCA.pem"])("an authority without %s is not completed", async (name) => {
    await resolveCertificate(config, NOW);
    rmSync(join(config.stateDir, "authority", name));
    await expect(resolveCertificate(config, NOW)).rejects.toThrow(/authority holds no complete authority: remove it/);
  });

  test("is ours alone: directories 0700, keys 0600", async () => {
    await resolveCertificate(config, NOW);
    const mode = (path: string): number => statSync(join(config.stateDir, path)).mode & 0o777;
    expect(mode(".")).toBe(0o700);
    expect(mode("authority")).toBe(0o700);
    expect(mode("authority/rootCA-key.pem")).toBe(0o600);
    expect(mode("localhost-own.pem")).toBe(0o600);
  });

  test("serves the next start too, until a month before it expires", async () => {
    const first = await resolveCertificate(config, NOW);
    expect((await resolveCertificate(config, NOW + 366 * DAY)).cert).toBe(first.cert);
    const renewed = await resolveCertificate(config, NOW + 367 * DAY);
    expect(renewed.cert).not.toBe(first.cert);
    expect(renewed.notAfterUnixMs).toBe(NOW + (367 + 397) * DAY);
    const authority = new X509Certificate(readFileSync(first.authorityPath ?? ""));
    expect(new X509Certificate(renewed.cert).verify(authority.publicKey)).toBe(true);
  });

  test("is not replaced again and again in the last month of its authority", async () => {
    await resolveCertificate(config, NOW);
    const last = await resolveCertificate(config, NOW + 3_640 * DAY);
    expect(last.notAfterUnixMs).toBe(NOW + 3_650 * DAY);
    expect((await resolveCertificate(config, NOW + 3_641 * DAY)).cert).toBe(last.cert);
  });

  test("is replaced when the authority has changed or the leaf is damaged", async () => {
    const first = await resolveCertificate(config, NOW);
    rmSync(join(config.stateDir, "authority"), { recursive: true });
    const second = await resolveCertificate(config, NOW);
    expect(second.cert).not.toBe(first.cert);
    writeFileSync(join(config.stateDir, "localhost-own.pem"), second.key);
    expect((await resolveCertificate(config, NOW)).cert).not.toBe(second.cert);
  });

  test("one authority comes out of many starts at once", async () => {
    const found = await Promise.all(Array.from({ length: 6 }, () => resolveCertificate(config, NOW)));
    const authority = new X509Certificate(readFileSync(join(config.stateDir, "authority", "rootCA.pem")));
    for (const { cert } of found) expect(new X509Certificate(cert).verify(authority.publicKey)).toBe(true);
  });

  test.each(["authority/rootCA-key.pem", "localhost-own.pem"])("%s that others can read is refused", async (path) => {
    await resolveCertificate(config, NOW);
    chmodSync(join(config.stateDir, path), 0o644);
    await expect(resolveCertificate(config, NOW)).rejects.toThrow(/is readable by others: remove its directory/);
  });
});

describe("unusable files are one line that names the file", () => {
  const cases: [string, (dir: string) => Promise<void>, RegExp][] = [
    ["no key", async (dir) => rmSync(join(dir, "key.pem")), /key\.pem does not exist: create it/],
    ["no certificate", async (dir) => rmSync(join(dir, "cert.pem")), /cert\.pem does not exist: create it/],
    ["rubbish key", async (dir) => writeFileSync(join(dir, "key.pem"), "x"), /key\.pem is not an unencrypted PEM/],
    ["rubbish certificate", async (dir) => writeFileSync(join(dir, "cert.pem"), "x"), /cert\.pem is not a PEM cert/],
    [
      "another key's certificate",
      async (dir) => writeFileSync(join(dir, "cert.pem"), (await somePair()).cert),
      /cert\.pem was not made for the key/,
    ],
    [
      "an expired certificate",
      async (dir) => writePair(dir, await somePair(NOW - 397 * DAY), PLAIN_NAMES),
      /cert\.pem expired on .* 2026 GMT: renew it/,
    ],
    [
      "a directory in its place",
      async (dir) => {
        rmSync(join(dir, "key.pem"));
        mkdirSync(join(dir, "key.pem"));
      },
      /cannot read .*key\.pem \(EISDIR\): make it readable/,
    ],
  ];
  test.each(cases)("%s", async (_name, spoil, message) => {
    const dir = join(root, "configured");
    writePair(dir, await somePair(), PLAIN_NAMES);
    await spoil(dir);
    const configured = { keyPath: join(dir, "key.pem"), certPath: join(dir, "cert.pem") };
    await expect(resolveCertificate({ ...config, configured }, NOW)).rejects.toThrow(message);
  });

  test("an unusable certificate of the bridge is said, not passed over", async () => {
    writePair(config.bridgeDir, await somePair(NOW - 500 * DAY), PLAIN_NAMES);
    await expect(resolveCertificate(config, NOW)).rejects.toThrow(/cert\.pem expired on/);
  });
});

describe("keepCertificateFresh", () => {
  test("hands over a renewed leaf without a restart, once, and stops", async () => {
    const clock = new FakeClock();
    let nowUnixMs = NOW;
    const current = await resolveCertificate(config, NOW);
    const replaced: KeyPair[] = [];
    let onReplace: (() => void) | undefined;
    const info = vi.fn<(event: string, fields?: object) => void>();
    const stop = keepCertificateFresh({
      config,
      current,
      clock,
      nowUnixMs: () => nowUnixMs,
      log: { ...silentLog, info },
      replace: (pair) => {
        replaced.push(pair);
        onReplace?.();
      },
    });
    nowUnixMs = NOW + 380 * DAY;
    const handedOver = new Promise<void>((resolve) => {
      onReplace = resolve;
    });
    clock.advanceMs(CERTIFICATE_CHECK_MS);
    await handedOver;
    expect(replaced).toHaveLength(1);
    expect(replaced[0]?.cert).toBe((await resolveCertificate(config, nowUnixMs)).cert);
    await expect.poll(() => clock.pendingTimers).toBe(1);
    const notAfter = new Date(NOW + (380 + 397) * DAY).toISOString();
    expect(info.mock.calls).toEqual([["tls.certificate.replaced", { source: "own", notAfter }]]);
    stop();
    expect(clock.pendingTimers).toBe(0);
  });

  test.each<[string, Partial<KeyPair>, boolean, number]>([
    ["the same pair", {}, false, 0],
    ["another certificate for the same key", { cert: "" }, false, 1],
    ["another key", { key: "" }, false, 1],
    ["a renewed one after the end", { cert: "" }, true, 0],
  ])("%s", async (_what, before, isStopped, times) => {
    const clock = new FakeClock();
    const current = { ...(await resolveCertificate(config, NOW)), ...before };
    const replace = vi.fn<() => void>();
    let checks = 0;
    const nowUnixMs = (): number => ((checks += 1), NOW);
    const stop = keepCertificateFresh({ config, current, clock, nowUnixMs, log: silentLog, replace });
    clock.advanceMs(CERTIFICATE_CHECK_MS - 1);
    expect(checks).toBe(0);
    clock.advanceMs(1);
    if (isStopped) stop();
    if (!isStopped) await expect.poll(() => clock.pendingTimers).toBe(1);
    // As long as a check takes.
    await resolveCertificate(config, NOW);
    await expect
      .poll(() => [checks, replace.mock.calls.length, clock.pendingTimers])
      .toEqual([1, times, isStopped ? 0 : 1]);
    stop();
  });

  test("an unusable file is logged, and looked at again", async () => {
    const clock = new FakeClock();
    const [warn, replace] = [vi.fn<(event: string) => void>(), vi.fn<() => void>()];
    const current = await resolveCertificate(config, NOW);
    chmodSync(join(config.stateDir, "localhost-own.pem"), 0o644);
    const stop = keepCertificateFresh({
      config,
      current,
      clock,
      nowUnixMs: () => NOW,
      log: { ...silentLog, warn },
      replace,
    });
    clock.advanceMs(CERTIFICATE_CHECK_MS);
    await expect.poll(() => clock.pendingTimers).toBe(1);
    expect(warn.mock.calls).toMatchObject([["tls.certificate.unusable", { error: { code: "CONFIGURATION_INVALID" } }]]);
    expect(replace).not.toHaveBeenCalled();
    stop();
  });

  test("reads files again that someone else renewed", async () => {
    const dir = join(root, "configured");
    writePair(dir, await somePair(), PLAIN_NAMES);
    const configured = { keyPath: join(dir, "key.pem"), certPath: join(dir, "cert.pem") };
    const clock = new FakeClock();
    const current = await resolveCertificate({ ...config, configured }, NOW);
    const renewed = await somePair();
    const handedOver = new Promise<KeyPair>((resolve) => {
      keepCertificateFresh({
        config: { ...config, configured },
        current,
        clock,
        nowUnixMs: () => NOW,
        log: silentLog,
        replace: resolve,
      });
    });
    writePair(join(root, "new"), renewed, PLAIN_NAMES);
    cpSync(join(root, "new"), dir, { recursive: true });
    clock.advanceMs(CERTIFICATE_CHECK_MS);
    expect((await handedOver).cert).toBe(renewed.cert);
  });
});
