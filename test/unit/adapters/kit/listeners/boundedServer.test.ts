import { once } from "node:events";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { type AddressInfo, connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { connect as connectSecure, type TLSSocket } from "node:tls";
import { expect, test, vi } from "vitest";
import { closeServers, listeningServer } from "../../../../../adapters/kit/listeners/boundedServer.ts";
import { CLOSE_GRACE_MS } from "../../../../../adapters/kit/peers/httpLimits.ts";
import { listen, requireLoopback } from "../../../../../adapters/kit/listeners/listen.ts";
import { makeAuthority } from "../../../../../adapters/kit/trust/localAuthority.ts";
import { createWebSocketServer } from "../../../../../adapters/kit/streams/websocket.ts";
import type { Log } from "../../../../../daemon/ops/log.ts";
import { systemClock } from "../../../../../daemon/time/clock.ts";
import { silentLog } from "../../../../../bench/silentLog.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

test.each([
  [undefined, 768],
  [1_003, 250],
  [1_048_576, 768],
])("where the process may open %s descriptors, a listener accepts %i connections", async (limit, expected) => {
  const limits = limit === undefined ? "" : `Max open files            ${limit}       1048576      files\n`;
  const reading = vi.spyOn(fs, "readFileSync").mockReturnValue(limits);
  syncBuiltinESMExports();
  const options = { fetch: () => new Response("ok"), clock: systemClock };
  const listening = listeningServer(options, { host: "127.0.0.1", port: 0 });
  reading.mockRestore();
  syncBuiltinESMExports();
  const server = await listening;
  expect(server.maxConnections).toBe(expected);
  await closeServers([server], systemClock);
});

test("a listener bounds the size of headers, and the time that a request and an idle client may take", async () => {
  const options = { fetch: () => new Response("ok"), clock: systemClock };
  const server = await listeningServer(options, { host: "127.0.0.1", port: 0 });
  expect(server).toMatchObject({
    maxHeaderSize: 16_384,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 5_000,
  });
  await closeServers([server], systemClock);
});

const LOOPBACK = { host: "127.0.0.1", port: 0 };

test("a listener closes a connection that says nothing for two seconds", async () => {
  const clock = new FakeClock();
  const server = await listeningServer({ fetch: () => new Response("ok"), clock }, LOOPBACK);
  const accepted = once(server, "connection");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await accepted;
  clock.advanceMs(2_000);
  expect(await text(socket)).toBe("");
  await closeServers([server], clock);
});

test("a connection that cannot be accepted is logged", async () => {
  const logged: unknown[] = [];
  const log: Log = { ...silentLog, warn: (...one) => void logged.push(one) };
  const error = new Error("accept EMFILE");
  for (const given of [log, undefined]) {
    const server = await listeningServer({ fetch: () => new Response("ok"), clock: systemClock, log: given }, LOOPBACK);
    server.emit("error", error);
    await closeServers([server], systemClock);
  }
  expect(logged).toEqual([["http.accept.failed", { error }]]);
});

test("a request that does not end is cut when the grace of closing is over, and no timer is left", async () => {
  const clock = new FakeClock();
  const fetch = (): Promise<Response> => new Promise(() => undefined);
  const server = await listeningServer({ fetch, clock }, LOOPBACK);
  const requested = once(server, "request");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await requested;
  const closed = closeServers([server], clock);
  clock.advanceMs(CLOSE_GRACE_MS);
  await closed;
  expect([await text(socket), clock.pendingTimers]).toEqual(["", 0]);
});

test("a request that ends within the grace of closing gets its response, and its connection is closed then", async () => {
  const clock = new FakeClock();
  let finish = (): void => undefined;
  const fetch = (): Promise<Response> => new Promise((resolve) => (finish = () => resolve(new Response("late"))));
  const server = await listeningServer({ fetch, clock }, LOOPBACK);
  const requested = once(server, "request");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  await requested;
  const closed = closeServers([server], clock);
  clock.advanceMs(CLOSE_GRACE_MS - 1);
  finish();
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 [^]*late/);
  clock.advanceMs(CLOSE_GRACE_MS);
  await closed;
  expect(await text(socket)).toBe("");
});

test("a listener over https takes another certificate for new connections, and no key that is not its own", async () => {
  const [one, other] = await Promise.all(["one", "other"].map((name) => makeAuthority(Date.now(), name)));
  const options = { fetch: () => new Response("ok"), host: "127.0.0.1", port: 0, clock: systemClock };
  await expect(listen({ ...options, tls: { key: one!.key, cert: other!.cert } })).rejects.toMatchObject({
    code: "CONFIGURATION_INVALID",
    message: expect.stringMatching(/^the key and certificate do not match/) as string,
  });
  const listener = await listen({ ...options, tls: one });
  expect(listener.url).toBe(`https://127.0.0.1:${listener.port}`);
  const opened: TLSSocket[] = [];
  const shown = async (): Promise<string> => {
    const socket = connectSecure({ port: listener.port, host: "127.0.0.1", rejectUnauthorized: false });
    opened.push(socket);
    await once(socket, "secureConnect");
    return String(socket.getPeerCertificate().subject.CN);
  };
  const names = [await shown()];
  listener.replaceCertificate(other!);
  names.push(await shown());
  expect(names).toEqual(["one", "other"]);
  for (const socket of opened) socket.destroy();
  await Promise.all([listener.close(), listener.close()]);
  await expect(shown()).rejects.toMatchObject({ code: "ECONNREFUSED" });
});

