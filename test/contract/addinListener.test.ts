/** docs/contracts/addin.md §1 where a real connection matters: both loopback addresses, 413, disconnects, closing. */
import { createServer } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { connect, createServer as createTcpServer } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AddinAppConfig } from "../../adapters/addin/addinApp.ts";
import type { KeyPair } from "../../adapters/kit/listeners/boundedServer.ts";
import type { Listener } from "../../adapters/kit/listeners/listen.ts";
import { listen } from "../../adapters/kit/listeners/listen.ts";
import { makeAuthority } from "../../adapters/kit/trust/localAuthority.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { ADDIN_ORIGIN, overSocket } from "../support/daemon/addinClient.ts";
import type { AddinSetup, RunningBackend } from "../support/daemon/backends.ts";
import { addinSetup, stubBackend } from "../support/daemon/backends.ts";

let backend: RunningBackend;
let listener: Listener | undefined;
let setup: AddinSetup | undefined;

beforeEach(async () => {
  backend = await stubBackend.start();
});

afterEach(async () => {
  await listener?.close();
  listener = undefined;
  setup?.[Symbol.dispose]();
  await backend.close();
});

async function start(options: { config?: Partial<AddinAppConfig>; tls?: KeyPair; host?: string; port?: number } = {}) {
  setup?.[Symbol.dispose]();
  setup = addinSetup(backend.server, options.config);
  listener = await listen({
    fetch: setup.app.fetch,
    host: options.host ?? "127.0.0.1",
    port: options.port ?? 0,
    tls: options.tls,
    clock: systemClock,
    settings: { host: "HOST", port: "PORT" },
  });
  return listener;
}

const HEAD = `Host: localhost\r\nOrigin: ${ADDIN_ORIGIN}\r\nContent-Type: application/json\r\n`;

/** A bare connection: what it has received so far, and whether it has ended. */
function bareConnection(port: number): { socket: Socket; received: () => string; closed: Promise<void> } {
  const socket = connect(port, "127.0.0.1");
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => void socket.on("close", () => resolve()));
  return { socket, received: () => text, closed };
}

