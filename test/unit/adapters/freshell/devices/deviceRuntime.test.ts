/** A device that owns its layout: what each command makes of it, what is refused, and what is kept. */
import { describe, expect, test } from "vitest";
import { leavesOf } from "../../../../../protocol/api/freshell/deviceLayout.ts";
import { DeviceFake, manyTabs } from "../../../../support/freshell/deviceFake.ts";

/** The ids of a tab's panes, as `pane-index:` counts. */
const panes = ({ layout }: DeviceFake, tabId: string): string[] => leavesOf(layout.layouts[tabId]!).map(({ id }) => id);

describe("tabs", () => {
  test("F019 F020 F047 F173 F175 F184 F185 a new tab is the device's, is active, and counts the revision up", () => {
    const device = new DeviceFake();
    expect(device.runtime.workspaceRevision).toBe(1);
    const { result, appliedRevision } = device.done("new-tab", { title: "web", browser: "https://example.org" });
    expect(appliedRevision).toBe(2);
    expect(device.runtime.layout()).toEqual({
      ownerDeviceId: "desk",
      workspaceRevision: 2,
      updatedAt: device.nowUnixMs,
      capturedAt: device.nowUnixMs,
      snapshot: {
        tabs: [
          {
            id: result["tabId"],
            ownerDeviceId: "desk",
            title: "web",
            status: "running",
            createdAt: device.nowUnixMs,
            updatedAt: device.nowUnixMs,
          },
        ],
        panes: [
          {
            id: result["paneId"],
            tabId: result["tabId"],
            ownerDeviceId: "desk",
            kind: "browser",
            status: "running",
            contentRef: null,
            url: "https://example.org",
            updatedAt: device.nowUnixMs,
          },
        ],
        layouts: {
          [result["tabId"] as string]: {
            type: "leaf",
            id: result["paneId"],
            content: { kind: "browser", url: "https://example.org" },
            status: "running",
            updatedAt: device.nowUnixMs,
          },
        },
        activeTabId: result["tabId"],
        activePane: { [result["tabId"] as string]: result["paneId"] },
      },
    });
  });

  test("F049 a killed tab is gone, and its neighbour on the left is active, else the right one, else none", () => {
    const device = new DeviceFake();
    const [one, two, three] = [device.tab("one"), device.tab("two"), device.tab("three")];
    device.done("select-tab", { target: "tab-index:1" });
    device.done("kill-tab", { target: `tab:${two.tabId}` });
    expect(device.layout.activeTabId).toBe(one.tabId);
    device.done("kill-tab", { target: "tab-name:one" });
    expect(device.layout.activeTabId).toBe(three.tabId);
    expect(device.refused("kill-tab", { target: `tab:${one.tabId}` }).code).toBe("NOT_FOUND");
    device.done("kill-tab", { target: `tab:${three.tabId}` });
    expect(device.layout).toMatchObject({ tabs: [], panes: [], layouts: {}, activeTabId: null, activePane: {} });
  });

  test("F050 F051 a tab gets another title, and is selected", () => {
    const device = new DeviceFake();
    const [one] = [device.tab("one"), device.tab("two")];
    device.done("rename-tab", { target: `tab:${one.tabId}`, title: "a:b c \u202e 50%" });
    expect(device.done("select-tab", { target: "tab-name:a:b c \u202e 50%" }).appliedRevision).toBe(5);
    expect(device.layout.activeTabId).toBe(one.tabId);
    for (const title of ["", "a\u001b[31m", "x\ny", "\u0085", "x".repeat(257), "x".repeat(10_000_000)]) {
      expect(device.refused("rename-tab", { target: `tab:${one.tabId}`, title }).code).toBe("INVALID_ARGUMENT");
    }
    expect(device.runtime.workspaceRevision).toBe(5);
  });

  test("F035 F036 F042 F046 names and indices name one tab, none, or too many", () => {
    const device = new DeviceFake();
    const [one, two] = [device.tab("same"), device.tab("same")];
    const refused = (target: string) => device.refused("select-tab", { target });
    expect(refused("tab-name:same")).toMatchObject({
      code: "AMBIGUOUS_TARGET",
      stage: "owner",
      details: { matches: [one.tabId, two.tabId] },
    });
    expect(refused("tab-name:other").code).toBe("NOT_FOUND");
    expect(refused("tab-index:2").code).toBe("NOT_FOUND");
    expect(refused("tab-index:-1").code).toBe("INVALID_ARGUMENT");
    expect(refused("pane:1").code).toBe("INVALID_TARGET");
    expect(refused("0:1.2").code).toBe("INVALID_ARGUMENT");
    expect(device.done("select-tab", { target: "tab-index:0" }).result["tabId"]).toBe(one.tabId);
  });
});

