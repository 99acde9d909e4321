/** A stream of events from its first frame to its end, over either transport. */
import { EventEmitter } from "node:events";
import { Hono } from "hono";
import { expect, test } from "vitest";
import type { WebSocket } from "ws";
import type { GuardEnv } from "../../../../../adapters/kit/guard/requestGuard.ts";
import {
  eventResponse,
  type EventResponseOptions,
  eventSocket,
} from "../../../../../adapters/kit/streams/eventResponse.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

async function scene(kind: "sse" | "websocket", options: Partial<EventResponseOptions> = {}, destroyed = false) {
  const clock = new FakeClock();
  const seen: string[] = [];
  const open = new Set<() => void>();
  const write = (text: string, ...rest: readonly unknown[]): void => {
    seen.push(text);
    (rest.at(-1) as () => void)();
  };
  const connection = Object.assign(new EventEmitter(), {
    // Of a response.
    writableLength: 0,
    destroyed,
    writeHead: () => undefined,
    flushHeaders: () => undefined,
    write,
    end: () => void seen.push("END"),
    destroy: () => connection.emit("close"),
    // Of a WebSocket.
    readyState: 1,
    OPEN: 1,
    bufferedAmount: 0,
    send: write,
    close: (code: number) => void seen.push(`CLOSE ${code}`),
    terminate: () => undefined,
    ping: () => undefined,
  });
  let out: Parameters<EventResponseOptions["read"]>[0] | undefined;
  const all: EventResponseOptions = {
    clock,
    open,
    first: "first",
    last: (end) => end.write("last"),
    onStalled: () => void seen.push("STALLED"),
    read: (opened) => {
      out = opened;
      return { pump: () => void seen.push("PUMP"), close: () => void seen.push("CLOSED") };
    },
    bufferBytes: 100,
    stallMs: 1_000,
    ...options,
  };
  let session: ReturnType<typeof eventSocket> | undefined;
  if (kind === "websocket") session = eventSocket(connection as unknown as WebSocket, all);
  else {
    const app = new Hono<GuardEnv>();
    app.get("/", (c) => eventResponse(c, all));
    await app.request("/", {}, { outgoing: connection });
  }
  return { clock, seen, open, connection, out: () => out!, session };
}

const ENDS = { sse: "END", websocket: "CLOSE 1001" } as const;

const BOTH = ["sse", "websocket"] as const;

test.each(BOTH)("%s: the first frame, the events, and the last one when the listener ends", async (kind) => {
  const { seen, open, connection, clock } = await scene(kind);
  expect(seen.splice(0)).toEqual(["first", "PUMP"]);
  expect(open.size).toBe(1);
  for (const stop of open) stop();
  expect(seen).toEqual(["last", ENDS[kind], "CLOSED"]);
  connection.emit("close");
  expect([open.size, clock.pendingTimers]).toEqual([0, 0]);
});

test.each(BOTH)("%s: the frames around the events may be missing", async (kind) => {
  const { seen, open } = await scene(kind, { first: undefined, last: undefined });
  for (const stop of open) stop();
  expect(seen).toEqual(["PUMP", ENDS[kind], "CLOSED"]);
});

test.each(BOTH)("%s: a reader that has gone is no longer served", async (kind) => {
  const { seen, open, session, connection, clock } = await scene(kind);
  seen.length = 0;
  connection.emit("close");
  session?.closed();
  expect([seen, open.size, clock.pendingTimers]).toEqual([["CLOSED"], 0, 0]);
});

test("sse: a client that left before its stream began is read nothing for, as nothing would end that", async () => {
  const { seen, open, clock } = await scene("sse", {}, true);
  expect([seen, open.size, clock.pendingTimers]).toEqual([[], 0, 0]);
});

test.each(BOTH)("%s: a slow reader is pumped when there is room, and a stalled one is told of", async (kind) => {
  const { seen, connection, out, clock } = await scene(kind);
  seen.length = 0;
  for (const bytes of [100, 0]) {
    connection.writableLength = connection.bufferedAmount = bytes;
    expect(out().room()).toBe(100 - bytes);
    if (bytes === 0) out().write("event");
  }
  expect(seen.splice(0)).toEqual(["event", "PUMP"]);
  connection.writableLength = connection.bufferedAmount = 100;
  out().room();
  clock.advanceMs(1_000);
  expect(seen[0]).toBe("STALLED");
});

test("websocket: a keep-alive is an event, as often as asked", async () => {
  const { seen, clock } = await scene("websocket", { keepAlive: { frame: "beat", everyMs: 400 } });
  seen.length = 0;
  clock.advanceMs(399);
  expect(seen).toEqual([]);
  clock.advanceMs(401);
  expect(seen).toEqual(["beat", "beat"]);
});

test("websocket: a client that sends something is refused", async () => {
  const { seen, session } = await scene("websocket");
  expect(session?.message("hello")).toBeUndefined();
  expect(seen.at(-1)).toBe("CLOSE 1008");
});

test("a stream without a connection is an error of ours", async () => {
  const app = new Hono<GuardEnv>();
  const errors: unknown[] = [];
  app.onError((error, c) => {
    errors.push(error);
    return c.text("", 500);
  });
  app.get("/", (c) => eventResponse(c, { clock: new FakeClock(), open: new Set(), read: () => ({}) as never }));
  await app.request("/", {}, {});
  expect(errors).toMatchObject([{ code: "INTERNAL_ERROR" }]);
});
