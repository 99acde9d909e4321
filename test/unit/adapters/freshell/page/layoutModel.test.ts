/** The pure parts of the device's page: boxes, own changes, undo, keys, words, search. */
import { describe, expect, test } from "vitest";
import { withPaneTitle, withSplitAt } from "../../../../../adapters/freshell/page/model/ownChanges.ts";
import { boxesOf, neighbourOf } from "../../../../../adapters/freshell/page/model/paneBoxes.ts";
import { reverted } from "../../../../../adapters/freshell/page/model/revertLayout.ts";
import { actionFor, DEVICE_KEYS } from "../../../../../adapters/freshell/page/model/deviceKeys.ts";
import { whatWasDone } from "../../../../../adapters/freshell/page/model/remoteLine.ts";
import { matchesIn } from "../../../../../adapters/freshell/page/model/terminalFind.ts";
import type { LayoutSnapshot } from "../../../../../protocol/api/freshell/deviceLayout.ts";
import { DeviceFake } from "../../../../support/freshell/deviceFake.ts";

/** One tab: p on the left, q above r on the right. */
function scene() {
  const device = new DeviceFake();
  const { tabId, paneId: p } = device.tab("build");
  const q = device.split(p);
  const r = device.split(q, "vertical");
  return { device, tabId, p, q, r };
}
const plain = (device: DeviceFake): LayoutSnapshot => {
  const { panes: _derived, ...layout } = device.layout;
  return layout;
};
const titles = ({ tabs }: LayoutSnapshot): readonly string[] => tabs.map(({ title }) => title);

describe("boxes", () => {
  test("each pane has its part of the tab, each divider the split it is in", () => {
    const { device, tabId, p, q, r } = scene();
    const { panes, dividers } = boxesOf(device.layout.layouts[tabId]!);
    expect(panes).toEqual([
      { paneId: p, left: 0, top: 0, width: 50, height: 100 },
      { paneId: q, left: 50, top: 0, width: 50, height: 50 },
      { paneId: r, left: 50, top: 50, width: 50, height: 50 },
    ]);
    expect(dividers.map(({ direction, within, percent }) => [direction, within.left, within.width, percent])).toEqual([
      ["horizontal", 0, 100, 50],
      ["vertical", 50, 50, 50],
    ]);
  });

  test("the neighbour on a side is the one that shares most of the edge", () => {
    const { device, tabId, p, q, r } = scene();
    device.runtime.change((layout) => withSplitAt(layout, boxesOf(layout.layouts[tabId]!).dividers[1]!.splitId, 30));
    const { panes } = boxesOf(device.layout.layouts[tabId]!);
    const beside = (pane: string) =>
      (["left", "right", "up", "down"] as const).map((side) => neighbourOf(panes, pane, side));
    expect(beside(p)).toEqual([undefined, r, undefined, undefined]);
    expect(beside(q)).toEqual([p, undefined, undefined, r]);
    expect(beside(r)).toEqual([p, undefined, q, undefined]);
  });
});

describe("what only the device's own people do", () => {
  test("a divider is moved, within bounds; one revision each, saved and published", () => {
    const { device, tabId } = scene();
    const splitId = boxesOf(device.layout.layouts[tabId]!).dividers[0]!.splitId;
    const before = device.runtime.workspaceRevision;
    const move = (percent: number) => device.runtime.change((layout) => withSplitAt(layout, splitId, percent));
    expect(move(70.25)).toBe(before + 1);
    expect(device.layout.layouts[tabId]).toMatchObject({ sizes: [70.25, 29.75] });
    move(-4);
    expect(device.layout.layouts[tabId]).toMatchObject({ sizes: [5, 95] });
    expect(device.published.at(-1)?.workspaceRevision).toBe(before + 2);
    expect(device.saved.workspaceRevision).toBe(before + 2);
    expect(() => device.runtime.change((layout) => withSplitAt(layout, "gone", 50))).toThrow(
      "split gone no longer exists",
    );
    expect(device.runtime.workspaceRevision).toBe(before + 2);
  });

  test("a pane is renamed and its name taken back; what is no layout is refused whole", () => {
    const { device, tabId, q } = scene();
    device.runtime.change((layout) => withPaneTitle(layout, q, "logs"));
    expect(JSON.stringify(device.layout.layouts[tabId])).toContain('"title":"logs"');
    device.runtime.change((layout) => withPaneTitle(layout, q, undefined));
    expect(JSON.stringify(device.layout.layouts[tabId])).not.toContain("logs");
    const before = JSON.stringify(device.saved);
    expect(() => device.runtime.change((layout) => ({ ...layout, activeTabId: "gone" }))).toThrow("is not a tab");
    expect(JSON.stringify(device.saved)).toBe(before);
  });
});