describe("panes", () => {
  test("F052 F053 F054 a new pane stands behind the one that is split, has half of it, and is active in its tab", () => {
    const device = new DeviceFake();
    const { tabId, paneId } = device.tab("one");
    const other = device.tab("two");
    const { result } = device.done("split-pane", {
      target: "pane-index:0",
      tab: `tab:${tabId}`,
      direction: "vertical",
      browser: "http://localhost:3000/a",
    });
    expect(device.layout.layouts[tabId]).toMatchObject({
      type: "split",
      direction: "vertical",
      sizes: [50, 50],
      children: [
        { id: paneId },
        { id: result["paneId"], content: { kind: "browser", url: "http://localhost:3000/a" } },
      ],
    });
    const edited = device.split(paneId);
    expect(panes(device, tabId)).toEqual([paneId, edited, result["paneId"]]);
    expect(device.layout.activePane[tabId]).toBe(edited);
    expect(device.layout.activeTabId).toBe(other.tabId);
    for (const args of [
      {},
      { direction: "diagonal" },
      { direction: "vertical", browser: "https://x.org", editor: "/x" },
    ]) {
      expect(device.refused("split-pane", { target: `pane:${paneId}`, ...args }).code).toBe("INVALID_ARGUMENT");
    }
  });

  test("F056 F014 a killed pane leaves its place to its sibling, and a tab's last one takes the tab with it", () => {
    const device = new DeviceFake();
    const { tabId, paneId } = device.tab("one");
    const second = device.split(paneId);
    const third = device.split(second, "vertical");
    device.done("resize-pane", { target: `pane:${paneId}`, x: 30 });
    device.done("select-pane", { target: `pane:${second}` });
    expect(device.done("kill-pane", { target: `pane:${second}` }).result).toEqual({
      tabId,
      paneId: second,
      detachedTerminals: [],
    });
    // The one before it, if there is one.
    expect(device.layout.activePane[tabId]).toBe(paneId);
    expect(device.layout.layouts[tabId]).toMatchObject({ sizes: [30, 70], children: [{ id: paneId }, { id: third }] });
    device.done("kill-pane", { target: `pane:${paneId}` });
    expect(device.layout.activePane[tabId]).toBe(third);
    expect(device.layout.layouts[tabId]).toMatchObject({ type: "leaf", id: third });
    device.done("kill-pane", { target: `pane:${third}` });
    expect(device.layout.tabs).toEqual([]);
  });

  test("F057 the nearest split in the direction gives the pane its percents", () => {
    const device = new DeviceFake();
    const { tabId, paneId } = device.tab("one");
    const right = device.split(paneId);
    const below = device.split(right, "vertical");
    device.done("resize-pane", { target: `pane:${below}`, x: 20, y: 75 });
    expect(device.layout.layouts[tabId]).toMatchObject({ sizes: [80, 20], children: [{}, { sizes: [25, 75] }] });
    const refused = (target: string, args: object) =>
      device.refused("resize-pane", { target: `pane:${target}`, ...args });
    expect(refused(paneId, { y: 50 }).code).toBe("INVALID_TARGET");
    // The one that would do is not done either.
    expect(refused(paneId, { x: 10, y: 50 }).code).toBe("INVALID_TARGET");
    for (const args of [{}, { x: 0 }, { x: 100 }, { y: 1.5 }, { x: "50" }]) {
      expect(refused(below, args).code).toBe("INVALID_ARGUMENT");
    }
    expect(device.layout.layouts[tabId]).toMatchObject({ sizes: [80, 20] });
  });

  test("F058 panes change places with their ids, over the border of a tab too", () => {
    const device = new DeviceFake();
    const one = device.tab("one");
    const second = device.split(one.paneId);
    const other = device.tab("two");
    device.done("swap-pane", { source: "pane-index:0", target: "pane-index:1", tab: `tab:${one.tabId}` });
    expect(panes(device, one.tabId)).toEqual([second, one.paneId]);
    expect(device.layout.activePane[one.tabId]).toBe(second);
    device.done("swap-pane", { source: `pane:${second}`, target: `pane:${other.paneId}` });
    expect(panes(device, one.tabId)).toEqual([other.paneId, one.paneId]);
    expect(panes(device, other.tabId)).toEqual([second]);
    expect(device.layout.activePane).toEqual({ [one.tabId]: other.paneId, [other.tabId]: second });
    expect(device.layout.panes?.find(({ id }) => id === second)?.tabId).toBe(other.tabId);
    const self = { source: `pane:${second}`, target: `pane:${second}` };
    expect(device.refused("swap-pane", self).code).toBe("INVALID_TARGET");
  });

  test("F037 F038 F059 a pane is selected by its id or by its place in a tab, and its tab with it", () => {
    const device = new DeviceFake();
    const { tabId, paneId } = device.tab("one");
    const second = device.split(paneId);
    device.tab("two");
    device.done("select-pane", { target: `pane:${paneId}` });
    expect(device.layout).toMatchObject({ activeTabId: tabId, activePane: { [tabId]: paneId } });
    device.done("select-pane", { target: "pane-index:1", tab: "tab-name:one" });
    expect(device.layout.activePane[tabId]).toBe(second);
    const refused = (args: object): string => device.refused("select-pane", args).code;
    expect(refused({ target: "pane-index:0" })).toBe("INVALID_ARGUMENT");
    expect(refused({ target: "pane-index:2", tab: "tab-name:one" })).toBe("NOT_FOUND");
    expect(refused({ target: `pane:${second}`, tab: "tab-name:two" })).toBe("NOT_FOUND");
    expect(refused({ target: "terminal:abc" })).toBe("INVALID_TARGET");
  });

  test("F060 F061 F062 F063 a pane shows a page or a file, and only a page is led elsewhere", () => {
    const device = new DeviceFake();
    const { paneId } = device.tab("one");
    const target = `pane:${paneId}`;
    const kind = (): unknown => device.layout.panes?.[0]?.["kind"];
    device.done("open-editor", { target, filePath: "/etc/hosts" });
    expect(kind()).toBe("editor");
    expect(device.refused("navigate", { target, url: "https://x.org" }).code).toBe("INVALID_TARGET");
    device.done("open-browser", { target, url: "https://x.org" });
    device.done("navigate", { target, url: "https://x.org/2" });
    expect(device.layout.panes?.[0]).toMatchObject({ kind: "browser", url: "https://x.org/2" });
    const revision = device.runtime.workspaceRevision;
    for (const url of [
      "javascript:alert(1)",
      "not a url",
      "file:///etc/passwd",
      "http://u:p@x.org",
      "http://x.org/a b",
    ]) {
      expect(device.refused("navigate", { target, url }).code).toBe("INVALID_ARGUMENT");
      expect(device.refused("open-browser", { target, url }).code).toBe("INVALID_ARGUMENT");
    }
    expect(device.runtime.workspaceRevision).toBe(revision);
  });

  test("F013 what later versions put into tabs, nodes and contents stays there", () => {
    const leaf = { type: "leaf", id: "p1", content: { kind: "browser", url: "https://x.org", zoom: 2 }, pinned: true };
    const other = { type: "leaf", id: "p2", content: { kind: "picker", filter: "git" } };
    const root = { type: "split", id: "s1", direction: "horizontal", sizes: [50, 50], children: [leaf, other], gap: 4 };
    const tab = {
      id: "t1",
      ownerDeviceId: "desk",
      title: "one",
      status: "idle",
      createdAt: 1,
      updatedAt: 2,
      colour: "red",
    };
    const device = new DeviceFake({
      ownerDeviceId: "desk",
      workspaceRevision: 7,
      tabs: [tab],
      layouts: { t1: root },
      activeTabId: "t1",
      activePane: { t1: "p1" },
      theme: "dark",
    });
    device.done("rename-tab", { target: "tab:t1", title: "two" });
    device.done("navigate", { target: "pane:p1", url: "https://x.org/2" });
    device.done("open-editor", { target: "pane:p1", filePath: "/x" });
    device.done("resize-pane", { target: "pane:p1", x: 10 });
    device.done("swap-pane", { source: "pane:p1", target: "pane:p2" });
    device.split("p2");
    const { layout } = device;
    expect(layout["theme"]).toBe("dark");
    expect(layout.tabs[0]).toMatchObject({ title: "two", colour: "red", status: "idle", createdAt: 1 });
    expect(layout.layouts["t1"]).toMatchObject({
      gap: 4,
      sizes: [10, 90],
      children: [
        { children: [{ id: "p2", content: { kind: "picker", filter: "git" } }, {}] },
        { id: "p1", pinned: true, content: { kind: "editor", filePath: "/x", zoom: 2 } },
      ],
    });
    expect(device.runtime.workspaceRevision).toBe(13);
  });
});

