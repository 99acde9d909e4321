/** 1, 10, 100 and 300 panes that chatter ten times a second, all followed over one WebSocket (issue 4). */
import { closeSync, openSync, writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { WebSocket } from "ws";
import { expect, test } from "vitest";
import { createClient } from "../../adapters/native/client.ts";
import { nativeFixture } from "../support/nativeServer.ts";
import { ownedFixture } from "../support/ownedFixture.ts";

const SECONDS = 5;
const quantile = (values: number[], q: number): number =>
  values.sort((a, b) => a - b)[Math.floor(values.length * q)] ?? 0;

test.each([1, 10, 100, 300])("%i panes", async (count) => {
  await using fixture = await ownedFixture();
  await using api = await nativeFixture(fixture.server);
  const client = createClient({ url: api.url });
  const server = client.server("main");
  const before = process.memoryUsage().rss;
  const panes: { readonly name: string; readonly fd: number }[] = [];
  for (let index = 0; index < count; index += 1) {
    const name = `p${index}`;
    await server.createSession({ name, command: ["sleep", "1000"] });
    panes.push({ name, fd: openSync((await server.pane(name).info()).tty, "w") });
  }
  const socket = client.openSocket({ WebSocket });
  const received = new Map<string, string[]>();
  const readers = panes.map(async ({ name }) => {
    const chunks: string[] = [];
    received.set(name, chunks);
    for await (const event of socket.follow("main", name)) {
      if (event.kind === "open") continue;
      if (event.kind !== "output") throw new Error(`${name}: ${event.kind}`);
      chunks.push(Buffer.from(event.bytes).toString());
    }
  });
  await expect
    .poll(() => api.call("GET", "/metrics").then(({ text }) => text), { timeout: 10_000 })
    .toContain(`tmuxwire_stream_subscribers{server="main"} ${count}\n`);
  const noops: number[] = [];
  for (let round = 0; round < SECONDS * 10; round += 1) {
    for (const { name, fd } of panes) writeSync(fd, `${name} says ${round}\n`);
    for (let index = 0; index < 5; index += 1) {
      const startMs = performance.now();
      await server.pane(panes[(round * 5 + index) % count]!.name).info();
      noops.push(performance.now() - startMs);
    }
    await delay(100);
  }
  for (const { name } of panes) {
    const wanted = Array.from({ length: SECONDS * 10 }, (_, round) => `${name} says ${round}\r\n`).join("");
    await expect.poll(() => received.get(name)?.join(""), { timeout: 10_000 }).toBe(wanted);
  }
  const perPaneMb = (process.memoryUsage().rss - before) / 1_048_576 / count;
  const figures = { panes: count, noopP50Ms: quantile(noops, 0.5), noopP95Ms: quantile(noops, 0.95), perPaneMb };
  process.stdout.write(`${JSON.stringify(figures)}\n`);
  socket.close();
  await Promise.allSettled(readers);
  for (const { fd } of panes) closeSync(fd);
});
