/** When a connection is given up: by what tmux replies, by what it does not, and by what it does meanwhile. */
import { expect, test } from "vitest";
import { ConnectionChecker } from "../../../../daemon/connection/checkup.ts";
import { MAX_PENDING_COMMANDS } from "../../../../protocol/limits.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";
import { fakeConnection, turn } from "../../../support/tmux/fakeTransport.ts";

const CHECKUP = {
  command: "how are you",
  fault: (reply: Uint8Array): string | undefined =>
    reply.length > 0 ? Buffer.from(reply).toString().trim() : undefined,
};

function bench(): ReturnType<typeof fakeConnection> & {
  readonly clock: FakeClock;
  readonly checker: ConnectionChecker;
  /** Why it was given up. */
  readonly faults: () => unknown[];
} {
  const fake = fakeConnection();
  const faults = (): unknown[] => fake.closedWith.map(({ details }) => details?.["reason"]);
  return { ...fake, clock: new FakeClock(), checker: new ConnectionChecker(fake.connection), faults };
}

const ignored = (): void => undefined;

test.each<[string, string, boolean, string[]]>([
  ["that is as it should be", "", true, []],
  ["that tells of a fault", "it was moved\n", true, ["it was moved"]],
  ["that refuses", "no such client\n", false, ["it no longer accepts commands"]],
])("a reply %s is judged", async (_what, body, ok, expected) => {
  const { transport, checker, faults } = bench();
  checker.heartbeat(0, CHECKUP);
  await turn();
  transport.reply(body, ok);
  expect([faults(), checker.isWaiting]).toEqual([expected, false]);
});

test("tmux that is heard and replies to nothing is given up 12 s after its last reply", () => {
  const { connection, transport, checker, faults } = bench();
  connection.send("x", "ours", ignored);
  checker.heartbeat(1_000, CHECKUP);
  transport.reply();
  for (const nowMs of [13_000, 24_999]) checker.heartbeat(nowMs, CHECKUP);
  expect(faults()).toEqual([]);
  checker.heartbeat(25_000, CHECKUP);
  expect(faults()).toEqual(["tmux no longer replies to its commands"]);
});

test("a query that finds no room is sent with the next heartbeat", async () => {
  const { connection, transport, checker, clock } = bench();
  for (let sent = 0; sent < MAX_PENDING_COMMANDS; sent += 1) connection.send("x", "ours", ignored);
  checker.heartbeat(0, CHECKUP);
  await checker.check(clock, CHECKUP);
  expect([checker.isWaiting, clock.pendingTimers]).toEqual([false, 0]);
  await turn();
  transport.reply();
  checker.heartbeat(5_000, CHECKUP);
  await turn();
  expect([checker.isWaiting, transport.lines.at(-1)]).toEqual([true, "how are you"]);
});

test.each<[string, (all: ReturnType<typeof bench>) => void, string[]]>([
  ["owes a reply", ignored, ["tmux has forgotten it"]],
  ["owes none", ({ transport }) => transport.reply(), []],
  ["was heard between the two looks", ({ checker }) => checker.received(), []],
  ["was at work between the two looks", ({ checker }) => checker.silent(false), []],
])("a server that is idle twice and %s is judged", async (_what, meanwhile, expected) => {
  const all = bench();
  const { connection, checker, faults } = all;
  connection.send("x", "ours", ignored);
  await turn();
  checker.silent(true);
  expect([faults(), checker.wasIdle]).toEqual([[], true]);
  meanwhile(all);
  checker.silent(true);
  expect(faults()).toEqual(expected);
});

test("a server in doubt is looked at every 60 ms until it replies", async () => {
  const { connection, transport, checker, clock, faults } = bench();
  let looks = 0;
  const isIdle = (): boolean => (looks += 1) > 2;
  const pass = async (ms: number): Promise<number> => {
    clock.advanceMs(ms);
    await turn();
    return looks;
  };
  checker.doubt(clock, CHECKUP, isIdle);
  checker.doubt(clock, CHECKUP, isIdle);
  expect([await pass(59), await pass(1), await pass(59), await pass(1)]).toEqual([0, 1, 1, 2]);
  // Another command waits, and this one's reply comes after the timer and before the look.
  connection.send("x", "ours", ignored);
  clock.advanceMs(60);
  transport.reply();
  await turn();
  expect([looks, checker.wasIdle, clock.pendingTimers]).toEqual([2, false, 0]);
  checker.doubt(clock, CHECKUP, isIdle);
  await pass(60);
  expect([looks, faults()]).toEqual([3, []]);
  await pass(60);
  expect(faults()).toEqual(["tmux has forgotten it"]);
  expect([await pass(60), clock.pendingTimers]).toEqual([4, 0]);
});