describe("undo", () => {
  const step = (device: DeviceFake, run: () => unknown) => {
    const before = plain(device);
    run();
    return { before, after: plain(device) };
  };
  const undone = (device: DeviceFake, was: ReturnType<typeof step>) => {
    const back = reverted(plain(device), was);
    if (back !== undefined) device.runtime.change(() => back);
    return back;
  };

  test.each([
    [
      "rename-tab",
      (at: ReturnType<typeof scene>) => at.device.done("rename-tab", { target: `tab:${at.tabId}`, title: "x" }),
    ],
    ["split-pane", (at: ReturnType<typeof scene>) => at.device.split(at.p, "vertical")],
    ["kill-pane", (at: ReturnType<typeof scene>) => at.device.done("kill-pane", { target: `pane:${at.q}` })],
    [
      "swap-pane",
      (at: ReturnType<typeof scene>) => at.device.done("swap-pane", { source: `pane:${at.p}`, target: `pane:${at.r}` }),
    ],
    ["resize-pane", (at: ReturnType<typeof scene>) => at.device.done("resize-pane", { target: `pane:${at.p}`, x: 20 })],
    [
      "open-editor",
      (at: ReturnType<typeof scene>) => at.device.done("open-editor", { target: `pane:${at.p}`, filePath: "/x" }),
    ],
    ["new-tab", (at: ReturnType<typeof scene>) => at.device.tab("other")],
    ["kill-tab", (at: ReturnType<typeof scene>) => at.device.done("kill-tab", { target: `tab:${at.tabId}` })],
    ["select-pane", (at: ReturnType<typeof scene>) => at.device.done("select-pane", { target: `pane:${at.p}` })],
  ] as const)("%s goes back to what was before", (_name, run) => {
    const at = scene();
    at.device.tab("second");
    at.device.done("select-tab", { target: `tab:${at.tabId}` });
    const was = step(at.device, () => run(at));
    expect(undone(at.device, was)).toBeDefined();
    const strip = (layout: LayoutSnapshot) =>
      JSON.stringify(layout, (key, value: unknown) => (key === "updatedAt" ? 0 : value));
    expect(JSON.parse(strip(plain(at.device)))).toEqual(JSON.parse(strip(was.before)));
  });

  test("later work elsewhere stays, and later work in the same place is not thrown away", () => {
    const { device, tabId, p } = scene();
    const renamed = step(device, () => device.done("rename-tab", { target: `tab:${tabId}`, title: "theirs" }));
    device.tab("mine");
    expect(undone(device, renamed)).toBeDefined();
    expect(titles(plain(device))).toEqual(["build", "mine"]);
    const split = step(device, () => device.split(p, "vertical"));
    device.done("kill-pane", { target: `pane:${p}` });
    expect(undone(device, split)).toBeUndefined();
    const made = step(device, () => device.tab("theirs"));
    const { paneId } = { paneId: Object.values(plain(device).activePane).at(-1)! };
    device.split(paneId);
    expect(undone(device, made)).toBeUndefined();
    const again = step(device, () => device.done("rename-tab", { target: `tab:${tabId}`, title: "theirs" }));
    device.done("rename-tab", { target: `tab:${tabId}`, title: "mine" });
    expect(undone(device, again)).toBeUndefined();
    expect(titles(plain(device))[0]).toBe("mine");
  });

  test("a tab that was closed comes back where it stood, with its panes", () => {
    const device = new DeviceFake();
    const tabs = ["a", "b", "c"].map((title) => device.tab(title));
    const was = step(device, () => device.done("kill-tab", { target: "tab-name:b" }));
    device.done("kill-tab", { target: "tab-name:a" });
    expect(undone(device, was)).toBeDefined();
    expect(titles(plain(device))).toEqual(["b", "c"]);
    expect(plain(device).activePane[tabs[1]!.tabId]).toBe(tabs[1]!.paneId);
  });
});

