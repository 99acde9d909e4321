/** Panes that may have been turned off for our client, over a fake transport and a clock moved by hand. */
import { expect, test } from "vitest";
import { featuresOf } from "../../../../daemon/connection/tmuxFeatures.ts";
import { OutputWatch } from "../../../../daemon/servers/outputWatch.ts";
import type { PaneId, SessionId, WindowId } from "../../../../protocol/ids.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";
import { fakeConnection, turn } from "../../../support/tmux/fakeTransport.ts";

const SESSION = "$0" as SessionId;
const PANE = "%7" as PaneId;
const ON = 'refresh-clien -A "%7:on"';
/** Two commands. */
const NEXT = "run-shel -d 0 ; run-shel -d 0";
const START_MS = 1_000_000_000;

function scene({ hasOtherReader = false, wakesWithReports = false } = {}) {
  const { connection, transport } = fakeConnection();
  const other = fakeConnection();
  const clock = new FakeClock();
  /** To set it moves the clock. */
  const time = {
    get ms() {
      return START_MS + clock.nowMs();
    },
    set ms(unixMs: number) {
      clock.advanceMs(unixMs - time.ms);
    },
  };
  const holes: PaneId[] = [];
  const moves: number[] = [];
  const held: (() => void)[] = [];
  let replied = transport.lines.length;
  const watch = new OutputWatch({
    clock,
    nowUnixMs: () => time.ms,
    windows: () => ["@1" as WindowId],
    panesOf: () => [PANE],
    isThere: () => true,
    onMoved: () => moves.push(time.ms),
    mayBeUnread: () => [PANE],
    wakesWithReports,
    otherReader: () => (hasOtherReader ? other.connection : undefined),
    onHole: (panes) => holes.push(...panes),
  });
  watch.begin(connection, SESSION);
  /** Replies to what was asked since the last time: no window was written to that we did not hear. */
  const answered = async (): Promise<readonly string[]> => {
    await turn();
    const asked = transport.lines.slice(replied);
    replied = transport.lines.length;
    for (const line of asked) {
      // What waited in the terminal comes before tmux replies to this.
      if (line === NEXT) {
        transport.reply();
        held.splice(0).forEach((print) => print());
      }
      transport.reply();
    }
    await turn();
    return asked;
  };
  const beat = (): Promise<readonly string[]> => {
    watch.probe();
    return answered();
  };
  /** The pane prints once in each of these milliseconds from now. */
  const prints = (...afterMs: readonly number[]): void => {
    const fromMs = time.ms;
    for (const after of afterMs) {
      time.ms = fromMs + after;
      watch.received(7);
    }
  };
  /** tmux says when its windows were last written to; it replies to whatever is asked then, as `replies` says. */
  const report = async (
    written: Readonly<Record<string, number>>,
    replies: (line: string) => string = () => "",
    askedSec = Math.floor(time.ms / 1_000),
  ): Promise<readonly string[]> => {
    const rows = Object.entries(written).map(([window, sec]) => ({
      session: SESSION,
      window: window as WindowId,
      writtenSec: sec,
    }));
    watch.reported({ rows, askedSec, sinceSec: 0 });
    return asks(replies);
  };
  /** Replies until nothing more is asked. */
  const asks = async (replies: (line: string) => string): Promise<readonly string[]> => {
    const asked: string[] = [];
    for (;;) {
      await turn();
      const lines = transport.lines.slice(replied);
      replied = transport.lines.length;
      if (lines.length === 0) return asked;
      asked.push(...lines);
      for (const line of lines) {
        if (line === NEXT) transport.reply();
        transport.reply(replies(line));
      }
    }
  };
  const tick = (ms: number): void => clock.advanceMs(ms);
  return {
    held,
    connection,
    transport,
    other: other.transport,
    clock,
    time,
    holes,
    moves,
    beat,
    answered,
    prints,
    report,
    asks,
    tick,
  };
}

/** What tmux replies of a window of one pane that was written to in this second. */
const writtenIn =
  (sec: number, dead = "") =>
  (line: string): string => {
    if (line.startsWith("list-window")) return `$0 @1 ${sec}\n`;
    if (line.includes('pane_dead}" -F')) return dead;
    return line.startsWith("list-pane") ? "%7 @1\n" : "";
  };

test("a pane that is quieter than usual is turned on; what comes before tmux replies once more had to wait, behind a hole", async () => {
  const { held, time, holes, beat, prints } = scene();
  prints(0, 10, 20, 30);
  time.ms += 500;
  held.push(() => prints(0));
  expect(await beat()).toContain(ON);
  expect(holes).toEqual([PANE]);
  prints(1);
  expect(holes).toEqual([PANE]);
});

test("a pane that is turned on is known to be on until somebody's command has been executed", async () => {
  const { held, transport, time, holes, beat, prints } = scene();
  prints(0, 10);
  time.ms += 500;
  await beat();
  time.ms += 6_000;
  held.push(() => prints(0));
  expect(await beat()).toContain(ON);
  expect(holes).toEqual([]);
  time.ms += 6_000;
  transport.othersDid(1);
  held.push(() => prints(0));
  expect(await beat()).toContain(ON);
  expect(holes).toEqual([PANE]);
});

test("what comes later was printed then: no hole", async () => {
  const { time, holes, beat, prints } = scene();
  prints(0, 10);
  time.ms += 500;
  expect(await beat()).toContain(ON);
  prints(0);
  expect(holes).toEqual([]);
});

