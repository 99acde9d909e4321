/** The supervisor's states over a fake transport and a clock moved by hand. */
import { expect, test } from "vitest";
import { notResponding } from "../../../../daemon/connection/connectionErrors.ts";
import { ControlConnection } from "../../../../daemon/connection/controlConnection.ts";
import { Supervisor } from "../../../../daemon/connection/supervisor.ts";
import { AppError } from "../../../../protocol/errors.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";
import { FakeTransport, turn } from "../../../support/tmux/fakeTransport.ts";

interface Bench {
  readonly clock: FakeClock;
  readonly supervisor: Supervisor;
  readonly states: string[];
  readonly events: string[];
  readonly details: object[];
  readonly transports: FakeTransport[];
  readonly last: () => FakeTransport;
  beats: number;
  /** What is awaited before the next connections are opened. */
  opening: Promise<void> | undefined;
  /** What `prepare` does with the next connections. */
  prepare: (connection: ControlConnection) => Promise<void>;
  onState: (state: string) => void;
}

function bench(isServerIdle = (): boolean => false, heartbeatMs?: number): Bench {
  const clock = new FakeClock();
  const transports: FakeTransport[] = [];
  const states: string[] = [];
  const events: string[] = [];
  const details: object[] = [];
  const open = (): ControlConnection => {
    const transport = new FakeTransport();
    transports.push(transport);
    const connection: ControlConnection = new ControlConnection({
      open: transport.open,
      spawn: { tmux: "tmux", args: [], env: {}, cwd: "/" },
      onOutput: () => undefined,
      onNotification: () => undefined,
      onChunkEnd: () => supervisor.received(),
      onClosed: (error) => supervisor.lost(connection, error),
    });
    transport.attach();
    return connection;
  };
  const all: Bench = {
    clock,
    states,
    events,
    details,
    transports,
    last: () => transports.at(-1)!,
    beats: 0,
    opening: undefined,
    prepare: () => Promise.resolve(),
    onState: () => undefined,
    supervisor: new Supervisor({
      clock,
      open: () => all.opening?.then(open) ?? open(),
      prepare: (connection) => all.prepare(connection),
      onState: (state) => {
        states.push(state);
        all.onState(state);
      },
      onEvent: (event, fields) => {
        events.push(event);
        details.push(fields);
      },
      isServerIdle,
      heartbeatMs,
      onBeat: () => (all.beats += 1),
      checkup: () => ({ command: "how are you", fault: (answer) => (answer.length > 6 ? "moved" : undefined) }),
    }),
  };
  const { supervisor } = all;
  return all;
}

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );

test("while tmux replies, a heartbeat every five seconds keeps the state", async () => {
  const { clock, supervisor, last, states, events } = bench();
  await supervisor.start();
  for (let beat = 1; beat <= 4; beat += 1) {
    clock.advanceMs(4_999);
    await turn();
    expect(last().lines).toHaveLength(beat - 1);
    clock.advanceMs(1);
    await turn();
    expect(last().lines).toHaveLength(beat);
    last().reply("beat\n");
  }
  expect(states).toEqual(["ready"]);
  expect(events).toEqual([]);
});

test("between heartbeats nothing is asked, and a beat is told while the last query has its reply", async () => {
  const all = bench();
  const { clock, supervisor, last } = all;
  await supervisor.start();
  const said: (readonly [queries: number, beats: number])[] = [];
  for (let second = 1; second <= 20; second += 1) {
    clock.advanceMs(1_000);
    last().push("%output %1 x\n");
    await turn();
    if (second === 11) last().reply("well\n");
    if (second % 5 === 0) said.push([last().lines.length, all.beats]);
  }
  expect(said).toEqual([
    [1, 1],
    [1, 1],
    [2, 2],
    [2, 2],
  ]);
});

test("silence: late after 6 s, degraded after 12 s, callers told, ready at the first word", async () => {
  const { clock, supervisor, last, states, events } = bench();
  await supervisor.start();
  const pending = failure(supervisor.connection().command("x"));
  clock.advanceMs(5_999);
  expect(events).toEqual([]);
  clock.advanceMs(1);
  expect(events).toEqual(["heartbeat.late"]);
  clock.advanceMs(5_999);
  expect(supervisor.state).toBe("ready");
  clock.advanceMs(1);
  expect(supervisor.state).toBe("degraded");
  const { code, message } = notResponding();
  expect(await pending).toMatchObject({ code, message });
  expect(() => supervisor.connection()).toThrow(message);
  last().reply("late\n");
  last().reply("well\n");
  expect(supervisor.state).toBe("ready");
  // The late reply had its slot: the next command gets its own.
  const next = supervisor.connection().command("y");
  await turn();
  last().reply("mine\n");
  expect(Buffer.from((await next).body).toString()).toBe("mine\n");
  expect(states).toEqual(["ready", "degraded", "ready"]);
});

