/** Writing to a terminal that takes only so much. */
import { expect, test } from "vitest";
import { PtyWriter } from "../../../../../daemon/host/clients/ptyTransport.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

function writer(): { readonly clock: FakeClock; readonly pty: PtyWriter; readonly taken: () => string; room: number } {
  const clock = new FakeClock();
  let taken = "";
  const all = {
    clock,
    room: Number.POSITIVE_INFINITY,
    taken: () => taken,
    pty: new PtyWriter({
      clock,
      write: (bytes) => {
        const fits = Math.min(bytes.length, all.room);
        all.room -= fits;
        taken += Buffer.from(bytes.subarray(0, fits)).toString();
        return fits;
      },
    }),
  };
  return all;
}

test("what fits is written at once", () => {
  const { pty, taken, clock } = writer();
  pty.push(Buffer.from("one "));
  pty.push(Buffer.from("two"));
  expect(taken()).toBe("one two");
  expect(clock.pendingTimers).toBe(0);
});

test("what does not fit follows in order, when tmux speaks or a little later", () => {
  const all = writer();
  all.room = 3;
  all.pty.push(Buffer.from("abcdef"));
  all.pty.push(Buffer.from("ghi"));
  expect(all.taken()).toBe("abc");
  all.room = 2;
  all.pty.drain();
  expect(all.taken()).toBe("abcde");
  all.room = 100;
  all.clock.advanceMs(20);
  expect(all.taken()).toBe("abcdefghi");
});

test("a terminal that takes nothing is tried every 20 ms, with one timer", () => {
  const all = writer();
  all.room = 0;
  all.pty.push(Buffer.from("x"));
  for (let again = 0; again < 50; again += 1) all.pty.drain();
  expect(all.clock.pendingTimers).toBe(1);
  all.clock.advanceMs(10_000);
  expect(all.clock.pendingTimers).toBe(1);
  all.room = 1;
  all.clock.advanceMs(20);
  expect(all.taken()).toBe("x");
});

test("closing drops what waits", () => {
  const all = writer();
  all.room = 0;
  all.pty.push(Buffer.from("x"));
  all.pty.close();
  all.pty.push(Buffer.from("y"));
  all.room = 100;
  all.clock.advanceMs(1_000);
  expect(all.taken()).toBe("");
  expect(all.clock.pendingTimers).toBe(0);
});
