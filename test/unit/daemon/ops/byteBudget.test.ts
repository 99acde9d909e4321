/** Held bytes stay within their bounds: of each, of one that is alone, of all, and what is left for little ones. */
import { expect, test } from "vitest";
import { ByteBudget } from "../../../../daemon/ops/byteBudget.ts";

const LARGE = 20_000;
const budgetOf = () =>
  new ByteBudget({ maxBytes: 10 * LARGE, maxBytesEach: 3 * LARGE, maxBytesAlone: 8 * LARGE, forLittleBytes: LARGE });

test("one of several holds its share at most, and all together what there is", () => {
  const budget = budgetOf();
  expect([budget.hold("a", LARGE), budget.hold("b", 3 * LARGE), budget.hold("b", 1)]).toEqual([true, true, false]);
  expect([budget.hold("c", 3 * LARGE), budget.hold("d", 2 * LARGE), budget.hold("e", LARGE)]).toEqual([
    true,
    true,
    false,
  ]);
  expect(budget.heldBytes).toBe(9 * LARGE);
});

test("little ones get through when large ones have used what they may", () => {
  const budget = budgetOf();
  for (const [holder, bytes] of [
    ["x", 1],
    ["a", 3 * LARGE],
    ["b", 3 * LARGE],
    ["c", 3 * LARGE - 1],
  ] as const) {
    expect([holder, budget.hold(holder, bytes)]).toEqual([holder, true]);
  }
  expect([budget.hold("d", LARGE), budget.hold("d", 16_384), budget.hold("e", 16_384)]).toEqual([false, true, false]);
});

test("one that is alone holds more than its share, piece by piece too, and shares again once it is not", () => {
  const budget = budgetOf();
  expect([budget.hold("a", 5 * LARGE), budget.hold("a", 3 * LARGE), budget.hold("a", 1)]).toEqual([true, true, false]);
  expect(budget.hold("b", 1)).toBe(true);
  budget.release("a", 5 * LARGE);
  expect(budget.hold("a", 1)).toBe(false);
});

test("a release tells those that wait, once, and gives everything back", () => {
  const budget = budgetOf();
  let told = 0;
  budget.onRelease(() => (told += 1));
  budget.onRelease(() => (told += 10))();
  for (let round = 0; round < 2; round += 1) {
    budget.hold("a", LARGE);
    budget.release("a", LARGE);
  }
  expect([told, budget.heldBytes]).toEqual([1, 0]);
});
