import { X509Certificate } from "node:crypto";
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
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

function writePair(directory: string, pair: KeyPair, names: { key: string; cert: string }): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, names.key), pair.key, { mode: 0o600 });
  writeFileSync(join(directory, names.cert), pair.cert);
}

const PLAIN_NAMES = { key: "key.pem", cert: "cert.pem" };
const AUTHORITY_NAMES = { key: "rootCA-key.pem", cert: "rootCA.pem" };

async function somePair(nowUnixMs = NOW): Promise<KeyPair> {
  return issueLeaf(await makeAuthority(nowUnixMs, "some authority"), nowUnixMs);
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

  test.each(["its key is missing", "its files are rubbish"])("mkcert is passed over when %s", async (why) => {
    writePair(config.mkcertRoot, await makeAuthority(NOW, "mkcert"), AUTHORITY_NAMES);
    if (why === "its key is missing") rmSync(join(config.mkcertRoot, "rootCA-key.pem"));
    else writeFileSync(join(config.mkcertRoot, "rootCA.pem"), "rubbish");
    expect((await resolveCertificate(config, NOW)).source).toBe("own");
  });

  test("last, a leaf signed by our own authority, for the loopback names and at most 397 days", async () => {
    const found = await resolveCertificate(config, NOW);
    expect(found.source).toBe("own");
    const leaf = new X509Certificate(found.cert);
    const authority = new X509Certificate(readFileSync(found.authorityPath ?? ""));
    expect(leaf.checkIssued(authority) && leaf.verify(authority.publicKey)).toBe(true);
    expect(leaf.subjectAltName).toBe("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
    expect(leaf.ca).toBe(false);
    expect(authority.ca).toBe(true);
    expect(Date.parse(leaf.validFrom)).toBeLessThan(NOW);
    expect(Date.parse(leaf.validTo)).toBe(NOW + 397 * DAY);
    expect(found.notAfterUnixMs).toBe(NOW + 397 * DAY);
  });
});

describe("what we keep", () => {
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
    const renewed = await resolveCertificate(config, NOW + 368 * DAY);
    expect(renewed.cert).not.toBe(first.cert);
    expect(renewed.notAfterUnixMs).toBe(NOW + (368 + 397) * DAY);
    const authority = new X509Certificate(readFileSync(first.authorityPath ?? ""));
    expect(new X509Certificate(renewed.cert).verify(authority.publicKey)).toBe(true);
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
      async (dir) => writePair(dir, await somePair(NOW - 500 * DAY), PLAIN_NAMES),
      /cert\.pem expired on .* 2025 GMT: renew it/,
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
    const stop = keepCertificateFresh({
      config,
      current,
      clock,
      nowUnixMs: () => nowUnixMs,
      log: silentLog,
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
    stop();
    expect(clock.pendingTimers).toBe(0);
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