test("while tmux is silent nothing more is asked of it, and nobody is told twice", async () => {
  const { clock, supervisor, last, states, events, details } = bench();
  await supervisor.start();
  clock.advanceMs(60_000);
  supervisor.doubt();
  await supervisor.check();
  await turn();
  expect([last().lines, states, events, details]).toEqual([
    ["how are you"],
    ["ready", "degraded"],
    ["heartbeat.late"],
    [{ silentMs: 6_000 }],
  ]);
  supervisor.close();
});

/** What has arrived is read between the timers that are due and this. */
const loopTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test("a server that is idle twice and owes a reply has forgotten the client", async () => {
  const { clock, supervisor, last, events } = bench(() => true);
  await supervisor.start();
  const pending = failure(supervisor.connection().command("x"));
  clock.advanceMs(6_000);
  await loopTurn();
  expect(last().closed).toBe(false);
  clock.advanceMs(250);
  await loopTurn();
  expect(last().closed).toBe(true);
  expect(events).toEqual(["heartbeat.late", "connection.lost"]);
  expect(await pending).toMatchObject({ code: "CONNECTION_LOST" });
  clock.advanceMs(0);
  await turn();
  expect(supervisor.state).toBe("ready");
});

test("a server that is idle and owes nothing, or is at work, is not given up", async () => {
  let isIdle = true;
  const { clock, supervisor, last } = bench(() => isIdle, 60_000);
  await supervisor.start();
  const looks = async (): Promise<boolean> => {
    for (const ms of [6_000, 250, 250]) {
      clock.advanceMs(ms);
      await loopTurn();
    }
    return last().closed;
  };
  expect(await looks()).toBe(false);
  isIdle = false;
  supervisor.connection().send("x", "ours", () => undefined);
  expect(await looks()).toBe(false);
  supervisor.close();
});

test("a server that was heard before it was looked at is looked at twice once it is silent again", async () => {
  const { clock, supervisor, last } = bench(() => true);
  await supervisor.start();
  supervisor.connection().send("x", "ours", () => undefined);
  clock.advanceMs(6_000);
  last().push("%output %1 x\n");
  await loopTurn();
  clock.advanceMs(6_000);
  await loopTurn();
  expect(last().closed).toBe(false);
  clock.advanceMs(249);
  await loopTurn();
  expect(last().closed).toBe(false);
  clock.advanceMs(1);
  await loopTurn();
  expect(last().closed).toBe(true);
});

test("a server whose reply this process was too busy to read has forgotten nothing", async () => {
  const { clock, supervisor, last, events } = bench(() => true);
  await supervisor.start();
  const pending = supervisor.connection().command("x");
  // Timers are due again and again before anything is read.
  clock.advanceMs(6_000);
  clock.advanceMs(250);
  clock.advanceMs(250);
  last().reply("well\n");
  await loopTurn();
  expect(Buffer.from((await pending).body).toString()).toBe("well\n");
  expect(last().closed).toBe(false);
  expect(events).toEqual(["heartbeat.late"]);
});

test("a process that slept does not blame tmux", async () => {
  const { clock, supervisor, states } = bench();
  await supervisor.start();
  // All timers of a sleep are due at once, when it is over.
  const due = clock.nowMs.bind(clock);
  clock.nowMs = () => due() + 60_000;
  clock.advanceMs(5_000);
  expect(states).toEqual(["ready"]);
});

test.each([
  ["less than 5 s late excuses nothing", 4_999, ["heartbeat.late"]],
  ["5 s late is that of a process that slept", 5_000, []],
])("a timer that is %s", async (_what, lateMs, expected) => {
  const { clock, supervisor, events } = bench();
  await supervisor.start();
  const due = clock.nowMs.bind(clock);
  clock.nowMs = () => due() + lateMs;
  clock.advanceMs(5_000);
  expect(events).toEqual(expected);
});

test("a process that slept, and read what had come before its timers ran, notices the next silence", async () => {
  const { clock, supervisor, last, states } = bench();
  await supervisor.start();
  const due = clock.nowMs.bind(clock);
  clock.nowMs = () => due() + 60_000;
  last().push("%output %1 x\n");
  clock.advanceMs(5_000);
  clock.nowMs = due;
  clock.advanceMs(60_000);
  expect(states).toEqual(["ready"]);
  clock.advanceMs(12_000);
  expect(states).toEqual(["ready", "degraded"]);
});

