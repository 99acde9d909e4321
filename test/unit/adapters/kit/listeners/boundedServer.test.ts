import { expect, test } from "vitest";
import { closeServers, listeningServer } from "../../../../../adapters/kit/listeners/boundedServer.ts";
import { systemClock } from "../../../../../daemon/time/clock.ts";

test("a listener bounds its connections, the size of headers, and the time that a request and an idle client may take", async () => {
  const options = { fetch: () => new Response("ok"), clock: systemClock };
  const server = await listeningServer(options, { host: "127.0.0.1", port: 0 });
  expect(server).toMatchObject({
    maxHeaderSize: 16_384,
    headersTimeout: 10_000,
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 5_000,
  });
  expect(server.maxConnections).toBeGreaterThan(100);
  expect(server.maxConnections).toBeLessThanOrEqual(768);
  await closeServers([server], systemClock);
});
