/** How often a text is read for the literals that are wanted, what is kept for them, and who gets what. */
import { expect, test, vi } from "vitest";
import { LiteralSet, type LiteralWatcher } from "../../../../../daemon/waits/text/literalSet.ts";
import { PlainText } from "../../../../../daemon/waits/text/plainText.ts";
import { heldBy } from "../../../../support/daemon/heapBytes.ts";

const nobody: LiteralWatcher = { literalFound: () => undefined };

/** What the automaton holds of each literal: its end. */
const key = (number: number): string => String(number).padStart(8, "0");

class Bench {
  readonly set = new LiteralSet();
  readonly #text = new PlainText(0);
  readonly #views = vi.spyOn(this.#text, "view");

  /** Wants literals that differ in their ends. */
  watch(from: number, to: number): void {
    for (let number = from; number < to; number += 1) this.set.watch(Buffer.from(`literal ${key(number)}`), nobody);
  }

  unwatch(from: number, to: number): void {
    for (let number = from; number < to; number += 1) this.set.unwatch(Buffer.from(`literal ${key(number)}`), nobody);
  }

  /** Prints; returns how many pieces of text were read for it. */
  print(words: string | Uint8Array): number {
    const from = this.#text.head;
    this.#text.append(Buffer.from(words), from, () => this.#text.head - 64);
    this.#views.mockClear();
    this.set.scan(this.#text, from, this.#text.head);
    return this.#views.mock.calls.length;
  }
}

/** An automaton begins with the end of what came before: one piece more. */
const BUILT = 2;

test("a few literals are searched one by one, more in one pass", () => {
  const bench = new Bench();
  bench.watch(0, 8);
  expect([bench.print("x"), bench.print("x")]).toEqual([8, 8]);
  bench.watch(8, 9);
  expect([bench.print("x"), bench.print("x")]).toEqual([BUILT, 1]);
});

test("literals that join are searched one by one while they are at most an eighth of the others", () => {
  const bench = new Bench();
  bench.watch(0, 80);
  expect(bench.print("x")).toBe(BUILT);
  bench.watch(80, 90);
  expect([bench.print("x"), bench.print("x")]).toEqual([11, 11]);
  bench.watch(90, 91);
  expect([bench.print("x"), bench.print("x")]).toEqual([BUILT, 1]);
});

test("more than a few that join are searched in one pass after 262,144 bytes in which none did", () => {
  const bench = new Bench();
  const half = Buffer.alloc(131_072, "x");
  bench.watch(0, 80);
  bench.print("x");
  bench.watch(80, 88);
  expect([bench.print(half), bench.print(half), bench.print("x")]).toEqual([9, 9, 9]);
  bench.watch(88, 89);
  expect([bench.print(half), bench.print(half.subarray(1))]).toEqual([10, 10]);
  expect([bench.print("x"), bench.print("x")]).toEqual([BUILT, 1]);
});

test.each([
  ["searched one by one", 8, 7, 1],
  ["in an automaton", 9, 1, 1],
])("literals %s cost nothing once nobody wants them", (_how, count, leaving, then) => {
  const bench = new Bench();
  bench.watch(0, count);
  bench.print("x");
  bench.unwatch(0, leaving);
  expect(bench.print("x")).toBe(then);
  bench.unwatch(leaving, count);
  expect(bench.print("x")).toBe(0);
  bench.watch(0, 1);
  expect(bench.print("x")).toBe(1);
});

test.each([
  ["64 of its literals, and more than are left,", 70, 64],
  ["half of its literals", 200, 100],
])("an automaton is built anew once more than %s are not wanted", (_what, count, dead) => {
  const bench = new Bench();
  bench.watch(0, count);
  bench.print("x");
  bench.unwatch(0, dead);
  // The end of one that is not wanted costs a look at the rest of it.
  const end = `,${key(0)}`;
  expect([bench.print(end), bench.print(end)]).toEqual([2, 2]);
  bench.unwatch(dead, dead + 1);
  expect([bench.print(end), bench.print(end)]).toEqual([BUILT, 1]);
});

test("literals that come and go before anything is printed leave nothing behind", () => {
  const bench = new Bench();
  bench.watch(0, 100);
  bench.unwatch(0, 100);
  bench.watch(100, 101);
  expect([bench.set.size, bench.print("x")]).toEqual([1, 1]);
});

test("equal literals are searched once, and found for all who have not left", () => {
  const bench = new Bench();
  const found: string[] = [];
  const watcher = (name: string): LiteralWatcher => ({
    literalFound: (from, to) => found.push(`${name} ${from}-${to}`),
  });
  const [one, other, leaving] = [watcher("one"), watcher("other"), watcher("leaving")];
  for (const each of [one, leaving, other]) bench.set.watch(Buffer.from("DONE"), each);
  for (const each of [leaving, leaving, nobody]) bench.set.unwatch(Buffer.from("DONE"), each);
  expect([bench.set.size, bench.print("DONE")]).toEqual([1, 1]);
  expect(found).toEqual(["one 0-4", "other 0-4"]);
});

test("a literal is found once where the text begins with it, although a longer one ends alike", () => {
  const bench = new Bench();
  const found: string[] = [];
  bench.watch(0, 8);
  for (const words of ["begin 12345678", "a begin 12345678"])
    bench.set.watch(Buffer.from(words), { literalFound: (from, to) => found.push(`${words} ${from}-${to}`) });
  bench.print("begin 12345678");
  expect(found).toEqual(["begin 12345678 0-14"]);
});

test("an automaton holds little of long literals", () => {
  const bench = new Bench();
  const literals = Array.from({ length: 20 }, (_unused, number) => Buffer.from(key(number).padStart(4_096, "long ")));
  for (const bytes of literals) bench.set.watch(bytes, nobody);
  expect(heldBy(() => bench.print("x"))).toBeLessThan(200_000);
});