test("a lost connection is made anew at once, then after longer and longer waits", async () => {
  const all = bench();
  const { clock, supervisor, last, states, transports } = all;
  await supervisor.start();
  all.prepare = () => Promise.reject(new AppError("CONNECTION_LOST", "not yet"));
  last().drop();
  expect(supervisor.state).toBe("connecting");
  const triesAfterMs: number[] = [];
  for (let ms = 0; ms <= 3_200; ms += 10) {
    const before = transports.length;
    clock.advanceMs(ms === 0 ? 0 : 10);
    await turn();
    if (transports.length > before) triesAfterMs.push(ms);
  }
  expect(triesAfterMs).toEqual([0, 50, 150, 350, 750, 1_550, 3_150]);
  all.prepare = () => Promise.resolve();
  clock.advanceMs(5_000);
  await turn();
  expect(states).toEqual(["ready", "connecting", "ready"]);
  supervisor.close();
});

test("a start that meets silence fails, closing a start ends it", async () => {
  const silent = bench();
  silent.prepare = async (connection) => void (await connection.command("who are you"));
  const start = silent.supervisor.start();
  await turn();
  silent.clock.advanceMs(12_000);
  await expect(start).rejects.toMatchObject({ code: "TMUX_UNAVAILABLE" });
  expect(silent.last().closed).toBe(true);

  const closed = bench();
  closed.prepare = silent.prepare;
  const second = closed.supervisor.start();
  await turn();
  closed.supervisor.close();
  await expect(second).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  expect(closed.last().closed).toBe(true);
  expect(closed.states).toEqual(["closed"]);
});

test("a start goes on while tmux says something, however long its connection took to open", async () => {
  const all = bench();
  const { clock, supervisor, last } = all;
  all.prepare = async (connection) => void (await connection.command("who are you"));
  all.opening = new Promise((resolve) => void clock.callAt(20_000, resolve));
  let ended: unknown;
  const start = failure(supervisor.start()).then((error) => (ended = error));
  clock.advanceMs(20_000);
  await turn();
  clock.advanceMs(11_000);
  last().push("%output %1 x\n");
  clock.advanceMs(11_999);
  await turn();
  expect(ended).toBeUndefined();
  clock.advanceMs(1);
  await start;
  expect([ended, last().closed]).toMatchObject([{ code: "TMUX_UNAVAILABLE" }, true]);
});

test("what is closed while its connection is opened does not prepare it", async () => {
  const all = bench();
  all.prepare = () => expect.unreachable();
  all.opening = Promise.resolve();
  const start = failure(all.supervisor.start());
  all.supervisor.close();
  expect(await start).toMatchObject({ code: "SHUTTING_DOWN" });
  expect([all.last().closed, all.states, all.clock.pendingTimers]).toEqual([true, ["closed"], 0]);
});

test.each<[string, (all: Bench) => void, object]>([
  ["closed", ({ supervisor }) => supervisor.close(), { code: "SHUTTING_DOWN" }],
  [
    "lost",
    ({ last }) => last().drop(),
    {
      code: "TMUX_UNAVAILABLE",
      message: "tmux could not be started: the connection to tmux was lost while starting",
    },
  ],
])("a first connection that is %s while it is prepared is not used, whoever noticed", async (_what, end, expected) => {
  const all = bench();
  all.prepare = async () => end(all);
  const error = await failure(all.supervisor.start());
  expect(error).toMatchObject(expected);
  expect([all.last().closed, all.states, all.clock.pendingTimers]).toEqual([true, ["closed"], 0]);
});

test("what is closed while it connects again tries no more, and nobody is told", async () => {
  const all = bench();
  const { clock, supervisor, last, events, transports } = all;
  await supervisor.start();
  all.prepare = async (connection) => void (await connection.command("who are you"));
  last().drop();
  clock.advanceMs(0);
  await turn();
  supervisor.close();
  await turn();
  expect([events, transports.length, clock.pendingTimers]).toEqual([["connection.lost"], 2, 0]);
});

test.each([
  ["ready", 1],
  ["degraded", 1],
  ["connecting", 1],
])("who is told of %s may close it", async (closing, connections) => {
  const all = bench();
  const { clock, supervisor, last, transports } = all;
  all.onState = (state) => {
    if (state === closing) supervisor.close();
  };
  await supervisor.start();
  clock.advanceMs(12_000);
  if (!last().closed) last().drop();
  clock.advanceMs(0);
  await turn();
  expect([all.states.slice(-2), transports.length, clock.pendingTimers]).toEqual([[closing, "closed"], connections, 0]);
});

