/** Whether the peer of a WebSocket is there: one that says something is not asked, one that returns no ping is given up. */
import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import type { WebSocket } from "ws";
import { SocketWriter } from "../../../../../adapters/kit/streams/websocket.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

function scene() {
  const clock = new FakeClock();
  const asked: number[] = [];
  const events: string[] = [];
  const socket = Object.assign(new EventEmitter(), {
    readyState: 1,
    OPEN: 1,
    bufferedAmount: 0,
    ping: () => void asked.push(clock.nowMs()),
    terminate: () => void events.push(`terminated at ${clock.nowMs()}`),
  });
  const writer = new SocketWriter({
    socket: socket as unknown as WebSocket,
    clock,
    onDrain: () => undefined,
    onStall: () => void events.push("stalled"),
  });
  return { clock, socket, writer, asked, events };
}

test("a peer that is heard of is not asked whether it is there", () => {
  const { clock, writer, asked, events } = scene();
  for (let at = 0; at < 60; at += 1) {
    writer.received();
    clock.advanceMs(5_000);
  }
  expect([asked, events]).toEqual([[], []]);
});

test("one that was heard of and is silent now is asked, and given up when it returns no ping", () => {
  const { clock, writer, asked, events } = scene();
  writer.received();
  clock.advanceMs(30_000);
  expect(asked).toEqual([30_000]);
  clock.advanceMs(29_999);
  expect(events).toEqual([]);
  clock.advanceMs(15_001);
  expect(events).toEqual(["stalled", "terminated at 60000"]);
  expect(asked).toEqual([30_000]);
});

test("one that is silent and returns pings is kept", () => {
  const { clock, socket, asked, events } = scene();
  for (let at = 0; at < 8; at += 1) {
    clock.advanceMs(15_000);
    socket.emit("pong");
  }
  expect([asked.length, events]).toEqual([8, []]);
});
