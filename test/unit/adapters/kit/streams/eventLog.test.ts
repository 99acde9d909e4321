/** The event log keeps what its bounds allow, and a reader is told what it has missed. */
import { expect, test } from "vitest";
import { EventLog } from "../../../../../adapters/kit/streams/eventLog.ts";

const logOf = (bounds: { maxEvents?: number; maxSize?: number } = {}) => {
  const errors: unknown[] = [];
  const log = new EventLog<string>({
    lastId: 10,
    maxEvents: 100,
    maxSize: 100,
    onError: (error) => errors.push(error),
    ...bounds,
  });
  const open = (after: number | undefined, room: () => number = () => 1) => {
    const seen: unknown[] = [];
    const reader = log.read(after, {
      room,
      event: (event, id) => seen.push([id, event]),
      missed: (at, lastMissed) => {
        seen.push({ at, lastMissed });
        return lastMissed;
      },
    });
    return { seen, reader };
  };
  return { log, open, errors };
};

test("the oldest events go when there are too many", () => {
  const { log, open } = logOf({ maxEvents: 2 });
  for (const event of ["a", "b", "c"]) log.add(event, 1);
  const { seen, reader } = open(10);
  reader.pump();
  expect(seen).toEqual([{ at: 10, lastMissed: 11 }, [12, "b"], [13, "c"]]);
  expect([10, 11, 13, 14].map((id) => log.goesOnAfter(id))).toEqual([false, true, true, false]);
});

test("the oldest events go when they are too large together, and the newest stays whatever its size", () => {
  const { log, open } = logOf({ maxSize: 10 });
  log.add("a", 6);
  log.add("b", 4);
  expect(log.goesOnAfter(10)).toBe(true);
  log.add("c", 1);
  const first = open(10);
  first.reader.pump();
  expect(first.seen).toEqual([{ at: 10, lastMissed: 11 }, [12, "b"], [13, "c"]]);
  log.add("large", 1_000);
  const second = open(13);
  second.reader.pump();
  expect(second.seen).toEqual([[14, "large"]]);
  log.add("d", 1);
  expect([log.goesOnAfter(13), log.goesOnAfter(14)]).toEqual([false, true]);
});

test("a reader without room keeps its place", () => {
  let room = 0;
  const { log, open } = logOf();
  const { seen, reader } = open(10, () => room--);
  log.add("a", 1);
  log.add("b", 1);
  log.pump();
  expect(seen).toEqual([]);
  room = 1;
  reader.pump();
  expect(seen).toEqual([[11, "a"]]);
  room = 5;
  reader.pump();
  expect(seen).toEqual([
    [11, "a"],
    [12, "b"],
  ]);
});

test("an unknown place and none are told, and a closed reader gets nothing", () => {
  const { log, open } = logOf();
  log.add("a", 1);
  const [unknown, none, closed] = [open(99), open(undefined), open(10)];
  closed.reader.close();
  log.pump();
  closed.reader.pump();
  expect(unknown.seen).toEqual([{ at: 99, lastMissed: 10 }, [11, "a"]]);
  expect(none.seen).toEqual([{ at: undefined, lastMissed: 10 }, [11, "a"]]);
  expect([closed.seen, log.readerCount]).toEqual([[], 2]);
});

test("a reader that throws is dropped, and others are served", () => {
  const { log, open, errors } = logOf();
  open(10, () => {
    throw new Error("no room is known");
  });
  const { seen } = open(10);
  log.add("a", 1);
  log.pump();
  expect([seen, errors.length, log.readerCount]).toEqual([[[11, "a"]], 1, 1]);
});
