/** Who is told of an event, in which order, and what an error in one of them does to the others. */
import { expect, test } from "vitest";
import { Listeners } from "../../../../daemon/servers/listeners.ts";

const unexpected = (error: unknown): void => expect.unreachable(String(error));

test("an error of one listener is reported, and the others are told in the order in which they came", () => {
  const seen: unknown[] = [];
  const listeners = new Listeners<string>((error) => seen.push(error));
  const error = new Error("mine");
  listeners.subscribe((event) => seen.push(`first ${event}`));
  listeners.subscribe(() => {
    throw error;
  });
  listeners.subscribe((event) => seen.push(`last ${event}`));
  listeners.emit("x");
  expect(seen).toEqual(["first x", error, "last x"]);
});

test("an event is for those who listen when it is emitted", () => {
  const seen: string[] = [];
  const listeners = new Listeners<string>(unexpected);
  const leave = listeners.subscribe((event) => {
    seen.push(`first ${event}`);
    leave();
    listeners.subscribe((later) => seen.push(`new ${later}`));
    leaveToo();
  });
  const leaveToo = listeners.subscribe((event) => seen.push(`second ${event}`));
  for (const event of ["a", "b"]) listeners.emit(event);
  expect([seen, listeners.count]).toEqual([["first a", "second a", "new b"], 1]);
});

test("what listens twice is told twice, and stops once for each time", () => {
  let told = 0;
  const listeners = new Listeners<string>(unexpected);
  const listener = (): void => void (told += 1);
  const [stop] = [listeners.subscribe(listener), listeners.subscribe(listener)];
  const toldNow = (): number => {
    told = 0;
    listeners.emit("x");
    return told;
  };
  expect(toldNow()).toBe(2);
  stop();
  stop();
  expect([toldNow(), listeners.count]).toEqual([1, 1]);
});

test("all can be dropped at once", () => {
  const listeners = new Listeners<string>(unexpected);
  const stop = listeners.subscribe(() => expect.unreachable());
  listeners.clear();
  listeners.emit("x");
  stop();
  expect(listeners.count).toBe(0);
});
