/** What a daemon holds at rest, and what each watched pane adds once its ring is full: the slope over 10 to 200 panes. */
import { closeSync } from "node:fs";
import { WebSocket } from "ws";
import { expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { filledPane } from "../support/tmux/filledPane.ts";
import { mib, probedDaemon, slope } from "../support/daemon/probedDaemon.ts";
import { report } from "../support/daemon/loadReport.ts";

const STEPS = [10, 50, 100, 200];
const MAX_AT_REST_MB = 80;
const MAX_PER_PANE_MB = 1.2;

test("at rest, native API and add-in", async () => {
  await using sandbox = cliSandbox();
  const daemon = await probedDaemon(sandbox, "native,addin");
  const { rss, heapUsed } = await daemon.usage();
  report("memory at rest", { rssMb: mib(rss), heapMb: mib(heapUsed) });
  expect(mib(rss)).toBeLessThanOrEqual(MAX_AT_REST_MB);
});

test("per watched pane with a full ring", async () => {
  await using sandbox = cliSandbox();
  const daemon = await probedDaemon(sandbox);
  const client = createClient({ url: daemon.url, token: daemon.token });
  const socket = client.openSocket({ WebSocket });
  const fds: number[] = [];
  const readers: Promise<void>[] = [];
  const points: (readonly [panes: number, rss: number])[] = [];
  for (const panes of STEPS) {
    while (fds.length < panes) {
      const name = `pane-${fds.length}`;
      fds.push(await filledPane(client.server("main"), name));
      const events = socket.follow("main", name);
      expect((await events.next()).value?.kind).toBe("open");
      readers.push(drain(events));
    }
    points.push([panes, (await daemon.usage()).rss]);
  }
  const perPaneMb = mib(slope(points));
  report("memory per watched pane", {
    perPaneMb,
    rssMb: Object.fromEntries(points.map(([panes, rss]) => [panes, mib(rss)])),
  });
  expect(perPaneMb).toBeLessThanOrEqual(MAX_PER_PANE_MB);
  socket.close();
  await Promise.allSettled(readers);
  for (const fd of fds) closeSync(fd);
});

async function drain(events: AsyncGenerator<unknown, void, void>): Promise<void> {
  for await (const _ of events);
}
