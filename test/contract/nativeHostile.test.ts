/** Clients that mean harm or are broken: bounded memory, and service for the others soon after. */
import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { nativeFixture, stubServer } from "../support/daemon/nativeServer.ts";
import { sendRaw } from "../support/daemon/nativeRaw.ts";

const INPUT = "/v1/servers/main/panes/work/input";

async function withPane() {
  const server = stubServer();
  await server.createSession({ name: "work" });
  return nativeFixture(server);
}

/** Opens a connection, sends what is given, reads until the other side has closed it. */
function talk(port: number, send: (socket: Socket) => void): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(port, "127.0.0.1", () => send(socket));
    socket.setEncoding("latin1");
    socket.on("data", (part: string) => (text += part));
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
}

const post = (length: number | string): string =>
  `POST ${INPUT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

describe("hostile requests", () => {
  test("a huge header is 431, and the connection is closed", async () => {
    await using api = await withPane();
    const response = await talk(api.port, (socket) => {
      socket.write(`GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(100_000)}\r\n\r\n`);
    });
    expect(response).toMatch(/^HTTP\/1\.1 431 /);
  });

  test("a body of 200 MB costs its sender the connection and us no memory", async () => {
    await using api = await withPane();
    const before = process.memoryUsage().rss;
    const response = await talk(api.port, (socket) => {
      socket.write(post(200_000_000));
      const block = Buffer.alloc(1_000_000, 0x20);
      const more = (): void => {
        while (!socket.destroyed && socket.write(block));
      };
      socket.on("drain", more);
      more();
    });
    expect(response === "" || response.startsWith("HTTP/1.1 413 ")).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000);
    expect((await api.call("GET", "/livez")).status).toBe(200);
  });

  test("a body just past the limit is 413, and the connection stays usable", async () => {
    await using api = await withPane();
    const body = JSON.stringify({ parts: [{ kind: "text", text: "x".repeat(2_200_000) }] });
    const responses = await talk(api.port, (socket) => {
      socket.write(post(body.length) + body);
      socket.write("GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    });
    expect(responses.match(/HTTP\/1\.1 \d+|"code":"\w+"/g)).toEqual([
      "HTTP/1.1 413",
      '"code":"BODY_TOO_LARGE"',
      "HTTP/1.1 200",
    ]);
  });

  test.each([
    ["deep arrays", `{"parts":${"[".repeat(100_000)}${"]".repeat(100_000)}}`],
    ["deep objects", `${'{"parts":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["a million parts", `{"parts":[${'{"kind":"enter"},'.repeat(90_000)}{"kind":"enter"}]}`],
    ["not JSON", "{"],
    ["not UTF-8", Buffer.from('{"parts":[{"kind":"text","text":"\u00ff"}]}', "latin1")],
    ["__proto__", '{"__proto__":{"parts":[{"kind":"enter"}]}}'],
  ])("%s is 400 and nothing is typed", async (_name, body) => {
    await using api = await withPane();
    const before = api.servers.get("main")!.counters().outputBytes;
    const { status } = await api.call("POST", INPUT, body);
    expect(status).toBe(400);
    expect(api.servers.get("main")!.counters().outputBytes).toBe(before);
  });

  test.each([
    ["half an escape", "/v1/servers/%"],
    ["an escaped NUL", "/v1/servers/%00/panes"],
    ["escaped dots", "/v1/servers/main/panes/%2e%2e"],
    ["a name of 10,000 characters", `/v1/servers/${"x".repeat(10_000)}/panes`],
  ])("a path with %s is refused and not an internal error", async (_with, path) => {
    await using api = await withPane();
    const { status } = await sendRaw(api.port, { method: "GET", path, headers: { host: "localhost" } });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });

  test("half-open requests and 1,000 idle connections: others are served", async () => {
    await using api = await withPane();
    const sockets: Socket[] = [];
    for (let index = 0; index < 1_000; index += 1) {
      const socket = connect(api.port, "127.0.0.1", () => {
        if (index % 3 === 0) socket.write("GET /livez HTTP/1.1\r\nHost: lo");
        if (index % 3 === 1) socket.write(post(100));
      });
      socket.on("error", () => undefined);
      sockets.push(socket);
    }
    const closed = (): number => sockets.filter((socket) => socket.destroyed).length;
    // Those that have shown a token keep their place for a while; the others leave.
    await expect.poll(closed, { timeout: 20_000 }).toBeGreaterThan(600);
    for (const socket of sockets) socket.destroy();
    await expect
      .poll(
        () =>
          api.call("GET", "/livez").then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 8_000 },
      )
      .toBe(200);
  });
});