describe("connections", () => {
  test("localhost listens on both loopback addresses", async () => {
    const { port, url } = await start({ host: "localhost" });
    expect(url).toBe(`http://localhost:${port}`);
    for (const host of ["127.0.0.1", "[::1]"]) {
      using client = overSocket(`http://${host}:${port}`);
      expect((await client.health()).status).toBe(200);
    }
  });

  test("a request over a socket passes the guard's peer and Host checks, a foreign Host does not", async () => {
    using client = overSocket((await start()).url);
    expect((await client.health()).status).toBe(200);
    expect(await client.health({ host: "evil.example" })).toMatchObject({ status: 403, text: "forbidden" });
  });

  test("after a 413 the connection stays usable", async () => {
    using client = overSocket((await start()).url);
    const body = `{"action":"${"x".repeat(600_000)}"}`;
    const refused = await client.send({ body, headers: { "content-type": "application/json" } });
    expect(refused).toMatchObject({ status: 413, json: { error: "Request body too large (max 262144 bytes)." } });
    expect(await client.health()).toMatchObject({ status: 200, reusedConnection: true });
  });

  test("after every refusal with an unread body the connection stays usable", async () => {
    using client = overSocket((await start({ config: { token: "t" } })).url);
    const body = "x".repeat(100_000);
    for (const [path, status] of [
      ["/v1/tmux", 401],
      ["/nowhere", 404],
      ["/health", 405],
    ] as const) {
      expect((await client.send({ path, body })).status).toBe(status);
      expect(await client.health()).toMatchObject({ status: 200, reusedConnection: true });
    }
  });

  test("a client that announces far too large a body gets a 413 and is disconnected", async () => {
    const { socket, received, closed } = bareConnection((await start()).port);
    socket.write(`POST /v1/tmux HTTP/1.1\r\n${HEAD}Content-Length: 999999999\r\n\r\n`);
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(received()).toMatch(/\r\nconnection: close\r\n/i);
  });

  test("a client that keeps sending is disconnected after a bounded amount", async () => {
    const { socket, received, closed } = bareConnection((await start()).port);
    socket.write(`POST /v1/tmux HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    const pour = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on("drain", pour);
    pour();
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 413 /);
    // What the kernel had buffered counts as written; it is some megabytes at the most.
    expect(socket.bytesWritten).toBeLessThan(32 * 1_048_576);
  });
});

describe("A9: a wait ends at once when its client disconnects", () => {
  test("send_and_capture", async () => {
    using client = overSocket((await start()).url);
    await client.tmux({ action: "create_session", session: "a" });
    const controller = new AbortController();
    const request = { action: "send_and_capture", session: "a", text: "x", wait_for: "never", timeout_ms: 120_000 };
    const abandoned = client.tmux(request, {}, controller.signal);
    abandoned.catch(() => undefined);
    await expect.poll(() => setup?.activeWaits()).toBe(1);
    controller.abort();
    await expect(abandoned).rejects.toThrow(/abort/i);
    await expect.poll(() => setup?.activeWaits()).toBe(0);
  });
});

describe("closing", () => {
  test("closing ends an active request and frees the port", async () => {
    const { port, url } = await start();
    using client = overSocket(url);
    await client.tmux({ action: "create_session", session: "a" });
    const hanging = client.tmux({ action: "send_and_capture", session: "a", text: "x", wait_for: "never" });
    hanging.catch(() => undefined);
    await expect.poll(() => setup?.activeWaits()).toBe(1);
    await Promise.all([listener?.close(), listener?.close()]);
    await expect(hanging).rejects.toMatchObject({ code: "ECONNRESET" });
    expect((await start({ port })).port).toBe(port);
  });

  test("closing waits for a request that ends within the bound", async () => {
    using client = overSocket((await start()).url);
    await client.tmux({ action: "create_session", session: "a" });
    const request = { action: "send_and_capture", session: "a", text: "x", wait_for: "later", timeout_ms: 20_000 };
    const answered = client.tmux(request);
    await expect.poll(() => setup?.activeWaits()).toBe(1);
    const closed = listener?.close();
    const pane = backend.server.findSession("a")?.activePane;
    if (pane === undefined) throw new Error("the stub has lost its session");
    await backend.server.input(pane, [{ kind: "text", bytes: new TextEncoder().encode("later") }]);
    expect((await answered).status).toBe(200);
    await closed;
  });
});

/** One that the system gives to nobody who asks for any: nobody takes it meanwhile. */
async function listenOnQuietPort(server: Server, host: string): Promise<number> {
  for (let port = 20_000 + (process.pid % 10_000); ; port += 1) {
    const isListening = new Promise<boolean>((resolve) => {
      server.once("listening", () => resolve(true)).once("error", () => resolve(false));
    });
    server.listen(port, host);
    if (await isListening) return port;
  }
}

describe("a listener that cannot start fails with one line that says what to do", () => {
  test("a port in use, on either loopback address", async () => {
    for (const host of ["127.0.0.1", "::1"]) {
      const other = createServer();
      await new Promise<void>((resolve) => void other.listen(0, host, resolve));
      const { port } = other.address() as AddressInfo;
      await expect(start({ host: "localhost", port })).rejects.toMatchObject({
        code: "CONFIGURATION_INVALID",
        message: `port ${port} on localhost is in use: stop the program that listens there, or choose another port with PORT`,
      });
      await new Promise((resolve) => void other.close(resolve));
    }
  });

  test("a key and a certificate that do not match", async () => {
    const [one, other] = [await makeAuthority(Date.now(), "one"), await makeAuthority(Date.now(), "other")];
    await expect(start({ tls: { key: one.key, cert: other.cert } })).rejects.toThrow(
      /^the key and certificate do not match/,
    );
  });

  test("a failed start leaves nothing listening", async () => {
    const other = createTcpServer();
    const port = await listenOnQuietPort(other, "::1");
    await expect(start({ host: "localhost", port })).rejects.toThrow(/in use/);
    await new Promise((resolve) => void other.close(resolve));
    expect((await start({ host: "localhost", port })).port).toBe(port);
  });
});