describe("revisions", () => {
  test("F066 F178 F183 F186 a change that is meant for another revision changes nothing", () => {
    const device = new DeviceFake();
    const { tabId } = device.tab("one");
    const before = device.kept;
    for (const expectedRevision of [1, 3, 0]) {
      expect(device.refused("rename-tab", { target: `tab:${tabId}`, title: "x" }, { expectedRevision })).toMatchObject({
        code: "REVISION_CONFLICT",
        stage: "owner",
        currentRevision: 2,
        details: { currentRevision: 2 },
      });
    }
    expect(device.refused("kill-tab", { target: `tab:${tabId}` }, { expectedRevision: undefined }).code).toBe(
      "INVALID_ARGUMENT",
    );
    expect(device.kept).toBe(before);
    const both = [1, 2].map((at) =>
      device.ask("rename-tab", { target: `tab:${tabId}`, title: `${at}` }, { expectedRevision: 2 }),
    );
    expect(both.map(({ ok }) => ok)).toEqual([true, false]);
  });

  test("a change that cannot be saved is not there, and one that was is there after a crash", () => {
    const device = new DeviceFake();
    device.tab("one");
    device.isFull = true;
    const before = JSON.stringify(device.runtime.layout());
    expect(device.refused("kill-tab", { target: "tab-index:0" })).toMatchObject({
      code: "INTERNAL_ERROR",
      details: { cause: "storage" },
    });
    expect(JSON.stringify(device.runtime.layout())).toBe(before);
    device.restart();
    expect(JSON.stringify(device.runtime.layout())).toBe(before);
    expect(device.published.map(({ workspaceRevision }) => workspaceRevision)).toEqual([2]);
  });

  test("tabs, panes and levels have their limits", () => {
    const device = new DeviceFake(manyTabs(199));
    const { paneId } = device.tab("deep");
    let last = paneId;
    for (let level = 1; level < 16; level += 1) last = device.split(last);
    const deeper = { target: `pane:${last}`, direction: "vertical", editor: "/x" };
    expect(device.refused("split-pane", deeper)).toMatchObject({ code: "RESOURCE_LIMIT", details: { limit: "depth" } });
    expect(device.refused("new-tab", { editor: "/x" })).toMatchObject({
      code: "RESOURCE_LIMIT",
      details: { limit: "tabs" },
    });
    expect(device.layout.tabs).toHaveLength(200);
  });

  test("a layout stays below the size that can be published", () => {
    const device = new DeviceFake();
    const filePath = "漢".repeat(4_096);
    let refusal: string | undefined;
    for (let count = 0; refusal === undefined; count += 1) {
      const outcome = device.ask("new-tab", { editor: filePath });
      if (!outcome.ok) refusal = `${outcome.error.code} ${String(outcome.error.details?.["limit"])} after ${count}`;
    }
    expect(refusal).toMatch(/^RESOURCE_LIMIT snapshotBytes after \d+$/);
    expect(Buffer.byteLength(JSON.stringify(device.layout))).toBeLessThan(1_048_577);
  });
});

