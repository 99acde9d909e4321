/** A pane with a process comes in phases, and a request comes once however often it is sent. */
import { describe, expect, test } from "vitest";
import { DeviceFake, manyTabs } from "../../../../support/freshell/deviceFake.ts";

const kept = (device: DeviceFake): string => JSON.stringify(device.runtime.layout());

describe("reserve, then finalize or compensate", () => {
  test("F089 D4 a place that is reserved is not seen, and is taken with one revision", () => {
    const device = new DeviceFake();
    const before = kept(device);
    const { result, appliedRevision } = device.reserve("new-tab", { title: "build", shell: "bash", cwd: "/tmp" });
    expect(Object.keys(result)).toEqual(["reservationId", "tabId", "paneId"]);
    expect(appliedRevision).toBeUndefined();
    expect([kept(device), device.saves]).toEqual([before, 0]);
    expect(device.finalize("new-tab", result["reservationId"], "term-1")).toEqual({
      ok: true,
      result: { tabId: result["tabId"], paneId: result["paneId"], terminalId: "term-1" },
      appliedRevision: 2,
    });
    expect(device.layout.panes).toMatchObject([{ kind: "terminal", contentRef: { terminalId: "term-1" } }]);
    expect(device.layout.tabs[0]?.title).toBe("build");
  });

  test("F091 after compensate the layout is byte for byte what it was", () => {
    const device = new DeviceFake();
    const { paneId } = device.tab("one");
    const [before, revision] = [device.kept, device.runtime.workspaceRevision];
    const requests = [
      ["new-tab", {}],
      ["split-pane", { target: `pane:${paneId}`, direction: "vertical" }],
      ["attach-terminal", { target: "terminal:t9", to: `pane:${paneId}` }],
    ] as const;
    for (const [command, args] of requests) {
      const { reservationId } = device.reserve(command, args).result;
      expect(device.done(command, { reservationId }, { phase: "compensate" })).toEqual({ ok: true, result: {} });
      expect(device.finalize(command, reservationId, "term")).toMatchObject({ error: { code: "NOT_FOUND" } });
      // Once more is the same.
      device.done(command, { reservationId }, { phase: "compensate" });
    }
    expect([device.kept, device.runtime.workspaceRevision]).toEqual([before, revision]);
  });

  test("F090 F098 what cannot be done is refused before anything is made", () => {
    const device = new DeviceFake();
    const { paneId } = device.tab("one");
    const refused = (command: "split-pane" | "attach-terminal" | "respawn-pane", args: object, more: object = {}) =>
      device.refused(command, args, { phase: "reserve", ...more }).code;
    const split = { target: `pane:${paneId}`, direction: "horizontal" };
    expect(refused("split-pane", split, { expectedRevision: 1 })).toBe("REVISION_CONFLICT");
    expect(refused("split-pane", split, { idempotencyKey: undefined })).toBe("INVALID_ARGUMENT");
    expect(refused("split-pane", { ...split, target: "pane:none" })).toBe("NOT_FOUND");
    expect(refused("split-pane", { ...split, browser: "https://x.org" })).toBe("INVALID_ARGUMENT");
    expect(refused("attach-terminal", { target: "terminal:t1", to: "pane-index:0" })).toBe("INVALID_ARGUMENT");
    expect(refused("respawn-pane", { target: `pane:${paneId}` })).toBe("INVALID_TARGET");
    // Neither while another terminal may come into the pane: it has not come, and there is none to restart.
    device.reserve("attach-terminal", { target: "terminal:t1", to: `pane:${paneId}` });
    expect(refused("respawn-pane", { target: `pane:${paneId}` })).toBe("INVALID_TARGET");
  });

  test("F096 F101 attaching and respawning change what one pane shows; the terminal before goes on", () => {
    const device = new DeviceFake();
    const { result } = device.reserve("new-tab", {});
    device.finalize("new-tab", result["reservationId"], "old");
    const target = `pane:${String(result["paneId"])}`;
    const attach = device.reserve("attach-terminal", { target: "terminal:new", to: target }).result;
    expect(attach).toMatchObject({ paneId: result["paneId"], contentRef: { terminalId: "old" } });
    expect(device.finalize("attach-terminal", attach["reservationId"], "new")).toMatchObject({
      result: { terminalId: "new", detachedTerminals: ["old"] },
      appliedRevision: 3,
    });
    const respawn = device.reserve("respawn-pane", { target }).result;
    expect(respawn["contentRef"]).toEqual({ terminalId: "new" });
    expect(device.finalize("respawn-pane", respawn["reservationId"], "new")).toEqual({
      ok: true,
      result: { tabId: result["tabId"], paneId: result["paneId"], terminalId: "new" },
      appliedRevision: 4,
    });
    expect(device.done("kill-pane", { target }).result["detachedTerminals"]).toEqual(["new"]);
  });

  test("other changes may come between, and the place is still behind the pane that was meant", () => {
    const device = new DeviceFake();
    const { tabId, paneId } = device.tab("one");
    const right = device.split(paneId);
    const args = { target: "pane-index:0", tab: "tab-name:one", direction: "vertical" };
    const { reservationId, paneId: reserved } = device.reserve("split-pane", args).result;
    device.done("rename-tab", { target: "tab-name:one", title: "other" });
    device.done("swap-pane", { source: `pane:${paneId}`, target: `pane:${right}` });
    expect(device.finalize("split-pane", reservationId, "t")).toMatchObject({ ok: true, appliedRevision: 6 });
    expect(device.layout.layouts[tabId]).toMatchObject({
      children: [{ id: right }, { children: [{ id: paneId }, { id: reserved }] }],
    });
    const next = device.reserve("split-pane", { target: `pane:${right}`, direction: "vertical" }).result;
    device.done("kill-pane", { target: `pane:${right}` });
    const before = kept(device);
    expect(device.finalize("split-pane", next["reservationId"], "t2")).toMatchObject({ error: { code: "NOT_FOUND" } });
    expect(kept(device)).toBe(before);
  });

  test("a place is kept for thirty seconds, whatever the wall clock says, and is no crash's legacy", () => {
    const device = new DeviceFake();
    const first = device.reserve("new-tab", {}).result["reservationId"];
    device.nowMs += 29_999;
    device.nowUnixMs -= 3_600_000;
    expect(device.finalize("new-tab", first, "a").ok).toBe(true);
    const second = device.reserve("new-tab", {}).result["reservationId"];
    device.nowMs += 30_000;
    expect(device.finalize("new-tab", second, "b")).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
    const third = device.reserve("new-tab", {}).result["reservationId"];
    device.restart();
    expect(device.finalize("new-tab", third, "c")).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
    expect(device.layout.tabs).toHaveLength(1);
  });

  test("places count: the last one that is free is given once", () => {
    const device = new DeviceFake(manyTabs(199));
    const { reservationId } = device.reserve("new-tab", {}).result;
    expect(device.refused("new-tab", {}, { phase: "reserve" }).code).toBe("RESOURCE_LIMIT");
    expect(device.refused("new-tab", { editor: "/x" }).code).toBe("RESOURCE_LIMIT");
    expect(device.finalize("new-tab", reservationId, "t").ok).toBe(true);
  });

  test("at most sixty-four are kept at once", () => {
    const device = new DeviceFake();
    for (let count = 0; count < 64; count += 1) device.reserve("new-tab", {});
    expect(device.refused("new-tab", {}, { phase: "reserve" })).toMatchObject({
      code: "RESOURCE_LIMIT",
      details: { limit: "reservations" },
    });
    device.nowMs += 30_000;
    device.reserve("new-tab", {});
  });
});