test("what is closed between two attempts makes no other, although its server appears", async () => {
  const { clock, supervisor, last, transports } = bench();
  await supervisor.start();
  last().drop();
  supervisor.close();
  supervisor.retryNow();
  clock.advanceMs(60_000);
  await turn();
  expect(transports).toHaveLength(1);
});

test.each([
  ["tmux's reason", ({ last }: Bench) => last().push("%exit server exited\n"), "server exited"],
  ["the error's code", ({ last }: Bench) => last().reply(), "PROTOCOL_ERROR"],
])("a loss is told with %s", async (_what, lose, reason) => {
  const all = bench();
  await all.supervisor.start();
  lose(all);
  expect([all.events, all.details]).toEqual([["connection.lost"], [{ reason }]]);
  expect(() => all.supervisor.connection()).toThrow(expect.objectContaining({ code: "CONNECTION_LOST" }));
  all.supervisor.close();
});

test("closing is final and settles what waits", async () => {
  const { clock, supervisor, last, states, transports } = bench();
  await supervisor.start();
  const pending = failure(supervisor.connection().command("x"));
  supervisor.close();
  supervisor.close();
  expect(await pending).toMatchObject({ code: "SHUTTING_DOWN" });
  expect(last().closed).toBe(true);
  clock.advanceMs(60_000);
  await turn();
  expect(transports).toHaveLength(1);
  expect(states).toEqual(["ready", "closed"]);
});

test("a client that is not as it was made is left, also while tmux speaks, and the next one is taken", async () => {
  const { clock, supervisor, last, states, transports } = bench();
  await supervisor.start();
  for (let second = 0; second < 5; second += 1) {
    clock.advanceMs(1_000);
    last().push("%output %1 x\n");
  }
  await turn();
  expect(last().lines).toEqual(["how are you"]);
  last().reply("elsewhere\n");
  expect(transports[0]?.closed).toBe(true);
  clock.advanceMs(0);
  await turn();
  expect(states).toEqual(["ready", "connecting", "ready"]);
  expect(transports).toHaveLength(2);
});

test("a client that takes no commands any more is left", async () => {
  const { clock, supervisor, last, states } = bench();
  await supervisor.start();
  clock.advanceMs(5_000);
  await turn();
  last().reply("client is read-only\n", false);
  clock.advanceMs(0);
  await turn();
  expect(states).toEqual(["ready", "connecting", "ready"]);
});

test("tmux that speaks and sends no reply for 12 s is left, one that replies slowly is not", async () => {
  const slow = bench();
  await slow.supervisor.start();
  const stuck = bench();
  await stuck.supervisor.start();
  const ignore = (): void => undefined;
  for (let second = 0; second < 20; second += 1) {
    slow.supervisor.connection().send("x", "ours", ignore);
    for (const { clock, last } of [slow, stuck]) {
      clock.advanceMs(1_000);
      last().push("%output %1 x\n");
      await turn();
    }
    if (second % 5 === 0) slow.last().reply("x\n");
  }
  expect(slow.states).toEqual(["ready"]);
  expect(stuck.states.slice(0, 2)).toEqual(["ready", "connecting"]);
  expect(stuck.transports.map(({ closed }) => closed)).toEqual([true, false]);
});

test("a connection that is lost five times within 5 s of being ready is made anew more and more slowly", async () => {
  const { clock, supervisor, last, transports } = bench();
  await supervisor.start();
  /** Loses the connection; returns how long nothing is tried. */
  const lose = async (afterMs: number): Promise<number> => {
    clock.advanceMs(afterMs);
    last().push("%output %1 x\n");
    last().drop();
    const before = transports.length;
    for (let ms = 0; ; ms += 10) {
      clock.advanceMs(ms === 0 ? 0 : 10);
      await turn();
      if (transports.length > before) return ms;
    }
  };
  const waitsMs: number[] = [];
  for (let loss = 1; loss <= 8; loss += 1) waitsMs.push(await lose(4_999));
  expect(waitsMs).toEqual([0, 0, 0, 0, 0, 100, 200, 400]);
  expect([await lose(5_000), await lose(0)]).toEqual([0, 0]);
  supervisor.close();
});

