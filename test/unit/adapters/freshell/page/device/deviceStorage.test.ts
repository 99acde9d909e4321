/** What a browser profile has stored: an earlier page's tabs, our own, and what is neither (seed 002 §13.1). */
import { describe, expect, test } from "vitest";
import {
  openStoredDevice,
  STORAGE_KEYS,
  storedAllow,
  storedDevice,
  type TextStore,
} from "../../../../../../adapters/freshell/page/device/deviceStorage.ts";
import { systemClock } from "../../../../../../daemon/time/clock.ts";
import type { OwnerLayout } from "../../../../../../protocol/api/freshell/deviceLayout.ts";

const QUOTA_CHARS = 5_242_880;

/** As a browser's: so many characters in all, and no more. */
class Storage implements TextStore {
  readonly texts = new Map<string, string>();
  getItem = (key: string): string | null => this.texts.get(key) ?? null;
  removeItem = (key: string): void => void this.texts.delete(key);
  setItem(key: string, text: string): void {
    let chars = key.length + text.length;
    for (const [name, other] of this.texts) if (name !== key) chars += name.length + other.length;
    if (chars > QUOTA_CHARS) throw new Error("QuotaExceededError");
    this.texts.set(key, text);
  }
}

const storageWith = (texts: Readonly<Record<string, string>>): Storage => {
  const store = new Storage();
  for (const [key, text] of Object.entries(texts)) store.setItem(key, text);
  return store;
};

function open(store: Storage) {
  const published: OwnerLayout[] = [];
  let ids = 0;
  const opened = openStoredDevice({
    store,
    deviceId: "desk",
    clock: systemClock,
    nowUnixMs: () => 1_700_000_000_000,
    newId: () => `new-${(ids += 1)}`,
    onChange: (layout) => published.push(layout),
  });
  return { ...opened, layout: opened.runtime.layout() };
}

const TERMINAL = "t".repeat(21);
const legacyTabs = (tabs: readonly object[], activeTabId: unknown = "t1"): string =>
  JSON.stringify({ tabs: { activeTabId, tabs } });
const leaf = (id: string, content: object) => ({ type: "leaf", id, content });
const LEGACY = {
  [STORAGE_KEYS.legacyTabs]: legacyTabs(
    [
      {
        id: "t0",
        createRequestId: "c0",
        title: "one\u0007",
        status: "creating",
        mode: "shell",
        createdAt: 5,
        lastInputAt: 9,
      },
      {
        id: "t1",
        createRequestId: "c1",
        title: "",
        status: "running",
        mode: "claude",
        createdAt: 6,
        resumeSessionId: "s",
      },
      { id: "t2", title: "no tree", createdAt: 7, mode: "shell", terminalId: TERMINAL },
    ],
    "t1",
  ),
  [STORAGE_KEYS.legacyPanes]: JSON.stringify({
    version: 4,
    layouts: {
      t0: {
        type: "split",
        id: "s0",
        direction: "vertical",
        sizes: [30, 70],
        children: [
          leaf("p0", {
            kind: "terminal",
            terminalId: TERMINAL,
            mode: "shell",
            status: "running",
            createRequestId: "r",
          }),
          leaf("p1", { kind: "browser", url: "javascript:alert(1)", devToolsOpen: true }),
        ],
      },
      t1: leaf("p2", {
        kind: "terminal",
        mode: "claude",
        initialCwd: "/tmp",
        resumeSessionId: "s",
        status: "creating",
      }),
      gone: leaf("p9", { kind: "picker" }),
    },
    activePane: { t0: "p1", t1: "nowhere" },
    paneTitles: { t0: { p0: "my <b>shell" } },
  }),
};

