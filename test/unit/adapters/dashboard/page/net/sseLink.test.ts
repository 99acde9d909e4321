/** The page's event streams: what they are said to be, and how they come back. */
import { describe, expect, test } from "vitest";
import { Refused } from "../../../../../../adapters/pages/askServer.ts";
import type { LinkState } from "../../../../../../adapters/dashboard/page/model/pageState.ts";
import { LINK_SILENCE_MS, SseLink } from "../../../../../../adapters/dashboard/page/net/sseLink.ts";
import type { SseEvent } from "../../../../../../protocol/text/sse.ts";
import { FakeClock } from "../../../../../support/clock/fakeClock.ts";

/** A server whose connections a test opens, feeds and cuts. */
class Line {
  readonly clock = new FakeClock();
  /** The clock stands still meanwhile. */
  sleptMs = 0;
  readonly states: LinkState[] = [];
  readonly events: SseEvent[] = [];
  readonly askedFrom: (string | undefined)[] = [];
  refusal: Refused | undefined;
  link: SseLink | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  start(): SseLink {
    this.link = new SseLink({
      clock: this.clock,
      nowUnixMs: () => this.clock.nowMs() + this.sleptMs,
      random: () => 1,
      onState: (state) => this.states.push(state),
      onEvent: (event) => void this.events.push(event),
      open: async (lastEventId, signal) => {
        this.askedFrom.push(lastEventId);
        if (this.refusal !== undefined) throw this.refusal;
        const body = new ReadableStream<Uint8Array>({
          start: (controller) => {
            this.#controller = controller;
            signal.addEventListener("abort", () => this.cut());
          },
        });
        return new Response(body);
      },
    });
    return this.link;
  }

  send(text: string): void {
    this.#controller?.enqueue(new TextEncoder().encode(text));
  }

  cut(): void {
    try {
      this.#controller?.error(new TypeError("network error"));
    } catch {
      // It was already cut.
    }
  }

  get last(): LinkState | undefined {
    return this.states.at(-1);
  }
}

/** Everything that is already resolved has run. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe("a link", () => {
  test("comes back after a loss, from the last event", async () => {
    const line = new Line();
    line.start();
    await settled();
    expect(line.last).toEqual({ kind: "live" });
    line.send("id: 5\nevent: a\ndata: 1\n\n");
    await settled();
    line.cut();
    await settled();
    expect(line.last).toMatchObject({ kind: "lost", retryAtMs: 500, message: "the connection broke" });
    line.clock.advanceMs(499);
    await settled();
    expect(line.askedFrom).toEqual([undefined]);
    line.clock.advanceMs(1);
    await settled();
    expect(line.askedFrom).toEqual([undefined, "5"]);
    expect(line.last).toEqual({ kind: "live" });
    expect(line.events).toEqual([{ event: "a", data: "1", id: "5" }]);
  });

  test("waits longer after each failure, up to a bound, and starts over after a good connection", async () => {
    const line = new Line();
    line.refusal = new Refused("starting", 503, "unavailable");
    line.start();
    const pauses: number[] = [];
    for (let count = 0; count < 7; count++) {
      // oxlint-disable-next-line no-await-in-loop -- one try after another
      await settled();
      const { last } = line;
      if (last?.kind !== "lost") throw new Error("it should be lost");
      pauses.push(last.retryAtMs - line.clock.nowMs());
      if (count === 6) line.refusal = undefined;
      line.clock.advanceMs(last.retryAtMs - line.clock.nowMs());
    }
    expect(pauses).toEqual([500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
    await settled();
    line.clock.advanceMs(5_000);
    line.cut();
    await settled();
    expect(line.last).toMatchObject({ kind: "lost", retryAtMs: line.clock.nowMs() + 500 });
  });

  test("waits as long as the server asks", async () => {
    const line = new Line();
    line.refusal = new Refused("full", 503, "unavailable", { retryAfterMs: 9_000 });
    line.start();
    await settled();
    expect(line.last).toMatchObject({ kind: "lost", retryAtMs: 9_000, message: "full" });
  });

  test("does not try again what would be refused again", async () => {
    const line = new Line();
    line.refusal = new Refused("this daemon wants a token", 401, "unauthorized");
    line.start();
    await settled();
    expect(line.last).toEqual({ kind: "refused", status: 401, message: "this daemon wants a token" });
    expect(line.clock.pendingTimers).toBe(0);
  });

  test("takes a long silence for a loss; a heartbeat is no silence", async () => {
    const line = new Line();
    line.start();
    await settled();
    line.clock.advanceMs(LINK_SILENCE_MS - 1);
    line.send(": heartbeat\n\n");
    await settled();
    line.clock.advanceMs(LINK_SILENCE_MS - 1);
    await settled();
    expect(line.last).toEqual({ kind: "live" });
    line.clock.advanceMs(1);
    await settled();
    expect(line.last).toMatchObject({ kind: "lost", message: "the daemon sent nothing for a while" });
  });

  test("of a machine that has slept is found dead as it wakes, not only after a silence of its own", async () => {
    const line = new Line();
    const link = line.start();
    await settled();
    line.clock.advanceMs(1_000);
    line.send(": heartbeat\n\n");
    await settled();
    line.sleptMs += LINK_SILENCE_MS - 1;
    link.woke();
    await settled();
    expect(line.last).toEqual({ kind: "live" });
    line.sleptMs += 1;
    link.woke();
    await settled();
    expect(line.last).toMatchObject({ kind: "lost", message: "the daemon sent nothing for a while" });
    line.clock.advanceMs(1_000);
    await settled();
    link.woke();
    await settled();
    expect(line.last).toEqual({ kind: "live" });
  });

  test("is tried at once when asked, and never after it was closed", async () => {
    const line = new Line();
    const link = line.start();
    await settled();
    line.cut();
    await settled();
    link.retryNow();
    await settled();
    expect(line.last).toEqual({ kind: "live" });
    link.close();
    link.close();
    await settled();
    line.clock.advanceMs(1_000_000);
    await settled();
    expect(line.last).toEqual({ kind: "closed" });
    expect(line.askedFrom).toHaveLength(2);
    expect(line.clock.pendingTimers).toBe(0);
  });
});