test("a connection that is taken again and again is made anew more and more slowly", async () => {
  const { clock, supervisor, last, transports } = bench();
  await supervisor.start();
  const until = async (ms: number): Promise<number> => {
    for (let at = 0; at < ms; at += 10) {
      clock.advanceMs(10);
      await turn();
      if (supervisor.state === "ready") last().drop();
    }
    return transports.length;
  };
  last().drop();
  const first = await until(1_000);
  expect(first).toBeLessThan(15);
  expect((await until(1_000)) - first).toBeLessThanOrEqual(1);
});

test.each<[string, AppError, object]>([
  [
    "a reason",
    new AppError("CONNECTION_LOST", "lost", { details: { reason: "no room" } }),
    { code: "TMUX_UNAVAILABLE", message: "tmux could not be started: no room" },
  ],
  [
    "no reason",
    new AppError("CONNECTION_LOST", "lost"),
    { code: "TMUX_UNAVAILABLE", message: "tmux could not be started: lost" },
  ],
  ["another fault", new AppError("PROTOCOL_ERROR", "odd"), { code: "PROTOCOL_ERROR", message: "odd" }],
])("a first connection that cannot be made, for %s, ends the supervisor", async (_what, error, expected) => {
  const all = bench();
  all.prepare = () => Promise.reject(error);
  const failed = await failure(all.supervisor.start());
  expect(failed).toMatchObject(expected);
  expect(failed === error || (failed instanceof Error && failed.cause === error)).toBe(true);
  expect([all.states, all.last().closed, all.clock.pendingTimers]).toEqual([["closed"], true, 0]);
});

test("a server that need not exist is tried again, and at once when it is known to have come", async () => {
  const all = bench();
  const { clock, supervisor, transports, events, details } = all;
  all.prepare = () => Promise.reject(new AppError("CONNECTION_LOST", "none yet"));
  // There is nothing to repeat.
  supervisor.retryNow();
  clock.advanceMs(0);
  expect(transports).toEqual([]);
  await supervisor.startOrWait();
  for (const ms of [50, 100, 200, 400]) {
    clock.advanceMs(ms);
    await turn();
  }
  expect([transports.length, supervisor.state, new Set(events)]).toEqual([
    5,
    "connecting",
    new Set(["connection.retry"]),
  ]);
  expect(details.slice(0, 2)).toEqual([50, 100].map((inMs) => ({ code: "CONNECTION_LOST", reason: "none yet", inMs })));
  all.prepare = () => Promise.resolve();
  supervisor.retryNow();
  clock.advanceMs(0);
  await turn();
  expect([transports.length, supervisor.state]).toEqual([6, "ready"]);
  // There is nothing to try: it is connected.
  supervisor.retryNow();
  clock.advanceMs(1);
  expect(transports).toHaveLength(6);
  supervisor.close();
});

test("a check asks at once, and is over with its reply, or after a second", async () => {
  const { clock, supervisor, last } = bench();
  await supervisor.check();
  await supervisor.start();
  let checked = 0;
  const check = async (): Promise<void> => {
    await supervisor.check();
    checked += 1;
  };
  void check();
  await turn();
  expect([last().lines, checked]).toEqual([["how are you"], 0]);
  last().reply("well\n");
  await turn();
  expect([checked, clock.pendingTimers]).toEqual([1, 1]);
  void check();
  await turn();
  clock.advanceMs(999);
  await turn();
  expect(checked).toBe(1);
  clock.advanceMs(1);
  await turn();
  expect(checked).toBe(2);
  // The late reply counts all the same.
  last().reply("not well\n");
  expect(last().closed).toBe(true);
});

test.each([
  ["is idle and owes a reply", true, true],
  ["works", false, false],
])("a server in doubt that %s is found out soon", async (_what, isIdle, isGivenUp) => {
  const { clock, supervisor, last } = bench(() => isIdle);
  supervisor.doubt();
  await supervisor.start();
  supervisor.doubt();
  supervisor.doubt();
  await turn();
  expect(last().lines).toEqual(["how are you"]);
  for (let looks = 1; looks <= 2; looks += 1) {
    expect(last().closed).toBe(false);
    clock.advanceMs(60);
    await loopTurn();
  }
  expect(last().closed).toBe(isGivenUp);
  supervisor.close();
});

test("a server in doubt that replies is left alone", async () => {
  const { clock, supervisor, last } = bench(() => true);
  await supervisor.start();
  supervisor.doubt();
  clock.advanceMs(60);
  await loopTurn();
  last().reply("well\n");
  clock.advanceMs(60);
  await loopTurn();
  // Only the heartbeat is left.
  expect([last().closed, clock.pendingTimers]).toEqual([false, 1]);
  supervisor.close();
});
