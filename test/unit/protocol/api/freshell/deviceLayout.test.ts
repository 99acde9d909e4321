/** What a device may publish and keep: the snapshot of its layout, checked whole. */
import { describe, expect, test } from "vitest";
import { leavesOf, parseSnapshot } from "../../../../../protocol/api/freshell/deviceLayout.ts";
import { AppError } from "../../../../../protocol/errors.ts";

const leaf = (id: string, content: object = { kind: "picker" }): object => ({ type: "leaf", id, content });
const split = (id: string, children: readonly unknown[], more: object = {}): object => ({
  type: "split",
  id,
  direction: "horizontal",
  sizes: [50, 50],
  children,
  ...more,
});
const tab = (id: string, more: object = {}): object => ({
  id,
  ownerDeviceId: "desk",
  title: "work",
  status: "open",
  createdAt: 1,
  updatedAt: 2,
  ...more,
});
const snapshot = (root: unknown, more: object = {}): object => ({
  tabs: [tab("t1")],
  layouts: { t1: root },
  activeTabId: "t1",
  activePane: { t1: "p1" },
  ...more,
});
const refusal = (given: unknown): string => {
  try {
    parseSnapshot(given);
  } catch (error) {
    if (error instanceof AppError) return `${error.code} ${error.message}`;
    throw error;
  }
  return "taken";
};
const deep = (levels: number): unknown => {
  let node: unknown = leaf("p1");
  for (let at = 1; at < levels; at += 1) node = split(`s${at}`, [node, leaf(`q${at}`)]);
  return node;
};

test("F013 what is not known here is left in tabs, panes, nodes and contents", () => {
  const given = snapshot(split("s1", [leaf("p1", { kind: "browser", url: "https://x.org", zoom: 2 }), leaf("p2")]), {
    tabs: [tab("t1", { colour: "red" })],
    panes: [{ id: "p1", tabId: "t1", badge: 3 }],
    theme: { dark: true },
  });
  const found = parseSnapshot(given);
  expect(found).toEqual(given);
  expect(leavesOf(found.layouts["t1"]!).map(({ id }) => id)).toEqual(["p1", "p2"]);
});

test("a device without a tab has nothing active", () => {
  const empty = { tabs: [], layouts: {}, activeTabId: null, activePane: {} };
  expect(parseSnapshot(empty)).toEqual(empty);
  expect(refusal({ ...empty, activeTabId: "t1" })).toMatch(/^INVALID_ARGUMENT .*activeTabId/);
});

test("a tree of sixteen levels is taken, one of seventeen is not, and one of a million does no harm", () => {
  expect(refusal(snapshot(deep(16)))).toBe("taken");
  expect(refusal(snapshot(deep(17)))).toMatch(/^RESOURCE_LIMIT .*at most 16/);
  expect(refusal(snapshot(deep(1_000_000)))).toMatch(/^RESOURCE_LIMIT /);
});

test("tabs, panes and bytes have their limits", () => {
  const ids = Array.from({ length: 201 }, (_, at) => `t${at}`);
  const many = (count: number): object => ({
    tabs: ids.slice(0, count).map((id) => tab(id)),
    layouts: Object.fromEntries(ids.slice(0, count).map((id) => [id, leaf(`p-${id}`)])),
    activeTabId: "t0",
    activePane: Object.fromEntries(ids.slice(0, count).map((id) => [id, `p-${id}`])),
  });
  expect(refusal(many(200))).toBe("taken");
  expect(refusal(many(201))).toMatch(/^RESOURCE_LIMIT tabs: at most 200/);
  const wide = (from: number, count: number): unknown => {
    if (count === 1) return leaf(`p${from}`);
    const half = Math.ceil(count / 2);
    return split(`s${from}-${count}`, [wide(from, half), wide(from + half, count - half)]);
  };
  expect(refusal(snapshot(wide(1, 50)))).toBe("taken");
  expect(refusal(snapshot(wide(1, 51)))).toMatch(/^RESOURCE_LIMIT panes of .*at most 50/);
  expect(refusal(snapshot(leaf("p1"), { note: "é".repeat(524_288) }))).toMatch(/^RESOURCE_LIMIT .*1048576/);
});

