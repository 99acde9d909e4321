/** Exactly once across everything that can break between a pane and a reader. */
import { WebSocket } from "ws";
import { expect, test, vi } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import type { OutputSource } from "../../daemon/tmux/outputSource.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { Record, StreamChecker } from "../support/daemon/nativeChecker.ts";
import { echoPane } from "../support/daemon/nativeEchoPane.ts";
import { randomFrom, below, type Random } from "../support/daemon/nativeScreens.ts";
import { nativeFixture } from "../support/daemon/nativeServer.ts";
import { collectUntil } from "../support/tmux/output.ts";
import { breakConnection, ownedFixture } from "../support/tmux/ownedFixture.ts";

/** A `fetch` whose streams are cut after a random number of bytes, in the middle of events too. */
interface CuttingFetch {
  readonly fetch: typeof fetch;
  cuts: number;
  /** From now on nothing is cut. */
  stop(): void;
}

function cuttingFetch(random: Random, maxBytes: number): CuttingFetch {
  let cutting = true;
  const state: CuttingFetch = {
    cuts: 0,
    stop: () => {
      cutting = false;
    },
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true || !cutting) return response;
      let left = below(random, maxBytes);
      const cut = new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          if (!cutting) {
            controller.enqueue(chunk);
            return;
          }
          if (chunk.length < left) {
            left -= chunk.length;
            controller.enqueue(chunk);
            return;
          }
          controller.enqueue(chunk.subarray(0, left));
          state.cuts += 1;
          controller.error(new Error("cut by the test"));
        },
      });
      return new Response(response.body!.pipeThrough(cut), { status: response.status, headers: response.headers });
    },
  };
  return state;
}

/** Runs the test's own loop until it holds; every turn is paced by what the test awaits in it. */
async function until(done: () => boolean, step: () => Promise<unknown>): Promise<void> {
  while (!done()) await step();
}

function consume(
  events: AsyncGenerator<Parameters<StreamChecker["see"]>[0], void, void>,
  checker: StreamChecker,
): Promise<void> {
  return (async () => {
    for await (const event of events) checker.see(event);
  })();
}

const line = (n: number): Buffer => Buffer.from(`line ${n} ${"·".repeat(n % 50)}\r\n`);

/** Resolves when the reader has come to the end of what the pane has printed. */
async function caughtUp(checker: StreamChecker, source: OutputSource): Promise<void> {
  await vi.waitUntil(() => checker.position === `${source.epoch}:${source.outputSeq}`, {
    timeout: 10_000,
    interval: 1,
  });
}

test("a reader cut off dozens of times gets every byte once", async () => {
  await using fixture = await ownedFixture();
  await using api = await nativeFixture(fixture.server);
  const echo = await echoPane(fixture.server, "pane", 80, 24);
  const record = new Record();
  record.begin(fixture.server, echo.pane);
  const checker = new StreamChecker(record);
  const cutting = cuttingFetch(randomFrom(7), 2_000);
  const pane = createClient({ url: api.url, fetch: cutting.fetch }).server("main").pane("pane");
  const abort = new AbortController();
  const reading = consume(pane.follow({ from: `${echo.source.epoch}:0`, signal: abort.signal }), checker);
  let printed = 0;
  await until(
    () => cutting.cuts >= 50,
    async () => {
      await echo.print(line((printed += 1)));
      // Now and then the reader is let fall behind.
      if (printed % 10 !== 0) await caughtUp(checker, echo.source);
    },
  );
  cutting.stop();
  await echo.print(Buffer.from("the end"));
  await caughtUp(checker, echo.source);
  expect(checker).toMatchObject({ bytes: echo.source.outputSeq, gaps: [], snapshots: 0 });
  abort.abort(new Error("done"));
  await expect(reading).rejects.toThrow("done");
});

test.each(["sse", "websocket"] as const)(
  "%s goes on over lost tmux connections, and every hole is declared",
  async (transport) => {
    await using fixture = await ownedFixture();
    await using api = await nativeFixture(fixture.server);
    const echo = await echoPane(fixture.server, "pane", 80, 24);
    const record = new Record();
    record.begin(fixture.server, echo.pane);
    const checker = new StreamChecker(record);
    const client = createClient({ url: api.url });
    const socket = transport === "websocket" ? client.openSocket({ WebSocket }) : undefined;
    const events = socket?.follow("main", "pane") ?? client.server("main").pane("pane").follow();
    const reading = consume(events, checker);
    await expect.poll(() => checker.position).toMatch(/:\d+$/);
    const epochs = [echo.source.epoch];
    for (let round = 0; round < 3; round += 1) {
      const source = fixture.server.output(echo.pane);
      const from = source.outputSeq;
      const lines = Array.from({ length: 20 }, (_, n) => line(n));
      for (const bytes of lines) await fixture.server.input(echo.pane, [{ kind: "text", bytes }]);
      await collectUntil(source, from, (all) => all.length === Buffer.concat(lines).length);
      await caughtUp(checker, source);
      await breakConnection(fixture);
      record.begin(fixture.server, echo.pane);
      epochs.push(fixture.server.status().epoch);
    }
    await expect.poll(() => checker.snapshots).toBe(3);
    expect(new Set(epochs).size).toBe(4);
    expect(checker.gaps.map((gap) => gap.reason)).toEqual(["epoch", "epoch", "epoch"]);
    const last = fixture.server.output(echo.pane);
    const before = last.outputSeq;
    await fixture.server.input(echo.pane, [{ kind: "text", bytes: Buffer.from("bye") }]);
    await collectUntil(last, before, (all) => all.toString() === "bye");
    await caughtUp(checker, last);
    // tmux itself ends: the pane is gone, and a server that comes after it is another one.
    fixture.socket.tmux("kill-server");
    await reading;
    expect(checker.closed).toBe("NOT_FOUND");
    socket?.close();
  },
);

test.each(["sse", "websocket"] as const)("%s goes on after the daemon was restarted", async (transport) => {
  await using fixture = await ownedFixture();
  const echo = await echoPane(fixture.server, "pane", 80, 24);
  const record = new Record();
  record.begin(fixture.server, echo.pane);
  const checker = new StreamChecker(record);
  const first = await nativeFixture(fixture.server);
  const client = createClient({ url: first.url });
  const socket = transport === "websocket" ? client.openSocket({ WebSocket }) : undefined;
  const abort = new AbortController();
  const follow = { signal: abort.signal };
  const reading = consume(
    socket?.follow("main", "pane", follow) ?? client.server("main").pane("pane").follow(follow),
    checker,
  );
  await expect.poll(() => checker.position).toMatch(/:\d+$/);
  await echo.print(line(1));
  await caughtUp(checker, echo.source);
  await first[Symbol.asyncDispose]();
  await fixture.server.close();
  // Nobody listens meanwhile.
  await using second = await startOwnedServer({
    socketPath: fixture.socket.socketPath,
    env: paneEnvironment(process.env),
    clock: systemClock,
  });
  record.begin(second, echo.pane);
  await using api = await nativeFixture(second, {}, first.port);
  await expect.poll(() => checker.gaps.length, { timeout: 10_000, interval: 1 }).toBe(1);
  expect(checker.gaps[0]!.reason).toBe("epoch");
  const source = second.output(echo.pane);
  const from = source.outputSeq;
  await second.input(echo.pane, [{ kind: "text", bytes: line(2) }]);
  await collectUntil(source, from, (all) => all.equals(line(2)));
  await caughtUp(checker, source);
  expect(api.port).toBe(first.port);
  abort.abort(new Error("done"));
  await expect(reading).rejects.toThrow("done");
  socket?.close();
});
