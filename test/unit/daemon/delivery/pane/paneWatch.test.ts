/** What happens to a pane while something is delivered to it. */
import { expect, test } from "vitest";
import { PaneWatch } from "../../../../../daemon/delivery/pane/paneWatch.ts";
import type { ReadinessOptions } from "../../../../../daemon/readiness/readiness.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import { FakePane } from "../../../../support/agents/fakePane.ts";
import { turn } from "../../../../support/tmux/fakeTransport.ts";

const watchOf = ({ server, pane, readiness, clock }: FakePane, profile?: string): PaneWatch =>
  new PaneWatch({ server, pane, readiness, clock, profile });

const exitKnown = (fake: FakePane): unknown => Object.assign(fake.server, { findPane: () => ({ exit: {} }) });

test.each<[string, (fake: FakePane) => unknown, (fake: FakePane) => unknown, readonly unknown[]]>([
  ["nothing has happened", () => undefined, () => undefined, [false, false, undefined]],
  ["tmux does not list it", (fake) => unlisted(fake), () => undefined, [false, false, undefined]],
  ["its program had ended", ({ stream }) => stream.declareExit({}), () => undefined, [true, false, "WRONG_STATE"]],
  ["tmux knew that its program had ended", exitKnown, () => undefined, [true, false, "WRONG_STATE"]],
  ["its program ends", () => undefined, ({ stream }) => stream.declareExit({}), [true, false, "WRONG_STATE"]],
  ["it goes", () => undefined, (fake) => close(fake, "NOT_FOUND"), [true, false, "NOT_FOUND"]],
  ["tmux goes", () => undefined, (fake) => close(fake, "CONNECTION_LOST"), [false, true, "CONNECTION_LOST"]],
])("has ended, is lost, and takes nothing any more: %s", (_what, before, then, expected) => {
  const fake = new FakePane("claude");
  before(fake);
  using watch = watchOf(fake);
  then(fake);
  const require = (): unknown => {
    try {
      watch.requireThere();
      return undefined;
    } catch (error) {
      return (error as AppError).code;
    }
  };
  expect([watch.hasEnded, watch.isLost, require()]).toEqual(expected);
});

function unlisted({ server }: FakePane): void {
  Object.assign(server, { findPane: () => undefined });
}

function close({ stream }: FakePane, code: "NOT_FOUND" | "CONNECTION_LOST"): void {
  stream.close(new AppError(code, "gone"));
}

/** What happens, and whether it counts as output. */
test.each<[string, (fake: FakePane) => unknown, number]>([
  ["output", (fake) => fake.say("."), 7],
  ["a gap", ({ stream }) => stream.declareHole("paused"), 7],
  ["the end of its program", ({ stream }) => stream.declareExit({}), 3],
  ["its end", (fake) => close(fake, "NOT_FOUND"), 3],
  ["a change of what it does", (fake) => fake.become("busy"), 3],
])("a waiter is woken by %s, and nobody is once the watch is over", async (_what, happen, lastOutputMs) => {
  const fake = new FakePane("claude");
  fake.clock.advanceMs(3);
  const watch = watchOf(fake);
  const { version } = watch;
  const woken: unknown[] = [];
  void watch.next(version, 100).then(() => woken.push(fake.clock.nowMs()));
  fake.clock.advanceMs(4);
  await turn();
  expect(woken).toEqual([]);
  happen(fake);
  await turn();
  expect([woken, watch.lastOutputMs, fake.clock.pendingTimers]).toEqual([[7], lastOutputMs, 0]);
  // It knows of that already.
  await watch.next(version, 100);
  watch[Symbol.dispose]();
  const after = watch.version;
  fake.say(".");
  fake.become("idle");
  expect(watch.version).toBe(after);
});

test("a waiter whose time is up is woken, at once if it was before", async () => {
  const fake = new FakePane("claude");
  using watch = watchOf(fake);
  await watch.next(watch.version, 0);
  await watch.until(0);
  expect(fake.clock.pendingTimers).toBe(0);
  const woken: unknown[] = [];
  void watch.next(watch.version, 2).then(() => woken.push("next"));
  void watch.until(3).then(() => woken.push("until"));
  fake.clock.advanceMs(2);
  await turn();
  expect(woken).toEqual(["next"]);
  fake.say(".");
  await turn();
  expect(woken).toEqual(["next"]);
  fake.clock.advanceMs(1);
  await turn();
  expect(woken).toEqual(["next", "until"]);
});

test("a screen is captured 4 ms after it was captured last, and is current until something is written", async () => {
  const fake = new FakePane("claude");
  using watch = watchOf(fake);
  const first = await fake.during(watch.capture());
  await fake.during(watch.capture(true));
  expect(fake.clock.nowMs()).toBe(4);
  expect(watch.isCurrent(first)).toBe(true);
  expect(watch.isCurrent({ ...first, exact: false })).toBe(false);
  expect(watch.isCurrent({ ...first, position: { epoch: "another", outputSeq: 0 } })).toBe(false);
  fake.say(".");
  expect(watch.isCurrent(first)).toBe(false);
});

test.each([
  [undefined, {}],
  ["pi", { profile: "pi" }],
])("its readiness is watched with the profile that is asked for: %s", (profile, expected) => {
  const fake = new FakePane("claude");
  const asked: unknown[] = [];
  let isOver = false;
  const watched = fake.readiness.watch(fake.server, fake.pane);
  Object.assign(fake.readiness, {
    known: (...[, , isFollowed]: readonly unknown[]) => (isFollowed === true ? undefined : fake.state),
    watch: (_server: unknown, _pane: unknown, options?: ReadinessOptions) => {
      asked.push(options);
      return Object.assign(watched, { [Symbol.dispose]: () => (isOver = true) });
    },
  });
  const watch = watchOf(fake, profile);
  expect([asked, watch.isFresh, watch.profile.name, isOver]).toEqual([[expected], true, "claude", false]);
  watch[Symbol.dispose]();
  expect(isOver).toBe(true);
  const known = new FakePane("claude");
  using other = watchOf(known);
  expect(other.isFresh).toBe(false);
});
