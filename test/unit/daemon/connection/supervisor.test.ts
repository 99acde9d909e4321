/** The supervisor's states over a fake transport and a clock moved by hand. */
import { expect, test } from "vitest";
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
  readonly transports: FakeTransport[];
  readonly last: () => FakeTransport;
  beats: number;
  /** What `prepare` does with the next connections. */
  prepare: (connection: ControlConnection) => Promise<void>;
}

function bench(isServerIdle?: () => boolean): Bench {
  const clock = new FakeClock();
  const transports: FakeTransport[] = [];
  const states: string[] = [];
  const events: string[] = [];
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
    transports,
    last: () => transports.at(-1)!,
    beats: 0,
    prepare: () => Promise.resolve(),
    supervisor: new Supervisor({
      clock,
      open,
      prepare: (connection) => all.prepare(connection),
      onState: (state) => states.push(state),
      onEvent: (event) => events.push(event),
      isServerIdle,
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
    clock.advanceMs(5_000);
    await turn();
    expect(last().lines).toHaveLength(beat);
    last().reply("beat\n");
  }
  expect(states).toEqual(["ready"]);
  expect(events).toEqual([]);
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
  expect(await pending).toMatchObject({ code: "CONNECTION_LOST" });
  expect(() => supervisor.connection()).toThrow(expect.objectContaining({ code: "CONNECTION_LOST" }));
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
  await expect(second).rejects.toBeInstanceOf(AppError);
  expect(closed.last().closed).toBe(true);
  expect(closed.states).toEqual(["closed"]);
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
  expect(stuck.transports[0]?.closed).toBe(true);
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
  await expect(all.supervisor.start()).rejects.toMatchObject(expected);
  expect([all.states, all.last().closed, all.clock.pendingTimers]).toEqual([["closed"], true, 0]);
});

test("a server that need not exist is tried again, and at once when it is known to have come", async () => {
  const all = bench();
  const { clock, supervisor, transports, events } = all;
  all.prepare = () => Promise.reject(new AppError("CONNECTION_LOST", "none yet"));
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
