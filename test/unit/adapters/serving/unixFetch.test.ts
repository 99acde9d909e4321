import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
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

describe("fetch over a unix socket", () => {
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
    const response = await unixFetch(path)("http://localhost/v1/x%20y?q=1", {
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
    const response = await unixFetch(path)("http://localhost/");
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
    const response = await unixFetch(path)("http://localhost/", { signal: controller.signal });
    const reader = response.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe("first");
    controller.abort(new Error("enough"));
    await expect(reader?.read()).rejects.toThrow("enough");
    await gone;
  });

  test("a signal ends a request without a response, and one that was not sent", async () => {
    const controller = new AbortController();
    await serve(() => controller.abort(new Error("enough")));
    await expect(unixFetch(path)("http://localhost/", { signal: controller.signal })).rejects.toThrow("enough");
    await expect(unixFetch(path)("http://localhost/", { signal: controller.signal })).rejects.toThrow("enough");
  });

  test("says what to do when nobody listens", async () => {
    await expect(unixFetch(path)("http://localhost/")).rejects.toMatchObject({
      code: "DAEMON_UNREACHABLE",
      message: `no daemon listens on ${path}: start one with \`tmuxwire serve\``,
    });
  });
});
