/** When the event loop stays awake, and when it gives its core to others. */
import { expect, test } from "vitest";
import { BUSY_POLL_MS, BusyPoll, CONVERSATION_COMMANDS } from "../../../../daemon/time/busyPoll.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

const LOOK_MS = 0.1;

/** A loop turned by hand: each turn takes 0.1 ms, of which the process has a core for `share`. */
function loop() {
  const clock = new FakeClock();
  let next: (() => void) | undefined;
  let cpuMs = 0;
  const all = {
    clock,
    share: 1,
    poll: new BusyPoll({
      clock,
      cpuMs: () => cpuMs,
      nextTurn: (run) => {
        expect(next).toBeUndefined();
        next = run;
      },
    }),
    /** Whether the loop is awake after `turns` turns. */
    turn: (turns = 1): boolean => {
      for (let count = 0; count < turns && next !== undefined; count += 1) {
        const run = next;
        next = undefined;
        clock.advanceMs(LOOK_MS);
        cpuMs += LOOK_MS * all.share;
        run();
      }
      return next !== undefined;
    },
    /** So many commands that are answered at once: the next one belongs to a conversation. */
    talk: (): void => {
      for (let count = 1; count < CONVERSATION_COMMANDS; count += 1) {
        all.poll.awaitAnswer();
        all.poll.answered();
      }
      while (all.turn());
    },
    /** One command that is answered after 0.2 ms; whether it was polled for. */
    ask: (): boolean => {
      all.poll.awaitAnswer();
      const polled = all.turn(2);
      all.poll.answered();
      while (all.turn());
      if (!polled) clock.advanceMs(2 * LOOK_MS);
      return polled;
    },
  };
  return all;
}

test("awake until the answer is there, and asleep before and after", () => {
  const { poll, turn, talk } = loop();
  expect(turn()).toBe(false);
  talk();
  poll.awaitAnswer();
  expect(turn(3)).toBe(true);
  poll.answered();
  expect(turn()).toBe(false);
});

test("an answer that does not come is not waited for longer than the bound", () => {
  const { poll, turn, talk } = loop();
  talk();
  poll.awaitAnswer();
  expect(turn(Math.floor(BUSY_POLL_MS / LOOK_MS) - 1)).toBe(true);
  expect(turn(2)).toBe(false);
});

test("input keeps it awake for its echo, behind the answer; each later one anew", () => {
  const { poll, turn, talk } = loop();
  talk();
  poll.awaitEcho();
  expect(turn(1)).toBe(true);
  poll.answered();
  expect(turn(2)).toBe(true);
  poll.awaitEcho();
  poll.answered();
  expect(turn(Math.floor(BUSY_POLL_MS / LOOK_MS) - 1)).toBe(true);
  expect(turn(2)).toBe(false);
});

test("a core that is wanted elsewhere is left alone after a while, and tried again later", () => {
  const all = loop();
  all.talk();
  for (let asked = 0; asked < 200; asked += 1) expect(all.ask()).toBe(true);
  all.share = 0.3;
  let polled = 0;
  while (all.ask()) polled += 1;
  // Some tens of milliseconds.
  expect(polled).toBeGreaterThan(25);
  expect(polled).toBeLessThan(400);
  all.clock.advanceMs(300);
  all.talk();
  let again = 0;
  while (all.ask()) again += 1;
  expect(again).toBeLessThan(polled);
  expect(again).toBeGreaterThan(0);
  all.share = 1;
  all.clock.advanceMs(300);
  all.talk();
  for (let asked = 0; asked < 200; asked += 1) expect(all.ask()).toBe(true);
});

test("one bad moment among good ones changes nothing", () => {
  const all = loop();
  all.talk();
  for (let asked = 0; asked < 1_000; asked += 1) {
    all.share = asked % 100 < 15 ? 0.2 : 0.95;
    expect(all.ask()).toBe(true);
  }
});

test("answers that never come in time end it too, though it has the core to itself", () => {
  const { poll, turn, talk, clock } = loop();
  let polled = 0;
  for (let asked = 0; asked < 500; asked += 1) {
    talk();
    poll.awaitAnswer();
    if (turn()) polled += 1;
    while (turn());
    clock.advanceMs(5);
    poll.answered();
  }
  expect(polled).toBeLessThan(250);
});

test("closed, it never polls again", () => {
  const { poll, turn, talk } = loop();
  talk();
  poll.awaitEcho();
  poll.close();
  expect(turn()).toBe(false);
  talk();
  poll.awaitAnswer();
  expect(turn()).toBe(false);
});

test("a command after a pause is not polled for, nor are the first that follow it", () => {
  const { poll, turn, talk, clock } = loop();
  talk();
  clock.advanceMs(3);
  for (let count = 1; count < CONVERSATION_COMMANDS; count += 1) {
    poll.awaitEcho();
    expect(turn()).toBe(false);
    clock.advanceMs(0.2);
  }
  poll.awaitEcho();
  expect(turn()).toBe(true);
});
