/** Which connections of a listener are closed when there are too many, and which that say nothing. */
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, test } from "vitest";
import { Connections, markKnown } from "../../../../../adapters/kit/peers/connections.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

const OTHER = (process.getuid?.() ?? 0) + 1_000;

function scene(crowded = 4) {
  const clock = new FakeClock();
  const uids = new Map<Socket, number>();
  const asked: Socket[] = [];
  const connections = new Connections({
    clock,
    crowded,
    uidOf: (socket) => {
      asked.push(socket);
      return Promise.resolve(uids.get(socket));
    },
  });
  const gone: string[] = [];
  const make = (name: string, bytesRead = 0, other: Partial<Socket> = {}): Socket => {
    const socket = Object.assign(new EventEmitter(), {
      bytesRead,
      remoteAddress: "::1",
      localAddress: "::1",
      remotePort: name.codePointAt(0)! + name.length,
      ...other,
      destroy: () => {
        gone.push(name);
        socket.emit("close");
      },
    }) as unknown as Socket;
    return socket;
  };
  const add = (name: string, bytesRead = 0, uid?: number, afterMs = 100): Socket => {
    const socket = make(name, bytesRead);
    if (uid !== undefined) uids.set(socket, uid);
    connections.add(socket);
    clock.advanceMs(afterMs);
    return socket;
  };
  return { clock, connections, gone, make, add, asked };
}

const turns = async (count = 8): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

test("too many: silent ones go first, the oldest of them first, and no more than need be", async () => {
  const { gone, add } = scene();
  add("spoken", 1);
  for (const name of ["a", "b", "c"]) add(name);
  await turns();
  expect(gone).toEqual([]);
  add("d");
  add("e");
  await turns();
  expect(gone).toEqual(["a", "b"]);
});

test("those that are accepted while a trim is due are considered the next time, at once", async () => {
  const { gone, add } = scene(2);
  add("first", 1);
  add("second", 1);
  for (const name of ["x", "y", "z"]) add(name);
  await turns();
  expect(gone).toEqual(["first", "second", "x"]);
});

test.each([
  [9, "spoken"],
  [10, "young"],
])("a silent one that is %i ms old: %s goes", async (ageMs, expected) => {
  const { gone, add } = scene(2);
  add("spoken", 1);
  add("young", 0, undefined, ageMs);
  add("fresh", 0, undefined, 0);
  await turns();
  expect(gone).toEqual([expected]);
});

test("who is of another user is known late, and counts then", async () => {
  const { gone, add } = scene(100);
  for (let count = 0; count < 51; count += 1) add(`other ${count}`, 1, OTHER);
  await turns();
  expect(gone).toHaveLength(51 - 32);
});

test("one that has spoken counts as half a second younger, so a silent one that is younger still outlives it", async () => {
  const { clock, gone, add } = scene(2);
  add("spoken", 1);
  clock.advanceMs(300);
  add("silent");
  clock.advanceMs(200);
  add("later");
  await turns();
  expect(gone).toEqual(["silent"]);
  clock.advanceMs(600);
  add("last");
  await turns();
  expect(gone).toEqual(["silent", "spoken"]);
});

test("a known one is never closed to make room, one of another user before ours, and 32 of a user are enough", async () => {
  const { gone, add, asked } = scene(40);
  const known = add("known");
  markKnown(known);
  add("ours", 1);
  for (let count = 0; count < 33; count += 1) add(`other ${count}`, 1, OTHER);
  add("second", 1, OTHER + 1);
  await turns();
  expect(gone).toEqual(["other 0"]);
  expect(asked).toHaveLength(35);
  // Each is looked up once.
  for (let count = 0; count < 6; count += 1) add(`new ${count}`, 1);
  await turns();
  expect([gone, asked.length]).toEqual([["other 0", "other 1"], 41]);
});

test("a connection that is put back is counted once, one that has gone no longer", async () => {
  const { connections, gone, add } = scene(2);
  const first = add("first");
  markKnown(first);
  for (let time = 0; time < 5; time += 1) connections.add(first);
  add("second");
  await turns();
  add("extra");
  await turns();
  expect(gone).toEqual(["second"]);
  first.emit("close");
  add("third");
  await turns();
  expect(gone).toEqual(["second"]);
});

test("who says nothing for two seconds is closed, who has spoken or is known is not", async () => {
  const { clock, gone, add } = scene();
  add("silent");
  add("spoken", 1);
  const known = add("known");
  markKnown(known);
  markKnown(undefined);
  clock.advanceMs(700);
  const later = add("later");
  clock.advanceMs(899);
  await turns();
  expect(gone).toEqual([]);
  clock.advanceMs(1);
  await turns();
  expect(gone).toEqual(["silent"]);
  later.emit("close");
  add("second");
  clock.advanceMs(1_900);
  await turns();
  expect(gone).toEqual(["silent", "second"]);
  clock.advanceMs(60_000);
  await turns();
  expect([gone.length, clock.pendingTimers]).toEqual([2, 0]);
});

test("the timer goes with the last silent connection", () => {
  const { clock, add } = scene();
  const [first, second] = [add("first"), add("second")];
  first.emit("close");
  expect(clock.pendingTimers).toBe(1);
  second.emit("close");
  expect(clock.pendingTimers).toBe(0);
});

test("requests on TLS name another socket of the same connection", async () => {
  const { connections, gone, make, add } = scene(2);
  add("a");
  add("b");
  // As of `a`: the same ends. Those of another connection are not.
  for (const other of [{}, { remoteAddress: "::2" }, { localAddress: "::2" }]) {
    const tls = make("remoteAddress" in other || "localAddress" in other ? "b" : "a", 1, other);
    connections.secured(tls);
    markKnown(tls);
  }
  add("c");
  await turns();
  expect(gone).toEqual(["b"]);
});

test("all go when the listener ends", () => {
  const { connections, gone, add } = scene();
  markKnown(add("known"));
  add("new");
  connections.destroyAll();
  expect(gone).toEqual(["known", "new"]);
});
