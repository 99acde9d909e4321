/** What is said of panes before their agents are known. */
import { expect, test } from "vitest";
import { Announced } from "../../../../../adapters/agents/running/announced.ts";
import type { PaneId } from "../../../../../protocol/ids.ts";

const PANE = "%1" as PaneId;
const OTHER = "%2" as PaneId;

test("what is expected of a pane is for the first that appears there, unless it was withdrawn", () => {
  const announced = new Announced();
  announced.expect(PANE, { name: "one" });
  const withdraw = announced.expect(OTHER, { name: "two" });
  expect([announced.hasName("one"), announced.hasName("two")]).toEqual([true, true]);
  withdraw();
  expect(announced.hasName("two")).toBe(false);
  expect(announced.take(PANE, 0)).toEqual({ expected: { name: "one" } });
  expect([announced.take(PANE, 0), announced.take(OTHER, 0)]).toEqual([{}, {}]);
});

test("a withdrawal is of what was expected then, not of what is since", () => {
  const announced = new Announced();
  const withdraw = announced.expect(PANE, { name: "one" });
  announced.expect(PANE, { name: "two" });
  withdraw();
  expect(announced.hasName("two")).toBe(true);
});

test("hooks count together, and no longer than five seconds", () => {
  const announced = new Announced();
  announced.report(PANE, { sessionId: "s" }, 0);
  announced.report(PANE, { lastMessage: "done", sessionId: undefined }, 1_000);
  announced.report(OTHER, { lastMessage: "done" }, 1_000);
  expect(announced.take(PANE, 6_000)).toEqual({ reported: { sessionId: "s", lastMessage: "done" } });
  expect(announced.take(OTHER, 6_001)).toEqual({});
});

test("what a hook said of an agent that was never seen is not said of a later one", () => {
  const announced = new Announced();
  announced.report(PANE, { sessionId: "s", lastMessage: "done" }, 0);
  announced.report(PANE, { lastMessage: "begun" }, 5_001);
  expect(announced.take(PANE, 5_002)).toEqual({ reported: { lastMessage: "begun" } });
});

test("panes that have gone are forgotten", () => {
  const announced = new Announced();
  announced.expect(PANE, { name: "one" });
  announced.report(PANE, { sessionId: "s" }, 0);
  announced.expect(OTHER, { name: "two" });
  announced.keep((pane) => pane === OTHER);
  expect(announced.take(PANE, 0)).toEqual({});
  expect(announced.hasName("two")).toBe(true);
});
