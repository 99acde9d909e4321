/** A reader's cursor against a model: whatever the sink's room and the ring do, every byte once or declared missing. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Feeds } from "../../../../daemon/panes/feeds.ts";
import type { OutputSource } from "../../../../daemon/tmux/outputSource.ts";
import type { OutputChunk } from "../../../../daemon/panes/paneFeed.ts";
import { PaneStream } from "../../../../daemon/panes/paneStream.ts";
import type { StreamStart, SubscriptionSink, TypedText } from "../../../../daemon/panes/subscription.ts";
import { StubServer } from "../../../../daemon/servers/stub/stubServer.ts";
import { AppError } from "../../../../protocol/errors.ts";
import type { PaneId } from "../../../../protocol/ids.ts";
import type { ServerEvent, ServerStatus } from "../../../../daemon/tmux/inventory.ts";
import type { Position } from "../../../../protocol/position.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

/** Everything a subscription said, joined without seams. */
class Reader implements SubscriptionSink {
  roomBytes = Number.POSITIVE_INFINITY;
  at: Position | undefined;
  size: { readonly cols: number; readonly rows: number } | undefined;
  readonly chunks: { readonly from: number; readonly bytes: Buffer }[] = [];
  readonly said: string[] = [];
  readonly frames: Uint8Array[] = [];
  encode: ((chunk: OutputChunk) => Uint8Array) | undefined;

  room(): number {
    return this.roomBytes;
  }
  open(position: Position, size?: { readonly cols: number; readonly rows: number }): void {
    this.at = position;
    this.size = size;
    this.said.push("open");
  }
  output(chunk: OutputChunk): void {
    assert.deepEqual({ epoch: chunk.epoch, outputSeq: chunk.from }, this.at);
    this.chunks.push({ from: chunk.from, bytes: Buffer.from(chunk.bytes) });
    if (this.encode !== undefined) this.frames.push(this.encode(chunk));
    this.at = { epoch: chunk.epoch, outputSeq: chunk.to };
    this.roomBytes -= chunk.bytes.length;
  }
  gap({ from, to, reason }: { from: Position; to: Position; reason: string }): void {
    assert.deepEqual(from, this.at);
    this.at = to;
    this.said.push(`gap ${reason}`);
  }
  snapshot({ position }: { position: Position }): void {
    assert.deepEqual(position, this.at);
    this.said.push("snapshot");
  }
  resized(): void {
    this.said.push("resize");
  }
  exited(): void {
    this.said.push("exit");
  }
  closed({ code }: { code: string }): void {
    this.said.push(`closed ${code}`);
  }
}

/** One that wants what is typed, in its order with the output. */
class Typist extends Reader {
  readonly told: string[] = [];
  override output(chunk: OutputChunk): void {
    super.output(chunk);
    this.told.push(`output ${chunk.to}`);
  }
  typed({ bytes, position, missedBytes }: TypedText): void {
    if (missedBytes > 0) this.told.push(`missed ${missedBytes}`);
    this.told.push(`typed ${Buffer.from(bytes).toString()} at ${position.outputSeq}`);
  }
}

async function paneOf(retainBytes: number) {
  const fail = (error: unknown): void => {
    throw error;
  };
  const server = new StubServer({ nowUnixMs: () => 0, onListenerError: fail, retainBytes });
  const session = await server.createSession({ name: "s" });
  const clock = new FakeClock();
  const feeds = new Feeds({ server, clock, onError: fail });
  const pane = session.activePane as PaneId;
  const print = (length: number) => server.input(pane, [{ kind: "text", bytes: new Uint8Array(length).fill(0x61) }]);
  return { server, session, feeds, pane, clock, print, source: server.output(pane) };
}

