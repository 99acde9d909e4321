/**
 * Makes a certificate authority for this machine, and the leaf certificates it signs, in process. The authority can sign
 * for the loopback names only (a critical name constraint), so that a stolen key cannot be used for any other site. The
 * X.509 library is loaded only when a certificate is made.
 */
import { createPrivateKey, webcrypto } from "node:crypto";
import type { KeyPair } from "../listeners/boundedServer.ts";

const DAY_MS = 86_400_000;
/** Ten years, because trusting an authority is manual work. */
const AUTHORITY_DAYS = 3_650;
/** Systems refuse leaf certificates of more than 825 days (Apple), browsers more than 398 from public authorities. */
const LEAF_DAYS = 397;
/** Makes the certificate valid on clocks that are slightly behind. */
const BACKDATE_MS = 3_600_000;

const ECDSA = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
const DNS_NAMES = ["localhost"] as const;
const ADDRESSES = ["127.0.0.1", "::1"] as const;

/** A new authority: its key and certificate. */
export async function makeAuthority(nowUnixMs: number, name: string): Promise<KeyPair> {
  const x509 = await loadX509();
  const keys = await webcrypto.subtle.generateKey(ECDSA, true, ["sign", "verify"]);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: randomSerial(),
    name: [{ O: ["tmuxwire"] }, { CN: [name] }],
    notBefore: new Date(nowUnixMs - BACKDATE_MS),
    notAfter: new Date(nowUnixMs + AUTHORITY_DAYS * DAY_MS),
    signingAlgorithm: ECDSA,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      new x509.Extension("2.5.29.30", true, LOOPBACK_NAME_CONSTRAINTS),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { key: await privateKeyPem(keys.privateKey), cert: `${certificate.toString("pem")}\n` };
}

/** A leaf for the loopback names, signed by `authority`; its `cert` is the chain without the root. */
export async function issueLeaf(authority: KeyPair, nowUnixMs: number): Promise<KeyPair> {
  const x509 = await loadX509();
  const root = new x509.X509Certificate(authority.cert);
  const signing = await importSigningKey(authority.key);
  const keys = await webcrypto.subtle.generateKey(ECDSA, true, ["sign", "verify"]);
  const notAfterMs = Math.min(nowUnixMs + LEAF_DAYS * DAY_MS, root.notAfter.getTime());
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: randomSerial(),
    subject: [{ O: ["tmuxwire"] }, { CN: ["localhost"] }],
    issuer: root.subjectName,
    notBefore: new Date(nowUnixMs - BACKDATE_MS),
    notAfter: new Date(notAfterMs),
    signingAlgorithm: signing.algorithm,
    publicKey: keys.publicKey,
    signingKey: signing.key,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        ...DNS_NAMES.map((value) => ({ type: "dns" as const, value })),
        ...ADDRESSES.map((value) => ({ type: "ip" as const, value })),
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(root.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { key: await privateKeyPem(keys.privateKey), cert: `${certificate.toString("pem")}\n` };
}

async function loadX509() {
  // The library's dependency injection needs this first.
  await import("reflect-metadata");
  return import("@peculiar/x509");
}

/** Positive and 127 bits long, as RFC 5280 and browsers require. */
function randomSerial(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return Buffer.from(bytes).toString("hex");
}

async function privateKeyPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key));
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" })
    .export({ format: "pem", type: "pkcs8" })
    .toString();
}

/** Accepts any kind of key that mkcert makes: RSA, or ECDSA on a NIST curve. */
export async function importSigningKey(pem: string) {
  const key = createPrivateKey(pem);
  const curve = NIST_CURVES.get(key.asymmetricKeyDetails?.namedCurve ?? "");
  if (key.asymmetricKeyType !== "rsa" && curve === undefined) {
    throw new Error("the authority's key must be RSA or ECDSA");
  }
  const algorithm =
    curve === undefined
      ? { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }
      : { name: "ECDSA", namedCurve: curve, hash: "SHA-256" };
  const der = key.export({ format: "der", type: "pkcs8" });
  return { algorithm, key: await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]) };
}

const NIST_CURVES: ReadonlyMap<string, string> = new Map([
  ["prime256v1", "P-256"],
  ["secp384r1", "P-384"],
  ["secp521r1", "P-521"],
]);

/**
 * `NameConstraints { permittedSubtrees { dNSName localhost, iPAddress 127.0.0.0/8, iPAddress ::1/128 } }` (RFC 5280
 * §4.2.1.10). A constant, because the library has no builder for this extension.
 */
const LOOPBACK_NAME_CONSTRAINTS = Buffer.from(
  "303fa03d" +
    `300b8209${Buffer.from("localhost", "latin1").toString("hex")}` +
    "300a87087f000000ff000000" +
    `30228720${"00".repeat(15)}01${"ff".repeat(16)}`,
  "hex",
);