test("at localhost both loopback addresses are taken, or none", async () => {
  const other = createServer().listen(0);
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  await once(other.close(), "close");
  await once(other.listen(port, "::1"), "listening");
  const options = { fetch: () => new Response("ok"), clock: systemClock, port };
  await expect(listen({ ...options, host: "localhost" })).rejects.toMatchObject({
    details: { reason: "EADDRINUSE" },
    message: expect.stringMatching(/ is in use: .* choose another port with the port setting$/) as string,
  });
  const listener = await listen({ ...options, host: "127.0.0.1" });
  expect(listener.port).toBe(port);
  await listener.close();
  other.close();
});

/** What the application is asked when these lines are sent to a listener with a WebSocket at `/ws`. */
async function asked(lines: readonly string[], body: string): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const listener = await listen({
    host: "127.0.0.1",
    port: 0,
    clock: systemClock,
    websocket: createWebSocketServer({
      paths: ["/ws"],
      protocol: undefined,
      maxMessageBytes: 1_000,
      clock: systemClock,
    }),
    fetch: async (request, { outgoing }) => {
      const { pathname } = new URL(request.url);
      const isUpgrade = (outgoing as unknown) === undefined;
      const headers = Object.fromEntries(request.headers);
      seen.push(request.method, pathname, isUpgrade ? "upgrade" : { headers, body: await request.text() });
      return new Response("ok", { headers: { connection: "close" } });
    },
  });
  const socket = connect(listener.port, "127.0.0.1");
  socket.write(`${[...lines, "Host: 127.0.0.1"].join("\r\n")}\r\n\r\n${body}`);
  await text(socket);
  await listener.close();
  return seen;
}

const WEBSOCKET = [
  "Connection: Upgrade",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
] as const;

test("a request for another upgrade is handled as if it had asked for none, with its other headers and its body", async () => {
  const h2c = ["Connection: Upgrade, HTTP2-Settings,  close", "Upgrade: h2c", "HTTP2-Settings: AAMA"];
  const lines = ["POST /x HTTP/1.1", "X-Own:  é", "X-Empty:", ...h2c, "Content-Length: 5"];
  const headers = { "x-own": "Ã©", "x-empty": "", connection: "close", "content-length": "5", host: "127.0.0.1" };
  expect(await asked(lines, "12345")).toEqual(["POST", "/x", { headers, body: "12345" }]);
  expect(await asked(["GET /x HTTP/1.1", "connection: UPGRADE", "UPGRADE: what"], "")).toEqual([
    "GET",
    "/x",
    { headers: { host: "127.0.0.1" }, body: "" },
  ]);
});

test.each([
  ["GET /ws", "WebSocket", true],
  ["GET /ws?from=1", "websocket", true],
  ["GET http://127.0.0.1/ws", "websocket", true],
  ["GET /ws/more", "websocket", false],
  ["GET /wshttp://127.0.0.1", "websocket", false],
  ["GET /", "websocket", false],
  ["POST /ws", "websocket", false],
  ["GET /ws", "what", false],
])("%s with an upgrade to %s is one to our WebSocket: %s", async (request, upgrade, isOurs) => {
  const seen = await asked([`${request} HTTP/1.1`, ...WEBSOCKET, `Upgrade: ${upgrade}`], "");
  expect(seen.at(-1) === "upgrade").toBe(isOurs);
  expect(seen).toHaveLength(3);
});

test.each([
  ["localhost", undefined],
  ["no such host", /^no such host is not an address of this machine: set HOST to localhost or 127\.0\.0\.1$/],
  ["127.0.0.1", undefined],
  ["::1", undefined],
  [
    "192.0.2.1",
    /^192\.0\.2\.1 is not a loopback address.*: set HOST to localhost or 127\.0\.0\.1.*; or list in OTHERS/,
  ],
])("for this machine only, a listener may be at %s: %s", async (host, refusal) => {
  const settings = { host: "HOST", port: "PORT", others: "OTHERS" };
  const problem = await requireLoopback({ host, port: 1, settings }).catch(({ message }: Error) => message);
  if (refusal === undefined) expect(problem).toBeUndefined();
  else expect(problem).toMatch(refusal);
});

test("an address that is not of this machine, and a listener that other machines may use", async () => {
  const options = { fetch: () => new Response("ok"), clock: systemClock, port: 0, remote: true };
  await expect(listen({ ...options, host: "192.0.2.1" })).rejects.toMatchObject({
    code: "CONFIGURATION_INVALID",
    message: expect.stringMatching(/^192\.0\.2\.1 is not an address of this machine: set the host setting/) as string,
    details: { reason: "EADDRNOTAVAIL" },
  });
  await expect(listen({ ...options, remote: undefined, host: "0.0.0.0" })).rejects.toThrow(/not a loopback address/);
  const listener = await listen({ ...options, host: "0.0.0.0" });
  expect(listener.url).toBe(`http://0.0.0.0:${listener.port}`);
  await listener.close();
});