test("F041 resolving is of what is there now, and changes nothing", () => {
  const device = new DeviceFake();
  const { tabId, paneId } = device.tab("one");
  const resolve = (args: object) => device.ask("resolve", args, { phase: "resolve", expectedRevision: undefined });
  const found = { tabId, paneId, kind: "browser", contentRef: null };
  expect(resolve({ target: `pane:${paneId}` })).toEqual({ ok: true, result: found });
  device.done("rename-tab", { target: "tab-name:one", title: "new" });
  expect(resolve({ target: "pane-index:0", tab: "tab-name:new" })).toEqual({ ok: true, result: found });
  expect(resolve({})).toEqual({ ok: true, result: found });
  expect(resolve({ target: "pane-index:0", tab: "tab-name:one" })).toMatchObject({ error: { code: "NOT_FOUND" } });
  expect(device.runtime.workspaceRevision).toBe(3);
});

test.each([
  ["__proto__", { phase: "apply" }],
  ["constructor", { phase: "reserve" }],
  ["read", { phase: "apply" }],
  ["send-keys", { phase: "apply" }],
  ["kill-tab", { phase: "reserve" }],
  ["new-tab", { phase: "apply" }],
  ["new-tab", { phase: "apply", idempotencyKey: undefined }],
  ["new-tab", { phase: "abolish" }],
])("what is no change is refused: %s %j", (command, more) => {
  const device = new DeviceFake();
  device.tab("one");
  const before = device.kept;
  const refusal = device.refused(
    command as "new-tab",
    command === "kill-tab" ? { target: "tab-index:0" } : {},
    more as object,
  );
  expect(refusal.code).toBe("INVALID_ARGUMENT");
  expect(device.kept).toBe(before);
});