test("a pane that prints as it uses to is let alone, however long its pauses are", async () => {
  const { time, beat, prints } = scene();
  prints(0, 1_000, 1_001, 2_000, 2_001, 3_000);
  time.ms += 900;
  expect(await beat()).not.toContain(ON);
  time.ms += 400;
  expect(await beat()).toContain(ON);
});

test("where another client of ours makes tmux read, it is turned on for that one, and what comes is no sign", async () => {
  const { other, time, holes, beat, prints } = scene({ hasOtherReader: true });
  prints(0, 10);
  time.ms += 500;
  expect(await beat()).not.toContain(ON);
  expect(other.lines).toContain(ON);
  prints(0);
  expect(holes).toEqual([]);
});

test("a tmux that reads what is off is left alone", async () => {
  const { connection, time, beat, prints } = scene();
  connection.features = featuresOf("3.3a");
  prints(0, 10);
  time.ms += 500;
  expect(await beat()).not.toContain(ON);
});

const SEC = START_MS / 1_000;

test("a window that tmux says was written to in a second in which nothing came is silenced: turned on, with a hole", async () => {
  const { time, holes, prints, report } = scene();
  prints(0, 10, 900);
  time.ms = START_MS + 2_300;
  const asked = await report({ "@1": SEC + 2 }, writtenIn(SEC + 2));
  expect(asked.filter((line) => line === ON)).toHaveLength(1);
  expect(holes).toEqual([PANE]);
  // What it has printed since came.
  prints(100);
  expect(await report({ "@1": SEC + 2 })).toEqual([]);
});

test("nothing is asked while windows are silent, or are heard when they are written to, but in the second after they have ceased", async () => {
  const { clock, time, holes, prints, report, asks, tick } = scene();
  for (let sec = 1; sec < 20; sec += 1) {
    time.ms = START_MS + sec * 1_000;
    prints(0, 100, 200, 300);
    expect(await report({ "@1": SEC + sec })).toEqual([]);
    time.ms = START_MS + sec * 1_000 + 1_000;
    prints(100);
    tick(60);
  }
  tick(1_100);
  expect(await asks(writtenIn(SEC + 20))).toHaveLength(1);
  tick(2_000);
  await asks(writtenIn(SEC + 20));
  tick(10_000);
  expect(await asks(writtenIn(SEC + 20))).toEqual([]);
  expect(await report({ "@1": SEC + 20 })).toEqual([]);
  tick(10_000);
  expect([holes, clock.pendingTimers]).toEqual([[], 0]);
});

test("a pane that was heard in the second of the report is asked for soon after the next one begins, if it is silent", async () => {
  const { clock, time, holes, prints, report, asks, tick } = scene();
  prints(0, 100, 700);
  tick(50);
  expect(await report({ "@1": SEC })).toEqual([]);
  time.ms = START_MS + 1_149;
  expect(await asks(writtenIn(SEC))).toEqual([]);
  tick(1);
  expect(await asks(writtenIn(SEC))).toHaveLength(1);
  // It prints again a little later.
  tick(200);
  expect((await asks(writtenIn(SEC + 1))).filter((line) => line === ON)).toHaveLength(1);
  expect(holes).toEqual([PANE]);
  for (let at = 0; at < 4; at += 1) {
    tick(200);
    await asks(writtenIn(SEC + 1));
  }
  expect([holes, clock.pendingTimers]).toEqual([[PANE], 0]);
});

test.each([
  ["has just died", "@1 %8 4711 1 0 \n"],
  ["never had a program", "@1 %8 0 1  \n"],
])("what a pane that %s leaves in its window is no output that is missing", async (_words, dead) => {
  const { time, holes, prints, report } = scene();
  const replies = (line: string): string =>
    line.startsWith("list-pane") && !line.includes('pane_dead}" -F')
      ? "%7 @1\n%8 @1\n"
      : writtenIn(SEC + 2, dead)(line);
  prints(0);
  time.ms = START_MS + 2_300;
  await report({ "@1": SEC + 2 }, replies);
  expect(holes).toEqual([]);
});

test("a pane that tmux may not read is turned on with each report, too", async () => {
  const { transport, time, holes, prints, report } = scene({ wakesWithReports: true });
  prints(0, 10, 20, 30);
  time.ms += 300;
  await report({ "@1": SEC });
  time.ms += 300;
  transport.othersDid(1);
  const asked = await report({ "@1": SEC }, (line) => {
    if (line === NEXT) prints(0);
    return "";
  });
  expect(asked.slice(1)).toEqual([ON, NEXT]);
  expect(holes).toEqual([PANE]);
});

test("a window that has come without a word is listed, once", async () => {
  const { moves, report } = scene();
  await report({ "@1": SEC - 5 });
  await report({ "@2": SEC - 5 });
  await report({ "@2": SEC - 5 });
  expect(moves).toEqual([START_MS]);
});

test("where tmux's clock is ahead of ours, what it calls later is not taken for missing", async () => {
  const { time, holes, prints, report } = scene();
  prints(0);
  time.ms += 300;
  expect(await report({ "@1": SEC + 7 }, undefined, SEC + 7)).toEqual([]);
  time.ms += 5_000;
  await report({ "@1": SEC + 12 }, writtenIn(SEC + 12), SEC + 12);
  expect(holes).toEqual([PANE]);
});