describe("keys", () => {
  const more = { idempotencyKey: "mine", expectedRevision: 1 };

  test("F160 a request that was done gets its result again, also after a crash and with the revision of then", () => {
    const device = new DeviceFake();
    const first = device.done("new-tab", { editor: "/x" }, more);
    device.tab("other");
    device.restart();
    expect(device.done("new-tab", { editor: "/x" }, more)).toEqual(first);
    expect(device.layout.tabs).toHaveLength(2);
  });

  test("F160 a place that was taken returns what came of it, a place that is kept is the same place", () => {
    const device = new DeviceFake();
    const reserve = () => device.reserve("new-tab", {}, more);
    const { result } = reserve();
    expect(reserve().result).toEqual(result);
    const done = device.finalize("new-tab", result["reservationId"], "t");
    expect(reserve()).toEqual(done);
    expect(device.layout.tabs).toHaveLength(1);
  });

  test("F161 a key that was given to something else is refused", () => {
    const device = new DeviceFake();
    device.done("new-tab", { editor: "/x" }, more);
    expect(device.refused("new-tab", { editor: "/y" }, more)).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(device.refused("open-editor", { target: "pane:x", filePath: "/x" }, more).code).toBe("INVALID_ARGUMENT");
    device.reserve("new-tab", {}, { idempotencyKey: "two" });
    const again = { phase: "reserve", idempotencyKey: "two" } as const;
    expect(device.refused("new-tab", { title: "x" }, again).code).toBe("INVALID_ARGUMENT");
    // Another caller's key is another key.
    expect(device.done("new-tab", { editor: "/y" }, { ...more, expectedRevision: 2, callerDeviceId: "other" }).ok).toBe(
      true,
    );
  });

  test("what was refused is not remembered", () => {
    const device = new DeviceFake();
    const select = () => device.ask("select-tab", { target: "tab-index:0" }, { idempotencyKey: "k" });
    expect(select().ok).toBe(false);
    device.tab("one");
    expect(select().ok).toBe(true);
  });

  test("a thousand are remembered, for a day, and a clock that is set back takes none away", () => {
    const before = new DeviceFake();
    before.tab("one");
    before.done("select-tab", { target: "tab-index:0" }, { idempotencyKey: "first" });
    const { requests } = before.saved;
    const first = requests[1]!;
    // Two and 998 others.
    const others = Array.from({ length: 998 }, (_, at) => ({ ...first, key: `more-${at}` }));
    const device = new DeviceFake({ ...before.saved, requests: [...requests, ...others] });
    const select = (key: string) =>
      device.done("select-tab", { target: "tab-index:0" }, { idempotencyKey: key }).appliedRevision;
    device.nowUnixMs -= 3_600_000;
    expect(select("first")).toBe(first.appliedRevision);
    select("new");
    expect(device.saved.requests).toHaveLength(1_000);
    // The oldest has gone, this one not yet.
    expect(select("first")).toBe(first.appliedRevision);
    select("newer");
    expect(select("first")).toBe(first.appliedRevision + 3);
    device.nowUnixMs += 2 * 86_400_000;
    expect(select("more-900")).toBe(first.appliedRevision + 4);
    expect(device.saved.requests).toHaveLength(1);
  });
});

