/** How many work at a time, in which order, and what happens to those who leave the queue. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { AttachTurns } from "../../../daemon/server/attachTurns.ts";

/** Lets every promise that can go on do so. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("two at a time, first come first served; one that fails makes room as well", async () => {
  const turns = new AttachTurns(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = [0, 1, 2, 3, 4].map((index) =>
    turns.take(new AbortController().signal, () => {
      begun.push(index);
      return new Promise<number>((resolve, reject) => {
        ends.push(() => (index === 1 ? reject(new Error("no")) : resolve(index)));
      });
    }),
  );
  const outcomes = Promise.allSettled(all);
  expect(begun).toEqual([0, 1]);
  ends[1]!();
  await settled();
  expect(begun).toEqual([0, 1, 2]);
  for (let index = 0; index < 5; index += 1) {
    ends[index]!();
    await settled();
  }
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect((await outcomes).map(({ status }) => status === "fulfilled")).toEqual([true, false, true, true, true]);
});

test("whoever leaves, and whenever: never more than allowed, and all the others have their turn", async () => {
  const step = fc.record({ kind: fc.constantFrom("come", "leave", "end"), at: fc.nat(9) });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 40 }), async (most, steps) => {
      const turns = new AttachTurns(most);
      const ends: (() => void)[] = [];
      const aborts: AbortController[] = [];
      const left = new Set<number>();
      const done: number[] = [];
      let working = 0;
      const come = (): void => {
        const index = aborts.push(new AbortController()) - 1;
        const work = async (): Promise<void> => {
          working += 1;
          expect(working).toBeLessThanOrEqual(most);
          await new Promise<void>((resolve) => ends.push(resolve));
          working -= 1;
          done.push(index);
        };
        turns.take(aborts[index]!.signal, work).catch(() => left.add(index));
      };
      for (const { kind, at } of steps) {
        if (kind === "come") come();
        else if (kind === "leave") aborts[at]?.abort();
        else ends.shift()?.();
        await settled();
      }
      while (ends.length > 0) {
        ends.shift()!();
        await settled();
      }
      expect([...done, ...left].sort((a, b) => a - b)).toEqual(aborts.map((_abort, index) => index));
    }),
    { numRuns: 50 },
  );
});
