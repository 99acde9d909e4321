/** Listeners without a token obey the daemon's user and root, and nobody else on the machine (contracts, §1 "peer"). */
import { get } from "node:https";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PeerUsers } from "../../adapters/kit/peers/peerUsers.ts";
import type { Listener } from "../../adapters/kit/listeners/listen.ts";
import { listen } from "../../adapters/kit/listeners/listen.ts";
import { makeAuthority } from "../../adapters/kit/trust/localAuthority.ts";
import { createAddinApp } from "../../adapters/addin/addinApp.ts";
import type { KeyPair } from "../../adapters/kit/listeners/boundedServer.ts";
import type { AllowedUids } from "../../daemon/ops/daemonConfig.ts";
import { silentLog } from "../../bench/silentLog.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { ADDIN_ORIGIN, overSocket } from "../support/daemon/addinClient.ts";
import type { RunningBackend } from "../support/daemon/backends.ts";
import { addinConfig, addinSetup, stubBackend } from "../support/daemon/backends.ts";
import { asUser, isRoot, OTHER_UID, tellSkip } from "../support/daemon/otherUser.ts";

let backend: RunningBackend;
const open: Listener[] = [];

beforeAll(async () => {
  backend = await stubBackend.start();
});
afterAll(async () => {
  for (const listener of open) await listener.close();
  await backend.close();
});

async function start(options: { allowUids?: AllowedUids; host?: string; token?: string; tls?: KeyPair } = {}) {
  const { allowUids = new Set<number>(), token } = options;
  const setup = addinSetup(backend.server);
  setup[Symbol.dispose]();
  const users = new PeerUsers({ allowUids, tokenSetting: "TMUX_BRIDGE_TOKEN", log: silentLog });
  const app = createAddinApp({
    server: backend.server,
    waits: { checkPattern: () => Promise.resolve(undefined), sendAndWait: () => Promise.reject(new Error("no waits")) },
    clock: systemClock,
    config: { ...addinConfig, token },
    log: silentLog,
    users: token === undefined ? users : undefined,
  });
  const listener = await listen({
    fetch: app.fetch,
    host: options.host ?? "127.0.0.1",
    port: 0,
    tls: options.tls,
    clock: systemClock,
  });
  open.push(listener);
  return listener;
}

const BODY = '{"action":"create_session","session":"theirs"}';
const request = (connection: "close" | "keep-alive", token?: string): string =>
  `POST /v1/tmux HTTP/1.1\r\nHost: localhost\r\nOrigin: ${ADDIN_ORIGIN}\r\nContent-Type: application/json\r\n` +
  (token === undefined ? "" : `Authorization: Bearer ${token}\r\n`) +
  `Connection: ${connection}\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const sessions = (): string[] => backend.server.sessions().map(({ name }) => name);

test.each(["localhost", "127.0.0.1", "::1"])("our own user's clients are served on %s", async (host) => {
  const { port } = await start({ host });
  for (const address of host === "localhost" ? ["127.0.0.1", "[::1]"] : [host.includes(":") ? `[${host}]` : host]) {
    using client = overSocket(`http://${address}:${port}`);
    expect((await client.health()).status).toBe(200);
    expect(await client.tmux({ action: "list_sessions" })).toMatchObject({ status: 200, reusedConnection: true });
  }
});

test("over https the connection is found as well", async () => {
  const { key, cert } = await makeAuthority(Date.now(), "tmuxwire test");
  const { port } = await start({ tls: { key, cert } });
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { origin: ADDIN_ORIGIN };
    get({ host: "127.0.0.1", port, path: "/health", headers, rejectUnauthorized: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).once("error", reject);
  });
  expect(status).toBe(200);
});

tellSkip("a refusal by user");
describe.runIf(isRoot)("another user", () => {
  test.each([
    ["127.0.0.1", "127.0.0.1"],
    ["::1", "::1"],
    // A socket of IPv6 that speaks IPv4, as many runtimes make them.
    ["127.0.0.1", "::ffff:127.0.0.1"],
  ])("is refused on %s from %s, is told the setting, and nothing was done", async (host, from) => {
    const { port } = await start({ host });
    // Kept alive by the client: the refusal ends the connection.
    const { uid, answer } = await asUser(OTHER_UID, { host: from, port, text: request("keep-alive") });
    expect(uid).toBe(OTHER_UID);
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toMatch(/user 65534 may not connect: .*--allow-uids or TMUXWIRE_ALLOW_UIDS.*TMUX_BRIDGE_TOKEN/);
    expect(sessions()).not.toContain("theirs");
  });

  test("is refused even if it sends everything at once and disconnects", async () => {
    const { port } = await start();
    const many = request("keep-alive").repeat(20);
    for (let at = 0; at < 5; at++) {
      const { answer } = await asUser(OTHER_UID, { port, text: many, closes: true });
      expect(answer).not.toMatch(/ 200 /);
    }
    expect(sessions()).not.toContain("theirs");
  });

  test.each<[string, Parameters<typeof start>[0], string | undefined]>([
    ["allowed by number", { allowUids: new Set([OTHER_UID]) }, undefined],
    ["allowed as anybody", { allowUids: "any" }, undefined],
    ["with the token", { token: "t0ken" }, "t0ken"],
  ])("is allowed when %s", async (_name, options, token) => {
    const { port } = await start(options);
    const { answer } = await asUser(OTHER_UID, { port, text: request("close", token) });
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    await backend.server.killSession(backend.server.sessions().find(({ name }) => name === "theirs")!.id);
  });
});