describe("what was kept before", () => {
  const old = {
    tabs: [
      { id: "t1", title: "one", colour: "red" },
      { id: "t2", ownerDeviceId: "laptop" },
    ],
    layouts: { t1: { type: "leaf", id: "p1", content: { kind: "editor", filePath: "/x" } } },
    activeTabId: "t9",
  };

  test("F185 F206 F207 F208 a layout of nobody's is stamped once, and keeps what it has", () => {
    const device = new DeviceFake(old);
    expect(device.saved).toMatchObject({
      ownerDeviceId: "desk",
      workspaceRevision: 1,
      tabs: [
        { id: "t1", title: "one", ownerDeviceId: "desk", colour: "red", createdAt: device.nowUnixMs },
        { id: "t2", title: "Tab 2", ownerDeviceId: "laptop" },
      ],
      layouts: { t1: old.layouts.t1, t2: { type: "leaf", content: { kind: "picker" } } },
      activeTabId: "t1",
      activePane: { t1: "p1" },
    });
    device.done("rename-tab", { target: "tab:t1", title: "two" });
    const saves = device.saves;
    device.restart();
    expect([device.runtime.workspaceRevision, device.saves]).toEqual([2, saves]);
    expect(device.layout.tabs.map(({ ownerDeviceId }) => ownerDeviceId)).toEqual(["desk", "laptop"]);
  });

  test.each([7, "", "a b", null])(
    "F206 an owner that is no device's id is stamped as a missing one is: %j",
    (owner) => {
      const device = new DeviceFake({ ...old, tabs: [{ id: "t1", ownerDeviceId: owner }] });
      expect(device.layout.tabs[0]?.ownerDeviceId).toBe("desk");
    },
  );

  test("a layout of another device's becomes this one's with its revision, and its tabs keep their owner", () => {
    const first = new DeviceFake();
    first.tab("one");
    const second = new DeviceFake(first.saved, "laptop");
    expect(second.runtime.workspaceRevision).toBe(2);
    expect(second.layout.tabs[0]?.ownerDeviceId).toBe("desk");
    expect(second.saved.ownerDeviceId).toBe("laptop");
  });

  test.each([
    [[]],
    ["text"],
    [{ ...old, layouts: { t1: { type: "leaf" } } }],
    [{ ...old, tabs: [{ id: "__proto__" }] }],
  ])("what is no layout is refused, and left where it is: %j", (given) => {
    expect(() => new DeviceFake(given)).toThrowError(/layout/);
  });
});