describe("what is no layout names its place", () => {
  test.each([
    ["nothing", undefined, "the snapshot"],
    ["a list", [], "the snapshot"],
    ["no tree of a tab", snapshot(leaf("p1"), { layouts: {} }), "tab t1"],
    ["a tree without a tab", snapshot(leaf("p1"), { layouts: { t1: leaf("p1"), t2: leaf("p2") } }), "layouts"],
    ["a pointer without a tab", snapshot(leaf("p1"), { activePane: { t1: "p1", t2: "p1" } }), "activePane"],
    ["a pointer to no pane", snapshot(leaf("p1"), { activePane: { t1: "p9" } }), "activePane.t1"],
    ["a pointer to a split", snapshot(split("p1", [leaf("p2"), leaf("p3")])), "activePane.t1"],
    ["an active tab that is not there", snapshot(leaf("p1"), { activeTabId: "t9" }), "activeTabId"],
    ["one id twice", snapshot(split("s", [leaf("p1"), leaf("p1")])), 'duplicate id "p1"'],
    ["sizes that are no numbers", snapshot(split("s", [leaf("p1"), leaf("p2")], { sizes: [NaN, 50] })), "sizes.0"],
    ["sizes as JSON has NaN", snapshot(split("s", [leaf("p1"), leaf("p2")], { sizes: [null, 50] })), "sizes.0"],
    ["a size of nothing", snapshot(split("s", [leaf("p1"), leaf("p2")], { sizes: [0, 100] })), "above 0"],
    ["three sizes", snapshot(split("s", [leaf("p1"), leaf("p2")], { sizes: [1, 2, 3] })), "sizes"],
    ["one child", snapshot(split("s", [leaf("p1")])), "layouts.t1"],
    ["another direction", snapshot(split("s", [leaf("p1"), leaf("p2")], { direction: "diagonal" })), "direction"],
    ["another kind", snapshot(leaf("p1", { kind: "clock" })), "content.kind"],
    ["an id that is a trap", snapshot(leaf("__proto__")), "must not be __proto__"],
    ["an id with a blank", snapshot(leaf("p 1")), "visible ASCII"],
    ["a title of two lines", snapshot(leaf("p1"), { tabs: [tab("t1", { title: "a\nb" })] }), "control characters"],
    ["a long title", snapshot(leaf("p1"), { tabs: [tab("t1", { title: "x".repeat(257) })] }), "256"],
    ["half of a character", snapshot(leaf("p1"), { tabs: [tab("t1", { title: "\ud800" })] }), "well-formed"],
    ["a tab of nobody's", snapshot(leaf("p1"), { tabs: [tab("t1", { ownerDeviceId: "" })] }), "ownerDeviceId"],
    ["a tab without a time", snapshot(leaf("p1"), { tabs: [tab("t1", { createdAt: "now" })] }), "createdAt"],
    ["a script", snapshot(leaf("p1", { kind: "browser", url: "javascript:alert(1)" })), "http: or https:"],
    [
      "a terminal without an id",
      snapshot(leaf("p1", { kind: "terminal", terminalId: "a b" })),
      "must be a terminal id",
    ],
  ])("%s", (_name, given, place) => {
    const told = refusal(given);
    expect(told).toMatch(/^INVALID_ARGUMENT /);
    expect(told).toContain(place);
  });

  test("nothing of a program reaches the prototype of objects", () => {
    const given = JSON.parse(
      '{"tabs":[],"layouts":{"__proto__":{"polluted":1}},"activeTabId":null,"activePane":{}}',
    ) as unknown;
    parseSnapshot(given);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});

describe("pages that panes may show", () => {
  const told = (url: string): string => refusal(snapshot(leaf("p1", { kind: "browser", url })));
  test.each(["http://localhost:3000", "https://example.org/a?b=c#d", "https://xn--e1afmkfd.org/%20x"])("%s", (url) => {
    expect(told(url)).toBe("taken");
  });
  test.each([
    "file:///etc/passwd",
    "data:text/html,x",
    "http://user:pw@x.org",
    "http://user@x.org",
    "not a url",
    "/path",
    "http://x.org/a b",
    " http://x.org",
    "http://",
    `http://x.org/${"x".repeat(2_048)}`,
  ])("refused: %s", (url) => {
    expect(told(url)).toMatch(/^INVALID_ARGUMENT /);
  });
});
