/** docs/contracts/addin.md §1, "TLS": the add-in's whole round over https with a certificate that it verifies. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { once } from "node:events";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkServerIdentity, connect as connectTls, type PeerCertificate } from "node:tls";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { resolveCertificate } from "../../adapters/kit/trust/certificates.ts";
import type { KeyPair } from "../../adapters/kit/listeners/boundedServer.ts";
import type { Listener } from "../../adapters/kit/listeners/listen.ts";
import { listen } from "../../adapters/kit/listeners/listen.ts";
import { issueLeaf, makeAuthority } from "../../adapters/kit/trust/localAuthority.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import type { SocketClient } from "../support/daemon/addinClient.ts";
import { overSocket } from "../support/daemon/addinClient.ts";
import type { AddinSetup, RunningBackend } from "../support/daemon/backends.ts";
import { addinSetup, stubBackend } from "../support/daemon/backends.ts";

let backend: RunningBackend;
let listener: Listener | undefined;
let setup: AddinSetup;

beforeEach(async () => {
  backend = await stubBackend.start();
  setup = addinSetup(backend.server);
});

afterEach(async () => {
  await listener?.close();
  listener = undefined;
  setup[Symbol.dispose]();
  await backend.close();
});

async function start(tls: KeyPair): Promise<Listener> {
  listener = await listen({
    fetch: setup.app.fetch,
    host: "localhost",
    port: 0,
    tls,
    clock: systemClock,
  });
  return listener;
}

/** Node 22.23 finds no IPv6 address in any certificate. */
const subjectaltname = "IP Address:0:0:0:0:0:0:0:1";
const TAKES_IPV6 = checkServerIdentity("::1", { subjectaltname } as PeerCertificate) === undefined;
if (!TAKES_IPV6)
  process.stderr.write(`addinHttps: Node ${process.versions.node} takes no certificate for ::1: left out\n`);

describe("https, as the add-in uses it", () => {
  let directory: string;
  let ca: string;
  let pair: KeyPair;
  let client: SocketClient | undefined;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "tmuxwire-https-"));
    const found = await resolveCertificate(
      {
        configured: undefined,
        bridgeDir: join(directory, "b"),
        mkcertRoot: join(directory, "m"),
        stateDir: join(directory, "s"),
      },
      Date.now(),
    );
    pair = found;
    ca = readFileSync(found.authorityPath ?? "", "utf8");
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  afterEach(() => client?.[Symbol.dispose]());

  test("health responds and every action works, with a verified certificate", async () => {
    const { url } = await start(pair);
    client = overSocket(url, { ca });
    const gate = await client.health();
    expect(gate).toMatchObject({ status: 200, json: { ok: true } });
    const session = "work";
    const steps: [{ action: string; [field: string]: unknown }, object][] = [
      [{ action: "list_sessions" }, { sessions: [] }],
      [{ action: "create_session", session }, { session }],
      [{ action: "send_keys", session, text: "one", enter: true }, { session }],
      [
        { action: "capture_pane", session },
        { session, output: "one <Enter>" },
      ],
      [
        { action: "send_and_capture", session, text: "two", wait_for: "tw.$" },
        { session, output: "one <Enter>\ntwo" },
      ],
      [{ action: "list_sessions" }, { sessions: [session] }],
      [{ action: "kill_session", session }, { session }],
      [{ action: "list_sessions" }, { sessions: [] }],
    ];
    for (const [request, expected] of steps) {
      expect((await client.health()).status).toBe(200);
      expect(await client.tmux(request)).toMatchObject({
        status: 200,
        json: { ok: true, action: request.action, ...expected },
      });
    }
  });

  test.each(["127.0.0.1", ...(TAKES_IPV6 ? ["[::1]"] : [])])("the certificate is valid for %s too", async (host) => {
    const { port } = await start(pair);
    client = overSocket(`https://${host}:${port}`, { ca });
    expect((await client.health()).status).toBe(200);
  });

  test("a client that does not trust the authority refuses the connection", async () => {
    client = overSocket((await start(pair)).url);
    await expect(client.health()).rejects.toMatchObject({ code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" });
  });

  test("the authority cannot sign for any other name", async () => {
    const forged = await forgeLeaf(readFileSync(join(directory, "s/authority/rootCA-key.pem"), "utf8"), ca);
    const { port } = await start(forged);
    const error = await new Promise((resolve) => {
      const socket = connectTls({ port, host: "127.0.0.1", ca, servername: "bank.example" }, () => resolve(undefined));
      socket.on("error", resolve);
    });
    expect(error).toMatchObject({ message: "permitted subtree violation" });
  });

  test.each(["TLSv1.2", "TLSv1.3"] as const)("the listener supports %s", async (version) => {
    const { port } = await start(pair);
    const spoken = await new Promise((resolve, reject) => {
      const limits = { minVersion: version, maxVersion: version };
      const socket = connectTls({ port, host: "127.0.0.1", ca, servername: "localhost", ...limits }, () => {
        resolve(socket.getProtocol());
        socket.destroy();
      });
      socket.on("error", reject);
    });
    expect(spoken).toBe(version);
  });

  test("closing does not wait for a connection without a TLS handshake", async () => {
    const { port } = await start(pair);
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    const closed = once(socket, "close");
    await listener?.close();
    await closed;
    expect(socket.destroyed).toBe(true);
  });

  test("a renewed certificate is shown to new connections without a restart", async () => {
    const running = await start(pair);
    const authority = await makeAuthority(Date.now(), "second");
    running.replaceCertificate(await issueLeaf(authority, Date.now()));
    client = overSocket(running.url, { ca: authority.cert });
    expect((await client.health()).status).toBe(200);
  });
});

/** A leaf for another site, signed with the stolen key of an authority. */
async function forgeLeaf(key: string, cert: string): Promise<KeyPair> {
  const x509 = await import("@peculiar/x509");
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const signingKey = await crypto.subtle.importKey("pkcs8", x509.PemConverter.decodeFirst(key), algorithm, false, [
    "sign",
  ]);
  const leaf = await x509.X509CertificateGenerator.create({
    serialNumber: "0102",
    subject: "CN=bank.example",
    issuer: new x509.X509Certificate(cert).subjectName,
    notBefore: new Date(Date.now() - 60_000),
    notAfter: new Date(Date.now() + 86_400_000),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: "dns", value: "bank.example" }])],
  });
  const pkcs8 = await crypto.subtle.exportKey("pkcs8", keys.privateKey);
  return { key: x509.PemConverter.encode(pkcs8, "PRIVATE KEY"), cert: leaf.toString("pem") };
}