describe("keys and words", () => {
  const key = (code: string, more = {}) => ({
    code,
    altKey: true,
    shiftKey: true,
    ctrlKey: false,
    metaKey: false,
    ...more,
  });
  test("Alt+Shift alone is the page's, by the place of the key", () => {
    expect(actionFor(key("KeyT"))).toEqual({ kind: "newTab" });
    expect(actionFor(key("Digit3"))).toEqual({ kind: "tab", index: 2 });
    expect(actionFor(key("ArrowUp"))).toEqual({ kind: "focus", side: "up" });
    const others = [
      { ctrlKey: true },
      { metaKey: true },
      { shiftKey: false },
      { altKey: false },
      { isComposing: true },
    ];
    for (const other of others) expect(actionFor(key("KeyT", other))).toBeUndefined();
    expect(actionFor(key("KeyY"))).toBeUndefined();
    expect(new Set(DEVICE_KEYS.map(({ code }) => code)).size).toBe(DEVICE_KEYS.length);
  });

  test("what somebody did is told with titles as text, cut where they are long", () => {
    const { device, tabId } = scene();
    const before = plain(device);
    const { result } = device.done("rename-tab", { target: `tab:${tabId}`, title: `<b>${"x".repeat(200)}` });
    const args = { target: `tab:${tabId}` };
    const words = whatWasDone({ command: "rename-tab", args, result, before, after: plain(device) });
    expect(words).toBe(`renamed the tab “build” to “<b>${"x".repeat(57)}…”`);
    const url = "http://h/";
    const to = { command: "navigate", args: { url }, result: { tabId }, before, after: before };
    expect(whatWasDone(to)).toBe("opened “http://h/” in “build”");
  });
});

describe("search", () => {
  const COLUMNS = 10;
  /** Wide characters take two cells; a line that begins with + goes on with the one before it. */
  const buffer = (...lines: readonly string[]) => ({
    length: lines.length,
    lineAt: (row: number) => {
      const text = lines[row];
      if (text === undefined) return undefined;
      const cells: { chars: string; width: number }[] = [];
      for (const chars of text.replace(/^\+/, "")) {
        const width = /\p{Script=Han}/u.test(chars) ? 2 : 1;
        cells.push({ chars, width }, ...(width === 2 ? [{ chars: "", width: 0 }] : []));
      }
      return {
        length: COLUMNS,
        isWrapped: text.startsWith("+"),
        getCell: (column: number) => ({
          getChars: () => cells[column]?.chars ?? "",
          getWidth: () => cells[column]?.width ?? 1,
        }),
      };
    },
  });

  test("without regard to case, from the end on, over a wrapped line, in cells", () => {
    const lines = buffer("an Error", "漢字error", "123456 err", "+or 2");
    const first = matchesIn(lines, "ERROR", undefined, -1);
    expect(first).toEqual({ count: 3, index: 3, match: { row: 2, column: 7, cells: 5 } });
    const before = matchesIn(lines, "error", { x: 7, y: 2 }, -1);
    expect(before).toEqual({ count: 3, index: 2, match: { row: 1, column: 4, cells: 5 } });
    expect(matchesIn(lines, "error", { x: 7, y: 2 }, 1).index).toBe(1);
    expect(matchesIn(lines, "漢", undefined, 1).match).toEqual({ row: 1, column: 0, cells: 2 });
    expect([matchesIn(lines, "", undefined, 1), matchesIn(lines, "nowhere", undefined, 1)]).toEqual([
      { count: 0, index: 0 },
      { count: 0, index: 0 },
    ]);
  });
});
