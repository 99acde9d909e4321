/** What a writer of server-sent events buffers for a slow reader, when it says that there is room, and when it gives up. */
import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { sseEvent, type SseOptions, SseWriter } from "../../../../../adapters/kit/streams/sseWriter.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

function scene(options: Partial<SseOptions> = {}) {
  const clock = new FakeClock();
  const events: string[] = [];
  const written: string[] = [];
  const taken: (() => void)[] = [];
  const heads: Readonly<Record<string, string>>[] = [];
  const outgoing = Object.assign(new EventEmitter(), {
    writableLength: 0,
    destroyed: false,
    useChunkedEncodingByDefault: true,
    shouldKeepAlive: true,
    socket: { setNoDelay: (on: boolean) => void events.push(`no delay: ${on}`) },
    writeHead: (_status: number, headers: Record<string, string>) => void heads.push(headers),
    flushHeaders: () => void events.push("headers"),
    write: (text: string, callback: () => void) => {
      written.push(text);
      taken.push(callback);
    },
    end: () => void events.push("end"),
    destroy: () => {
      outgoing.destroyed = true;
      events.push(`destroyed at ${clock.nowMs()}`);
      outgoing.emit("close");
    },
  });
  const writer = new SseWriter({
    outgoing: outgoing as unknown as ServerResponse,
    headers: { "x-own": "1" },
    clock,
    bufferBytes: 100,
    onDrain: () => void events.push("drain"),
    onClose: (reason) => void events.push(`closed: ${reason}`),
    ...options,
  });
  writer.begin();
  const begun = events.splice(0);
  /** The reader has taken what was written, down to this many bytes. */
  const leave = (bytes: number): void => {
    outgoing.writableLength = bytes;
    taken.shift()?.();
  };
  return { clock, outgoing, writer, written, events, begun, heads, leave };
}

test("the response is not cached, chunked or kept alive, and each event leaves at once", () => {
  const { outgoing, heads, begun } = scene();
  expect(begun).toEqual(["headers", "no delay: true"]);
  expect([outgoing.useChunkedEncodingByDefault, outgoing.shouldKeepAlive]).toEqual([false, false]);
  const own = { "x-own": "1", "content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no" };
  expect(heads).toEqual([{ ...own, "cache-control": "no-store" }]);
  expect(scene({ cacheControl: "no-cache" }).heads).toMatchObject([{ "cache-control": "no-cache" }]);
});

test("there is room up to the bound; then the reader is told, once, when some has been taken", () => {
  const { outgoing, writer, events, leave } = scene();
  outgoing.writableLength = 99;
  writer.write("a");
  expect(writer.room()).toBe(1);
  leave(50);
  // It was never full.
  expect(events).toEqual([]);
  for (const bytes of [100, 120]) {
    outgoing.writableLength = bytes;
    expect(writer.room()).toBe(100 - bytes);
    for (let write = 0; write < 3; write += 1) writer.write("b");
    leave(100);
    expect(events).toEqual([]);
    leave(99);
    leave(0);
    expect(events.splice(0)).toEqual(["drain"]);
  }
});

test("a reader that takes nothing for the whole time is disconnected, one that takes a little is not", () => {
  const { clock, outgoing, writer, events } = scene({ stallMs: 1_000 });
  outgoing.writableLength = 120;
  writer.room();
  clock.advanceMs(500);
  // Asking again does not begin the time again.
  writer.room();
  outgoing.writableLength = 119;
  clock.advanceMs(500);
  expect(events).toEqual([]);
  clock.advanceMs(999);
  expect(events).toEqual([]);
  clock.advanceMs(1);
  expect(events).toEqual(["destroyed at 2000", "closed: stalled"]);
  expect(clock.pendingTimers).toBe(0);
});

test("the time is half a minute by default", () => {
  const { clock, outgoing, writer, events } = scene();
  outgoing.writableLength = 100;
  writer.room();
  clock.advanceMs(29_999);
  expect(events).toEqual([]);
  clock.advanceMs(1);
  expect(events).toEqual(["destroyed at 30000", "closed: stalled"]);
});

test.each([
  ["a reader that leaves", (at: ReturnType<typeof scene>) => at.outgoing.emit("close"), ["closed: gone"]],
  [
    "a writer that ends, and whose reader takes the rest",
    ({ writer, outgoing, leave }: ReturnType<typeof scene>) => {
      writer.write("last");
      outgoing.writableLength = 120;
      writer.end();
      leave(0);
      outgoing.emit("close");
      writer.end();
    },
    ["end", "closed: ended"],
  ],
  [
    "a writer that ends, and whose reader takes nothing",
    ({ writer, clock }: ReturnType<typeof scene>) => {
      writer.end();
      clock.advanceMs(30_000);
    },
    ["end", "destroyed at 30000", "closed: ended"],
  ],
  ["an error of the connection", (at: ReturnType<typeof scene>) => at.outgoing.emit("error", new Error("reset")), []],
])("%s", (_what, act, expected) => {
  const at = scene();
  act(at);
  expect(at.events).toEqual(expected);
  if (expected.length > 0) expect(at.clock.pendingTimers).toBe(0);
});

test.each([
  ["an empty comment every 15 s", {}, 15_000, ":\n\n"],
  ["what it is asked to send", { keepAlive: { frame: "event: beat\n\n", everyMs: 400 } }, 400, "event: beat\n\n"],
])("meanwhile it sends %s, unless something is on its way", (_what, options, everyMs, frame) => {
  const { clock, outgoing, writer, written } = scene(options);
  clock.advanceMs(everyMs - 1);
  expect(written).toEqual([]);
  clock.advanceMs(1);
  clock.advanceMs(everyMs);
  expect(written.splice(0)).toEqual([frame, frame]);
  outgoing.writableLength = 1;
  clock.advanceMs(everyMs);
  expect(written).toEqual([]);
  outgoing.writableLength = 0;
  outgoing.destroyed = true;
  clock.advanceMs(everyMs);
  writer.write("nobody reads it");
  expect(written).toEqual([]);
});

test("an event, with an id where there is one", () => {
  expect(sseEvent("a", "{}")).toBe("event: a\ndata: {}\n\n");
  expect(sseEvent("a", "{}", "e:1")).toBe("id: e:1\nevent: a\ndata: {}\n\n");
});
