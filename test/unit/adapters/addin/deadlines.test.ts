import { describe, expect, test } from "vitest";
import { FIRST_OUTPUT_MS, firstOutput, withDeadline } from "../../../../adapters/addin/actions.ts";
import { PaneStream } from "../../../../daemon/panes/paneStream.ts";
import { sleep } from "../../../../daemon/time/within.ts";
import { AppError } from "../../../../protocol/errors.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
const running = (): AbortSignal => new AbortController().signal;

/** Whether a promise has settled by the end of this turn. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol("pending");
  return (await Promise.race([promise.catch(() => undefined), Promise.resolve().then(() => pending)])) !== pending;
}

describe("withDeadline", () => {
  test("expires with the contract's words, and tells the operation", async () => {
    const clock = new FakeClock();
    let inner: AbortSignal | undefined;
    const result = withDeadline(clock, 10_000, new AbortController(), (signal) => {
      inner = signal;
      return never();
    });
    clock.advanceMs(10_000);
    await expect(result).rejects.toMatchObject({
      code: "COMMAND_TIMEOUT",
      message: "tmux command timed out after 10000ms.",
    });
    expect(inner?.aborted).toBe(true);
  });

  test("ends when the client goes away, and tells the operation", async () => {
    const clock = new FakeClock();
    const client = new AbortController();
    let inner: AbortSignal | undefined;
    const result = withDeadline(clock, 10, client, (signal) => {
      inner = signal;
      return never();
    });
    client.abort(new AppError("CANCELLED", "gone"));
    await expect(result).rejects.toMatchObject({ code: "CANCELLED" });
    expect([inner?.aborted, clock.pendingTimers]).toEqual([true, 0]);
  });

  test("does not start for a client that has gone", async () => {
    let started = false;
    const gone = new AbortController();
    gone.abort(new AppError("CANCELLED", "gone"));
    const result = withDeadline(new FakeClock(), 10, gone, async () => {
      started = true;
    });
    await expect(result).rejects.toMatchObject({ code: "CANCELLED" });
    expect(started).toBe(false);
  });
});

describe("sleep", () => {
  test("ends when the client goes away, leaving no timer", async () => {
    const clock = new FakeClock();
    const client = new AbortController();
    const paused = sleep(clock, 100, client.signal);
    client.abort(new AppError("CANCELLED", "gone"));
    await expect(paused).rejects.toMatchObject({ code: "CANCELLED" });
    expect(clock.pendingTimers).toBe(0);
  });
});

describe("firstOutput", () => {
  const stream = (): PaneStream =>
    new PaneStream({
      id: "%1",
      epoch: "e",
      retainBytes: 1_024,
      onListenerError: (error) => {
        throw error;
      },
    });
  const bytes = new TextEncoder().encode("x");

  test("is there already", async () => {
    const source = stream();
    source.take(bytes);
    source.announce();
    const clock = new FakeClock();
    await firstOutput(clock, source, 0, running());
    expect(clock.pendingTimers).toBe(0);
  });

  const events: [string, (source: PaneStream) => void][] = [
    [
      "output",
      (source) => {
        source.take(bytes);
        source.announce();
      },
    ],
    ["a gap", (source) => source.declareHole("paused")],
    ["the program's end", (source) => source.declareExit({ exitCode: 0 })],
    ["the pane's end", (source) => source.close(new AppError("NOT_FOUND", "gone"))],
  ];
  test.each(events)("%s ends it, leaving no timer", async (_name, happen) => {
    const source = stream();
    const clock = new FakeClock();
    const waiting = firstOutput(clock, source, 0, running());
    expect(await settled(waiting)).toBe(false);
    happen(source);
    await waiting;
    expect(clock.pendingTimers).toBe(0);
  });

  test("a silent pane is waited for no longer than the bound", async () => {
    const clock = new FakeClock();
    const waiting = firstOutput(clock, stream(), 0, running());
    clock.advanceMs(FIRST_OUTPUT_MS);
    await expect(waiting).resolves.toBeUndefined();
  });
});