/** Lets promises that are ready settle. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe("a subscription", () => {
  test("gives every byte once, in order, or declares it missing", async () => {
    const step = fc.oneof(
      fc.record({ print: fc.integer({ min: 1, max: 400 }) }),
      fc.record({ room: fc.integer({ min: 0, max: 600 }) }),
      fc.record({ waitMs: fc.integer({ min: 1, max: 20 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { feeds, pane, print, source, clock } = await paneOf(300);
        const reader = new Reader();
        reader.roomBytes = 100;
        const subscription = feeds.subscribe(pane, { kind: "now" }, () => reader);
        for (const each of steps) {
          if ("print" in each) await print(each.print);
          else if ("room" in each) {
            reader.roomBytes = each.room;
            subscription.pump();
          } else clock.advanceMs(each.waitMs);
          await turn();
        }
        reader.roomBytes = Number.POSITIVE_INFINITY;
        subscription.pump();
        clock.advanceMs(1_000);
        await turn();
        // `Reader` has checked every seam; the last one is the head.
        expect(reader.at?.outputSeq).toBe(source.outputSeq);
        const gaps = reader.said.filter((word) => word.startsWith("gap")).length;
        expect(reader.said.filter((word) => word === "snapshot")).toHaveLength(gaps);
        subscription.close();
      }),
      { numRuns: 150 },
    );
  });

  test("one without room does not hold up another", async () => {
    const { feeds, pane, print } = await paneOf(1_000);
    const [stuck, free] = [new Reader(), new Reader()];
    stuck.roomBytes = 0;
    feeds.subscribe(pane, { kind: "now" }, () => stuck);
    feeds.subscribe(pane, { kind: "now" }, () => free);
    await print(50);
    expect([stuck.chunks.length, free.chunks.length]).toEqual([0, 1]);
  });

  test("one that throws is ended, and the other goes on", async () => {
    const errors: unknown[] = [];
    const { server, pane, clock, print } = await paneOf(1_000);
    const feeds = new Feeds({ server, clock, onError: (error) => errors.push(error) });
    const [bad, good] = [new Reader(), new Reader()];
    bad.output = () => {
      throw new Error("mine");
    };
    feeds.subscribe(pane, { kind: "now" }, () => bad);
    feeds.subscribe(pane, { kind: "now" }, () => good);
    await print(1);
    await print(1);
    expect(bad.said).toEqual(["open", "closed INTERNAL_ERROR"]);
    expect(good.chunks).toHaveLength(2);
    expect(errors).toHaveLength(1);
    const leaving = feeds.subscribe(pane, { kind: "now" }, () => new Reader());
    leaving.close();
    leaving.close();
    // One that throws when its owner has room for more.
    bad.roomBytes = 0;
    const late = feeds.subscribe(pane, { kind: "now" }, () => bad);
    await print(1);
    bad.roomBytes = 1;
    late.pump();
    expect([good.chunks.length, errors.length, bad.said.at(-1)]).toEqual([3, 2, "closed INTERNAL_ERROR"]);
    late.close();
    expect(feeds.subscriberCount).toBe(1);
  });

  test("frames are encoded once for all who read the same bytes", async () => {
    const { feeds, pane, print } = await paneOf(1_000);
    let encoded = 0;
    const encoder = (chunk: OutputChunk): Uint8Array => {
      encoded += 1;
      return Buffer.from(chunk.bytes);
    };
    const readers = Array.from({ length: 5 }, () => new Reader());
    for (const reader of readers) {
      feeds.subscribe(pane, { kind: "now" }, (feed) => {
        reader.encode = (chunk) => feed.frame(encoder, chunk);
        return reader;
      });
    }
    await print(10);
    await print(20);
    expect(encoded).toBe(2);
    expect(new Set(readers.map((reader) => reader.frames[1])).size).toBe(1);
  });

  test("little is handed on at once, a flood in batches", async () => {
    const { feeds, pane, print, clock } = await paneOf(1_000_000);
    const reader = new Reader();
    feeds.subscribe(pane, { kind: "now" }, () => reader);
    await print(5);
    expect(reader.chunks).toHaveLength(1);
    for (let n = 0; n < 50; n += 1) await print(1_000);
    const atOnce = reader.chunks.length;
    expect(atOnce).toBeLessThan(20);
    clock.advanceMs(10);
    expect(reader.chunks).toHaveLength(atOnce + 1);
    expect(reader.at?.outputSeq).toBe(6 + 50 * 1_001);
  });

  test("a flood that goes on is handed on once per window, and what comes after it at once again", async () => {
    const { feeds, pane, print, clock } = await paneOf(1_000_000);
    const reader = new Reader();
    feeds.subscribe(pane, { kind: "now" }, () => reader);
    const flood = async (windows: number): Promise<void> => {
      for (let at = 0; at < windows * 20; at += 1) {
        await print(4_000);
        clock.advanceMs(0.4);
      }
    };
    await flood(3);
    const before = reader.chunks.length;
    await flood(10);
    // 80,000 bytes in each: two chunks of at most 65,536.
    expect(reader.chunks.length - before).toBeLessThanOrEqual(2 * 10 + 2);
    clock.advanceMs(4 * 8);
    const after = reader.chunks.length;
    await print(1);
    expect(reader.chunks).toHaveLength(after + 1);
  });

  test("a pane that ends during a gap has its hole declared all the same", async () => {
    const { server, session, feeds, pane, print, source } = await paneOf(100);
    for (let n = 0; n < 10; n += 1) await print(99);
    const { epoch, outputSeq } = source;
    const reader = new Reader();
    const subscription = feeds.subscribe(pane, { kind: "position", position: { epoch, outputSeq: 3 } }, () => reader);
    await server.killSession(session.id);
    expect(() => feeds.subscribe(pane, { kind: "now" }, () => new Reader())).toThrow(
      expect.objectContaining({ code: "NOT_FOUND" }),
    );
    subscription.pump();
    await turn();
    expect(reader.said).toEqual(["open", "gap evicted", "closed NOT_FOUND"]);
    expect(reader.at).toEqual({ epoch, outputSeq });
  });

  test("what is typed comes where the output had come to, and only for who wants it", async () => {
    const { server, feeds, pane, print } = await paneOf(1_000);
    const reader = new Typist();
    reader.roomBytes = 3;
    const plain = new Reader();
    const subscription = feeds.subscribe(pane, { kind: "now" }, () => reader);
    feeds.subscribe(pane, { kind: "now" }, () => plain);
    await print(4);
    await server.input(pane, [
      { kind: "text", bytes: Buffer.from("ls") },
      { kind: "keys", keys: ["Enter"] },
    ]);
    // The stub prints a line for each input.
    expect(reader.told).toEqual(["typed aaaa at 0", "output 5"]);
    reader.roomBytes = 100;
    subscription.pump();
    expect(reader.told).toEqual(["typed aaaa at 0", "output 5", "typed ls\r at 5", "output 16"]);
    expect(plain.chunks).toHaveLength(2);
  });

  test("before the first screen nothing typed is told; what leaves the ring takes nothing typed with it", async () => {
    const { feeds, pane, print } = await paneOf(100);
    const reader = new Typist();
    const subscription = feeds.subscribe(pane, { kind: "snapshot" }, () => reader);
    await print(1);
    expect(reader.told).toEqual([]);
    subscription.pump();
    await turn();
    reader.roomBytes = 0;
    for (const length of [2, 3, 400, 400]) await print(length);
    reader.roomBytes = 1_000;
    subscription.pump();
    await turn();
    expect(reader.said).toEqual(["open", "snapshot", "gap evicted", "snapshot"]);
    expect(reader.told).toEqual([
      "typed aa at 2",
      "typed aaa at 5",
      `typed ${"a".repeat(400)} at 9`,
      `typed ${"a".repeat(400)} at 410`,
    ]);
  });

  test("a reader that takes nothing is told how much it missed of what was typed", async () => {
    const { server, feeds, pane, print, clock } = await paneOf(100);
    const reader = new Typist();
    const subscription = feeds.subscribe(pane, { kind: "now" }, () => reader);
    reader.roomBytes = 0;
    const large = Buffer.alloc(700_000, "x");
    const type = (bytes: Uint8Array) => server.input(pane, [{ kind: "text", bytes }]);
    for (const bytes of [large, large, Buffer.from("last")]) await type(bytes);
    reader.roomBytes = Number.POSITIVE_INFINITY;
    subscription.pump();
    await turn();
    const typed = reader.told.map((word) => word.replace(/x+/, (run) => `${run.length} x`).replace(/ at .*/, ""));
    expect(typed).toEqual(["typed 700000 x", "missed 700000", "typed last"]);
    await print(1);
    expect(reader.told.at(-1)).toMatch(/^typed a at/);
    // What was told makes room.
    await type(large);
    clock.advanceMs(100);
    await turn();
    expect(reader.told.filter(({ length }) => length > 700_000)).toHaveLength(2);

    reader.roomBytes = 0;
    for (let n = 0; n < 1_030; n += 1) await type(Buffer.from("b"));
    await turn();
    reader.roomBytes = Number.POSITIVE_INFINITY;
    subscription.pump();
    await turn();
    await print(1);
    const [told, missed] = [/^typed b/, /^missed/].map((word) => reader.told.filter((one) => word.test(one)));
    expect([told!.length, missed!.at(-1)]).toEqual([1_024, "missed 6"]);
  });

  test("feeds go with their last subscriber", async () => {
    const { feeds, pane } = await paneOf(100);
    const first = feeds.subscribe(pane, { kind: "now" }, () => new Reader());
    const second = feeds.subscribe(pane, { kind: "now" }, () => new Reader());
    expect([feeds.subscriberCount, first.feed === second.feed]).toEqual([2, true]);
    first.close();
    first.close();
    second.close();
    expect(feeds.subscriberCount).toBe(0);
    expect(feeds.subscribe(pane, { kind: "now" }, () => new Reader()).feed).not.toBe(first.feed);
  });

  test("a source that is lost while its server stays ready is taken up again", async () => {
    const { server, pane, clock, print, source } = await paneOf(1_000);
    let current: OutputSource = source;
    const lost = new PaneStream({ id: pane, epoch: "first", retainBytes: 100, onListenerError: () => undefined });
    // As a guest does it: the next call gives another source, and no event says so.
    server.output = () => current;
    current = lost;
    const feeds = new Feeds({ server, clock, onError: () => undefined });
    const reader = new Reader();
    feeds.subscribe(pane, { kind: "now" }, () => reader);
    lost.take(Buffer.from("last"));
    current = source;
    lost.close(new AppError("CONNECTION_LOST", "the session's connection is gone"));
    expect(reader.said).toEqual(["open"]);
    await print(3);
    clock.advanceMs(300);
    await turn();
    expect(reader.said).toEqual(["open", "gap epoch", "snapshot"]);
    expect(reader.chunks.map((chunk) => chunk.bytes.toString())).toEqual(["last"]);
    expect(reader.at).toEqual({ epoch: source.epoch, outputSeq: 4 });
    await print(1);
    expect(reader.chunks.at(-1)?.bytes.toString()).toBe("a\n");
  });

  test.each<[string, StreamStart, string]>([
    [
      "at a position that is yet to come",
      { kind: "position", position: { epoch: "", outputSeq: 9 } },
      "INVALID_ARGUMENT",
    ],
    ["while tmux is being reconnected", { kind: "now" }, "CONNECTION_LOST"],
  ])("is refused %s, and leaves nothing", async (_what, start, code) => {
    const { server, feeds, pane, source } = await paneOf(100);
    const status = server.status();
    if (start.kind === "now") server.status = () => ({ ...status, state: "connecting" });
    const from = start.kind === "position" ? { ...start, position: { ...start.position, epoch: source.epoch } } : start;
    expect(() => feeds.subscribe(pane, from, () => new Reader())).toThrow(expect.objectContaining({ code }));
    expect(feeds.subscriberCount).toBe(0);
  });

  test("is told a resize, or what asks for a redraw, with the screen and at its place in the output", async () => {
    const { server, feeds, pane, print } = await paneOf(1_000);
    const reader = new Reader();
    const subscription = feeds.subscribe(pane, { kind: "now" }, () => reader);
    await server.resize(pane, 100, 30);
    reader.roomBytes = 0;
    await print(3);
    await turn();
    expect(reader.said).toEqual(["open"]);
    reader.roomBytes = 100;
    subscription.pump();
    await turn();
    expect([reader.said, reader.chunks.length]).toEqual([["open", "resize", "snapshot"], 1]);
    subscription.redraw();
    await turn();
    expect(reader.said.slice(3)).toEqual(["resize", "snapshot"]);
    const other = await server.createSession({ name: "other" });
    await server.resize(other.activePane as PaneId, 90, 20);
    await turn();
    expect(reader.said).toHaveLength(5);
  });

  test.each<[string, number, readonly string[]]>([
    ["with what is missing", 3, ["open", "gap evicted", "closed CANCELLED"]],
    ["with what it had room for", 990, ["open", "closed CANCELLED"]],
  ])("that is finished ends %s, and once", async (_what, outputSeq, said) => {
    const { feeds, pane, print, source } = await paneOf(100);
    for (let n = 0; n < 10; n += 1) await print(99);
    const reader = new Reader();
    const position = { epoch: source.epoch, outputSeq };
    const subscription = feeds.subscribe(pane, { kind: "position", position }, () => reader);
    subscription.finish(new AppError("CANCELLED", "enough"));
    subscription.finish(new AppError("CANCELLED", "enough"));
    subscription.pump();
    expect([reader.said, feeds.subscriberCount]).toEqual([said, 0]);
  });

  test("asks for its screen again: after a while when it failed, at once when it is of another epoch or too old", async () => {
    const { server, feeds, pane, clock, print, source } = await paneOf(1_000);
    await print(4);
    const good = await server.snapshot(pane);
    let asked = 0;
    const old = { ...good, position: { ...good.position, outputSeq: 0 } };
    const foreign = { ...good, position: { epoch: "other", outputSeq: 5 } };
    server.snapshot = async () => {
      asked += 1;
      if (asked === 1) throw new AppError("TMUX_COMMAND_FAILED", "not now");
      return asked === 2 ? foreign : asked === 3 ? old : good;
    };
    const reader = new Reader();
    feeds.subscribe(pane, { kind: "position", position: { epoch: source.epoch, outputSeq: 5 } }, () => reader).redraw();
    await turn();
    clock.advanceMs(249);
    await turn();
    expect(asked).toBe(1);
    clock.advanceMs(1);
    await turn();
    expect([asked, reader.said]).toEqual([4, ["open", "resize", "snapshot"]]);
  });

  test("shares a screen that is under way, and ends when there is none", async () => {
    const { server, feeds, pane } = await paneOf(1_000);
    const snapshot = server.snapshot.bind(server);
    let asked = 0;
    server.snapshot = (id) => {
      asked += 1;
      return snapshot(id);
    };
    const readers = [new Reader(), new Reader()];
    for (const reader of readers) feeds.subscribe(pane, { kind: "snapshot" }, () => reader).pump();
    await turn();
    expect([asked, readers.map(({ said }) => said)]).toEqual([
      1,
      [
        ["open", "snapshot"],
        ["open", "snapshot"],
      ],
    ]);
    server.snapshot = () => Promise.reject(new AppError("NOT_FOUND", "gone"));
    const late = new Reader();
    feeds.subscribe(pane, { kind: "snapshot" }, () => late).pump();
    await turn();
    expect(late.said).toEqual(["closed NOT_FOUND"]);
  });

  test("is told an exit once, again when the next program ends, and that the server closes", async () => {
    const { server, feeds, pane, print, source, clock } = await paneOf(100_000);
    const stream = source as PaneStream;
    const reader = new Reader();
    const subscription = feeds.subscribe(pane, { kind: "now" }, () => reader);
    // Also in a flood, of which the rest waits.
    for (let n = 0; n < 40; n += 1) await print(1_000);
    stream.declareExit({ exitCode: 0 });
    expect(reader.said).toEqual(["open", "exit"]);
    subscription.pump();
    expect(reader.said).toEqual(["open", "exit"]);
    clock.advanceMs(100);
    stream.declareAlive();
    await print(1);
    stream.declareExit({ exitCode: 1 });
    await server.close();
    expect(reader.said).toEqual(["open", "exit", "exit", "closed SHUTTING_DOWN"]);
  });

  test.each<[string, AppError, readonly string[]]>([
    ["is gone by then ends it", new AppError("NOT_FOUND", "gone"), ["open", "closed NOT_FOUND"]],
    [
      "has no connection yet is tried again",
      new AppError("CONNECTION_LOST", "not yet"),
      ["open", "gap epoch", "snapshot"],
    ],
  ])("a pane that %s, after its connection was lost", async (_what, refusal, said) => {
    const { server, pane, clock, source } = await paneOf(1_000);
    const lost = new PaneStream({ id: pane, epoch: "first", retainBytes: 100, onListenerError: () => undefined });
    const answers: (OutputSource | AppError)[] = [lost, refusal];
    server.output = () => {
      const answer = answers.shift() ?? source;
      if (answer instanceof AppError) throw answer;
      return answer;
    };
    const feeds = new Feeds({ server, clock, onError: () => undefined });
    const reader = new Reader();
    feeds.subscribe(pane, { kind: "now" }, () => reader);
    lost.close(new AppError("CONNECTION_LOST", "lost"));
    for (let n = 0; n < 2; n += 1) {
      expect(reader.said).toEqual(["open"]);
      clock.advanceMs(250);
      await turn();
      if (said.length === 2) break;
    }
    expect(reader.said).toEqual(said);
  });

  test("begins at the last lines, and knows the size of the screen", async () => {
    const { server, feeds, pane, print } = await paneOf(1_000);
    await print(3);
    await print(4);
    const reader = new Reader();
    feeds.subscribe(pane, { kind: "tail", lines: 1 }, () => reader).pump();
    const { cols, rows } = server.findPane(pane)!;
    expect([reader.chunks[0]?.from, reader.size]).toEqual([4, { cols, rows }]);
    server.findPane = () => undefined;
    const unknown = new Reader();
    feeds.subscribe(pane, { kind: "now" }, () => unknown);
    expect(unknown.size).toEqual({ cols: 0, rows: 0 });
  });

  test.each<[string, string, readonly string[]]>([
    ["of another epoch", "other", ["open", "gap epoch", "snapshot"]],
    ["of this one", "", ["open"]],
  ])("from a position %s is told what is missing", async (_what, epoch, said) => {
    const { feeds, pane, print, source } = await paneOf(1_000);
    await print(3);
    const reader = new Reader();
    const position = { epoch: epoch === "" ? source.epoch : epoch, outputSeq: 2 };
    feeds.subscribe(pane, { kind: "position", position }, () => reader).pump();
    await turn();
    expect(reader.said).toEqual(said);
  });

  test("is told at once what tmux has dropped, and an end that tmux knows of", async () => {
    const { server, feeds, pane, source } = await paneOf(1_000);
    const reader = new Reader();
    const subscription = feeds.subscribe(pane, { kind: "now" }, () => reader);
    (source as PaneStream).declareHole("paused");
    await turn();
    expect(reader.said).toEqual(["open", "gap paused", "snapshot"]);
    const info = server.findPane(pane)!;
    server.findPane = () => ({ ...info, exit: { exitCode: 3 } });
    subscription.pump();
    expect(reader.said.at(-1)).toBe("exit");
  });

  test("gets so many pieces at once, and the rest of the moment as one", async () => {
    const { feeds, pane, print, clock } = await paneOf(1_000_000);
    const reader = new Reader();
    feeds.subscribe(pane, { kind: "now" }, () => reader);
    for (let n = 0; n < 150; n += 1) await print(1);
    expect(reader.chunks).toHaveLength(96);
    clock.advanceMs(7);
    expect(reader.chunks).toHaveLength(96);
    clock.advanceMs(1);
    expect(reader.chunks).toHaveLength(97);
    await print(1);
    expect(reader.chunks).toHaveLength(98);
  });

  test("that asks for more while it is written to gets each byte once; one that throws as it ends is ended once", async () => {
    const { server, clock, feeds, pane, print } = await paneOf(200_000);
    const reader = new Reader();
    const output = reader.output.bind(reader);
    reader.output = (chunk) => {
      subscription.pump();
      output(chunk);
    };
    const subscription = feeds.subscribe(pane, { kind: "now" }, () => reader);
    await print(3);
    expect(reader.chunks).toHaveLength(1);

    const own = new Feeds({ server, clock, onError: () => undefined });
    const bad = new Reader();
    bad.roomBytes = 0;
    bad.output = () => {
      throw new Error("mine");
    };
    const ending = own.subscribe(pane, { kind: "tail", lines: 1 }, () => bad);
    bad.roomBytes = 10;
    ending.finish(new AppError("CANCELLED", "enough"));
    expect(bad.said).toEqual(["open", "closed INTERNAL_ERROR"]);
  });

  describe("while its connection is lost", () => {
    async function lostOf() {
      const made = await paneOf(1_000);
      const { server, pane, clock, source } = made;
      const lost = new PaneStream({ id: pane, epoch: "first", retainBytes: 100, onListenerError: () => undefined });
      const world = { state: "ready" as ServerStatus["state"], outputs: 0, snapshots: 0, isFollowed: true };
      let listener: (event: ServerEvent) => void = () => undefined;
      const [status, snapshot] = [server.status(), server.snapshot.bind(server)];
      server.status = () => ({ ...status, state: world.state });
      server.output = () => ((world.outputs += 1) === 1 ? lost : source);
      server.snapshot = (id) => {
        world.snapshots += 1;
        return snapshot(id);
      };
      server.subscribe = (heard) => {
        listener = heard;
        return () => (world.isFollowed = false);
      };
      const feeds = new Feeds({ server, clock, onError: () => undefined });
      const reader = new Typist();
      const subscription = feeds.subscribe(pane, { kind: "now" }, () => reader);
      return { ...made, feeds, lost, world, emit: (event: ServerEvent) => listener(event), reader, subscription };
    }
    const gone = new AppError("CONNECTION_LOST", "gone");

    test("it asks for nothing, and goes on with the next one, once", async () => {
      const { lost, world, emit, reader, clock, feeds, pane } = await lostOf();
      world.state = "connecting";
      lost.close(gone);
      const second = new Reader();
      feeds.subscribe(pane, { kind: "snapshot" }, () => second).pump();
      clock.advanceMs(1_000);
      await turn();
      expect([world.outputs, world.snapshots, reader.said]).toEqual([1, 0, ["open"]]);
      emit({ kind: "state", state: "connecting" });
      expect(world.outputs).toBe(1);
      world.state = "ready";
      emit({ kind: "state", state: "ready" });
      emit({ kind: "state", state: "ready" });
      await turn();
      expect([world.outputs, reader.said]).toEqual([2, ["open", "gap epoch", "snapshot"]]);
      clock.advanceMs(1_000);
      await turn();
      expect([world.outputs, second.said]).toEqual([2, ["open", "snapshot"]]);
    });

    test.each<[string, ServerEvent | undefined, string]>([
      ["the server is closed", { kind: "state", state: "closed" }, "closed SHUTTING_DOWN"],
      ["the pane is closed", { kind: "pane-closed", pane: "%0" as PaneId }, "closed NOT_FOUND"],
      ["the server was closed before", undefined, "closed CONNECTION_LOST"],
    ])("it ends when %s", async (_what, event, said) => {
      const { lost, world, emit, reader, pane, clock } = await lostOf();
      if (event === undefined) world.state = "closed";
      lost.close(gone);
      emit({ kind: "pane-closed", pane: "%77" as PaneId });
      if (event !== undefined) {
        expect(reader.said).toEqual(["open"]);
        emit(event.kind === "pane-closed" ? { ...event, pane } : event);
      }
      expect(reader.said).toEqual(["open", said]);
      emit({ kind: "state", state: "closed" });
      clock.advanceMs(1_000);
      expect([reader.said, world.outputs]).toEqual([["open", said], 1]);
    });

    test("what was typed is told where it belongs: before the gap, after it, or at once when its place has gone", async () => {
      const { lost, world, emit, reader, subscription, source } = await lostOf();
      const typed = (stream: PaneStream, word: string): void =>
        stream.declareTyped([{ kind: "text", bytes: Buffer.from(word) }]);
      reader.roomBytes = 0;
      lost.take(Buffer.from("12"));
      lost.announce();
      typed(lost, "old");
      lost.close(gone);
      emit({ kind: "state", state: "ready" });
      typed(source as PaneStream, "new");
      reader.roomBytes = Number.POSITIVE_INFINITY;
      subscription.pump();
      await turn();
      expect(reader.told).toEqual(["output 2", "typed old at 2", "typed new at 0"]);
      expect([reader.said, world.outputs]).toEqual([["open", "gap epoch", "snapshot"], 2]);
    });

    test("and in a flood, a subscriber that leaves leaves no timer and no listener", async () => {
      const { lost, world, subscription, clock } = await lostOf();
      for (let n = 0; n < 200; n += 1) {
        lost.take(Buffer.from("x"));
        lost.announce();
      }
      expect(clock.pendingTimers).toBe(1);
      subscription.close();
      expect([clock.pendingTimers, world.isFollowed]).toEqual([0, false]);
      const again = await lostOf();
      again.lost.close(gone);
      expect(again.clock.pendingTimers).toBe(1);
      again.subscription.close();
      expect(again.clock.pendingTimers).toBe(0);
    });
  });
});
