import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import net from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { socketFetch } from "../../../../adapters/serving/socketFetch.ts";
import { unixFetch } from "../../../../adapters/serving/unixFetch.ts";
import { ownDirectory } from "../../../support/daemon/ownDirectory.ts";

let directory: string;
let path: string;
let closing: (() => Promise<void>)[];
beforeEach(() => {
  directory = ownDirectory();
  path = join(directory, "s");
  closing = [];
});
afterEach(async () => {
  for (const close of closing) await close();
});

async function serve(listener: RequestListener): Promise<void> {
  const server = createServer(listener).listen(path);
  await once(server, "listening");
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
}

describe.each([
  ["with kept connections", unixFetch],
  ["of a command", socketFetch],
])("fetch over a unix socket, %s", (_name, fetchOver) => {
  test("sends method, path, headers and body, and reads the response", async () => {
    await serve((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const { method, url, headers } = request;
        response.writeHead(201, { "content-type": "application/json", "x-two": ["a", "b"] });
        response.end(JSON.stringify({ method, url, body, host: headers.host, auth: headers["authorization"] }));
      });
    });
    const response = await fetchOver(path)("http://localhost/v1/x%20y?q=1", {
      method: "POST",
      headers: { authorization: "Bearer t", "content-type": "application/json" },
      body: '{"é":1}',
    });
    expect([response.status, response.headers.get("x-two")]).toEqual([201, "a, b"]);
    expect(await response.json()).toEqual({
      method: "POST",
      url: "/v1/x%20y?q=1",
      body: '{"é":1}',
      host: "localhost",
      auth: "Bearer t",
    });
  });

  test("a response without a body", async () => {
    await serve((_request, response) => response.writeHead(204).end());
    const response = await fetchOver(path)("http://localhost/");
    expect([response.status, response.body]).toEqual([204, null]);
  });

  test("hands the body out as it comes, and ends it with the signal", async () => {
    const gone = new Promise<void>((resolve) => {
      void serve((_request, response) => {
        response.write("first");
        response.once("close", resolve);
      });
    });
    const controller = new AbortController();
    while (closing.length === 0) await new Promise(setImmediate);
    const response = await fetchOver(path)("http://localhost/", { signal: controller.signal });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("first");
    controller.abort(new Error("enough"));
    await expect(reader?.read()).rejects.toThrow("enough");
    await gone;
  });

  test("a signal ends a request without a response, and one that was not sent", async () => {
    const controller = new AbortController();
    await serve(() => controller.abort(new Error("enough")));
    await expect(fetchOver(path)("http://localhost/", { signal: controller.signal })).rejects.toThrow("enough");
    await expect(fetchOver(path)("http://localhost/", { signal: controller.signal })).rejects.toThrow("enough");
  });

  test("says what to do when nobody listens", async () => {
    await expect(fetchOver(path)("http://localhost/")).rejects.toMatchObject({
      code: "DAEMON_UNREACHABLE",
      message: `no daemon listens on ${path}: start one with \`tmuxwire serve\``,
    });
  });
});

/** A server that sends these bytes, in the given pieces, whatever it is asked, and ends the connection. */
async function sends(...pieces: readonly string[]): Promise<{ readonly asked: () => string }> {
  let asked = "";
  const server = net.createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => (asked += bytes.toString("latin1")));
    socket.once("data", () => void oneByOne(socket, pieces));
  });
  server.listen(path);
  await once(server, "listening");
  closing.push(async () => {
    server.close();
    await once(server, "close");
  });
  return { asked: () => asked };
}

async function oneByOne(socket: net.Socket, pieces: readonly string[]): Promise<void> {
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, "latin1", resolve));
    await new Promise(setImmediate);
  }
  socket.end();
}

const textOf = async (): Promise<string> => (await socketFetch(path)("http://localhost/")).text();

describe("a command's reading of a response", () => {
  test("a path that leads nowhere is named", async () => {
    await sends("");
    const nowhere = join(path, "s");
    await expect(socketFetch(nowhere)("http://localhost/")).rejects.toMatchObject({
      code: "DAEMON_UNREACHABLE",
      message: `cannot reach the daemon on ${nowhere} (ENOTDIR)`,
    });
  });

  test.each([
    ["a length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloignored", "hello"],
    ["chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n", "hello"],
    ["the end of the connection", "HTTP/1.1 200 OK\r\n\r\nhello", "hello"],
    ["no body", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ""],
    ["another response before", "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi"],
    ["no phrase, and a name in capitals", "HTTP/1.1 200\r\nCONTENT-LENGTH:2\r\n\r\nhi", "hi"],
  ])("by %s, whole and a byte at a time", async (_by, response, expected) => {
    await sends(response);
    expect(await textOf()).toBe(expected);
    for (const close of closing.splice(0)) await close();
    await sends(...Array.from(response));
    expect(await textOf()).toBe(expected);
  });

  test.each([
    ["in its head", "HTTP/1.1 200 OK\r\nConte"],
    ["before its length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell"],
    ["in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhell"],
    ["before the last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"],
    ["before anything", ""],
  ])("one that is cut off %s is none, and what was asked may have been done", async (_where, response) => {
    await sends(response);
    await expect(textOf()).rejects.toMatchObject({
      code: "DAEMON_UNREACHABLE",
      message: expect.stringContaining(`the connection to the daemon on ${path} was lost`) as string,
      details: { delivery: "indeterminate" },
    });
  });

  test.each([
    ["no HTTP", "SSH-2.0-OpenSSH\r\n\r\n"],
    ["a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"],
    ["a chunk whose length is none", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"],
    ["a chunk that does not end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n"],
    ["a header without a name", "HTTP/1.1 200 OK\r\n: x\r\n\r\n"],
    ["a head without an end", `HTTP/1.1 200 OK\r\nx: ${"y".repeat(40_000)}`],
  ])("%s is refused", async (_what, response) => {
    await sends(response);
    await expect(textOf()).rejects.toThrow("not HTTP");
  });

  test("a header's value cannot begin another header", async () => {
    const { asked } = await sends("HTTP/1.1 200 OK\r\n\r\n");
    const headers = { "idempotency-key": "a\r\nx-evil: 1" };
    await expect(socketFetch(path)("http://localhost/", { headers })).rejects.toThrow("idempotency-key");
    expect(asked()).toBe("");
  });

  test("a body larger than what is held unread comes whole", async () => {
    const body = "x".repeat(6_000_000);
    await serve((_request, response) => response.end(body));
    const response = await socketFetch(path)("http://localhost/");
    await new Promise((resolve) => setImmediate(resolve));
    expect((await response.text()) === body).toBe(true);
  });
});
