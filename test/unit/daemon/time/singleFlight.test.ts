import { expect, test } from "vitest";
import { SingleFlight } from "../../../../daemon/time/singleFlight.ts";

/** Questions that a test answers. */
function questions(onError?: (error: unknown) => void) {
  const open: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  let asked = 0;
  const once = new SingleFlight(() => {
    asked += 1;
    return new Promise<void>((resolve, reject) => open.push({ resolve, reject }));
  }, onError);
  return { once, open, asked: () => asked };
}
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("asks at once, and once more however often there was reason meanwhile", async () => {
  const { once, open, asked } = questions();
  const order: string[] = [];
  void once.now().then(() => order.push("first"));
  expect(asked()).toBe(1);
  for (let count = 0; count < 100; count += 1) {
    once.soon();
    void once.now().then(() => order.push("second"));
  }
  expect(asked()).toBe(1);
  open[0]?.resolve();
  await settled();
  expect([asked(), order]).toEqual([2, ["first"]]);
  open[1]?.resolve();
  await settled();
  expect([asked(), new Set(order)]).toEqual([2, new Set(["first", "second"])]);
  once.soon();
  expect(asked()).toBe(3);
});

test("a failure is told once, and what was asked for meanwhile is asked", async () => {
  const errors: unknown[] = [];
  const { once, open, asked } = questions((error) => errors.push(error));
  once.soon();
  once.soon();
  once.soon();
  open[0]?.reject("one");
  await settled();
  expect([asked(), errors]).toEqual([2, ["one"]]);
  open[1]?.reject("two");
  await settled();
  expect([asked(), errors]).toEqual([2, ["one", "two"]]);
  const thrower = new SingleFlight(() => {
    throw new Error("at once");
  });
  await expect(thrower.now()).rejects.toThrow("at once");
});