describe("F206 F207 F208 F244: an earlier page's tabs", () => {
  test("are stamped, kept, at revision 1, and stored; what stood there stays", () => {
    const store = storageWith(LEGACY);
    const { layout, note } = open(store);
    expect([layout.workspaceRevision, layout.ownerDeviceId, note]).toEqual([
      1,
      "desk",
      "The tabs of an earlier page were imported.",
    ]);
    const { tabs, layouts, activeTabId, activePane } = layout.snapshot;
    expect(tabs.map(({ id, title, ownerDeviceId, createdAt }) => [id, title, ownerDeviceId, createdAt])).toEqual([
      ["t0", "one", "desk", 5],
      ["t1", "Tab 2", "desk", 6],
      ["t2", "no tree", "desk", 7],
    ]);
    expect(layouts["t0"]).toMatchObject({
      direction: "vertical",
      sizes: [30, 70],
      children: [
        { id: "p0", title: "my <b>shell", content: { kind: "terminal", terminalId: TERMINAL, mode: "shell" } },
        { id: "p1", content: { kind: "picker" } },
      ],
    });
    expect(layouts["t1"]).toMatchObject({
      content: { kind: "picker", mode: "claude", initialCwd: "/tmp", resumeSessionId: "s" },
    });
    expect(layouts["t2"]).toMatchObject({ content: { kind: "terminal", terminalId: TERMINAL } });
    expect([activeTabId, activePane["t0"], activePane["t1"]]).toEqual(["t1", "p1", "p2"]);
    for (const [key, text] of Object.entries(LEGACY)) expect(store.getItem(key)).toBe(text);
  });

  test("are taken once: later starts have the layout as it is now", () => {
    const store = storageWith(LEGACY);
    const { runtime } = open(store);
    const renamed = {
      command: "rename-tab",
      args: { target: "tab:t0", title: "now" },
      callerDeviceId: "desk",
    } as const;
    expect(runtime.respond({ ...renamed, phase: "apply", expectedRevision: 1 })).toMatchObject({ ok: true });
    const { layout, note } = open(store);
    expect([layout.workspaceRevision, layout.snapshot.tabs[0]?.title, note]).toEqual([2, "now", undefined]);
  });

  const deep = (levels: number): object =>
    levels === 0
      ? leaf("d", { kind: "picker" })
      : {
          type: "split",
          id: `s${levels}`,
          direction: "horizontal",
          sizes: [1, 1],
          children: [leaf(`l${levels}`, { kind: "picker" }), deep(levels - 1)],
        };
  const tree = (root: unknown) => ({
    [STORAGE_KEYS.legacyTabs]: legacyTabs([{ id: "t1", title: "t" }]),
    [STORAGE_KEYS.legacyPanes]: JSON.stringify({ layouts: { t1: root } }),
  });

  test.each([
    ["a tree deeper than is allowed", tree(deep(400))],
    ["a tree that is none", tree([1, 2, 3])],
    ["children that are none", tree({ type: "split", id: "s", children: ["x", null] })],
    ["one id many times", tree({ type: "split", id: "t1", children: [leaf("t1", {}), leaf("t1", {})] })],
    ["ids that mean something else", tree(leaf("__proto__", { kind: "constructor" }))],
    [
      "sizes that are none",
      tree({ type: "split", id: "s", sizes: [-1, "x"], children: [leaf("a", {}), leaf("b", {})] }),
    ],
    ["half a character in a title", { [STORAGE_KEYS.legacyTabs]: legacyTabs([{ id: "t1", title: "a\ud800b" }]) }],
    [
      "many tabs",
      { [STORAGE_KEYS.legacyTabs]: legacyTabs(Array.from({ length: 500 }, (_, at) => ({ id: `t${at}`, title: "t" }))) },
    ],
  ])("%s: what can be understood is kept, and it is a layout", (_name, texts) => {
    const { layout } = open(storageWith(texts));
    expect(layout.snapshot.tabs.length).toBeGreaterThan(0);
    expect(layout.snapshot.tabs.length).toBeLessThanOrEqual(200);
    expect(layout.workspaceRevision).toBe(1);
  });

  test.each([
    ["no JSON", "{tabs:"],
    ["a list", "[]"],
    ["a number", "7"],
    ["tabs that are none", '{"tabs":{"tabs":{"a":1}}}'],
    ["nothing but strings", '{"tabs":{"tabs":["a","b"]}}'],
  ])("%s: an empty layout, and the text stays where it is", (_name, text) => {
    const store = storageWith({ [STORAGE_KEYS.legacyTabs]: text });
    const { layout, note } = open(store);
    expect([layout.snapshot.tabs, store.getItem(STORAGE_KEYS.legacyTabs)]).toEqual([[], text]);
    expect(note).toContain("was left where it is");
  });

  test("5 MB of it: it is left, and the device still keeps what it can", () => {
    const text = legacyTabs([{ id: "t1", title: "t", more: "x".repeat(4_900_000) }]);
    const store = storageWith({ [STORAGE_KEYS.legacyTabs]: text });
    const { layout, note, runtime } = open(store);
    expect([layout.snapshot.tabs, note]).toEqual([[], expect.stringContaining("was left where it is") as unknown]);
    const made = { command: "new-tab", args: { picker: true }, callerDeviceId: "desk", idempotencyKey: "k" } as const;
    expect(runtime.respond({ ...made, phase: "apply", expectedRevision: 1 })).toMatchObject({ ok: true });
    expect(store.getItem(STORAGE_KEYS.legacyTabs)).toBe(text);
  });

  test("a storage that is full refuses a change, and the layout is as before", () => {
    const store = storageWith({ other: "x".repeat(QUOTA_CHARS - 100) });
    const { runtime } = open(store);
    const made = { command: "new-tab", args: { picker: true }, callerDeviceId: "desk", idempotencyKey: "k" } as const;
    expect(runtime.respond({ ...made, phase: "apply", expectedRevision: 1 })).toMatchObject({
      ok: false,
      error: { code: "INTERNAL_ERROR" },
    });
    expect([runtime.workspaceRevision, runtime.layout().snapshot.tabs]).toEqual([1, []]);
  });
});

describe("our own layout", () => {
  test.each([
    ["no JSON", "{"],
    ["a number", "7"],
    ["tabs without trees", '{"tabs":[{"id":"t"}],"ownerDeviceId":"desk","workspaceRevision":3,"layouts":{}}'],
    ["5 MB", JSON.stringify({ tabs: [], layouts: {}, activeTabId: null, activePane: {}, more: "x".repeat(5_000_000) })],
  ])("%s: it is put aside whole, and a new one begins", (_name, text) => {
    const store = storageWith({ [STORAGE_KEYS.layout]: text });
    const { layout, note } = open(store);
    const aside = `${STORAGE_KEYS.layout}.broken-1700000000000`;
    expect([layout.snapshot.tabs, layout.workspaceRevision, store.getItem(aside)]).toEqual([[], 1, text]);
    expect(note).toContain(aside);
  });

  test("who the device is, and whom it allows: what is neither is nobody", () => {
    const texts = {
      [STORAGE_KEYS.device]: '{"deviceId":"../x"}',
      [STORAGE_KEYS.allow]: '{"allow":["a","*","../x",7]}',
    };
    const store = storageWith(texts);
    expect([storedDevice(store), storedAllow(store)]).toEqual([undefined, ["a", "*"]]);
    store.setItem(STORAGE_KEYS.allow, "{");
    expect(storedAllow(store)).toEqual([]);
  });
});
