/**
 * Requests to the page that is the owner, as any device may send them (docs/contracts/freshell.md §6, §7): which reach it, what it
 * refuses by itself, what is asked again, who may change its layout, and what becomes of them while no page is open.
 */
import { rmSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import type { DeviceLayoutResponse } from "../../protocol/api/freshell/rpc.ts";
import { eventually } from "../support/clock/eventually.ts";
import { auditOf } from "../support/freshell/hybridKills.ts";
import { layoutForms, ownerForms } from "../support/freshell/rpcForms.ts";
import { NO_BROWSER } from "../support/page/browser.ts";
import { pageOwner } from "../support/page/pageOwner.ts";

const owner = pageOwner({ OWNER_TIMEOUT_MS: "3000" });

const refusedBy = (code: string, stage: "owner" | "relay"): object => ({ ok: false, error: { code, stage } });

describe.skipIf(NO_BROWSER !== undefined)("what reaches the page", () => {
  test("F003 F012 F153 F177 F184 each form is one frame, as it was asked, and one revision, over /ws too", async () => {
    for (const at of layoutForms().keys()) {
      const [command, args] = layoutForms(await owner().places({ picker: true }))[at]!;
      const request = await owner().request(command, args, { idempotencyKey: `form ${at}` });
      const caller = await owner().connect("caller");
      owner().asked.length = 0;
      caller.send(request);
      const revision = Number(request["expectedRevision"]) + 1;
      const { requestId } = request;
      const answer = await caller.next("layout.rpc.result", (frame) => frame["requestId"] === requestId);
      expect([command, answer]).toMatchObject([command, { requestId, ok: true, appliedRevision: revision }]);
      expect(owner().asked).toEqual([{ ...request, phase: "apply", deadlineMs: 3_000 }]);
      expect([command, (await owner().shown()).revision]).toEqual([command, revision]);
      await owner().clear();
    }
  });

  test("F066 F098 F178 F183 a revision that is not the layout's: REVISION_CONFLICT that tells it, nothing done", async () => {
    const at = await owner().places();
    const other = await owner().tab("another");
    const [before, shown, terminals] = [await owner().layout(), await owner().shown(), await owner().terminalIds()];
    const currentRevision = before.workspaceRevision;
    const hybrids = [
      ["new-tab", {}],
      ["split-pane", { target: other.pane, direction: "vertical", shell: "system" }],
      ["respawn-pane", { target: at.second }],
      ["attach-terminal", { target: `terminal:${terminals[0]!}`, to: other.pane }],
    ] as const;
    for (const [command, args] of [...layoutForms(at), ...hybrids]) {
      // What another tab's change has made of it, too.
      const stale = await owner().rpc(command, args, { expectedRevision: currentRevision - 1 });
      const error = { code: "REVISION_CONFLICT", stage: "owner", currentRevision, details: { currentRevision } };
      expect([command, stale]).toMatchObject([command, { status: 409, ok: false, error }]);
    }
    const { snapshot, workspaceRevision } = await owner().layout();
    expect([workspaceRevision, snapshot, await owner().shown()]).toEqual([currentRevision, before.snapshot, shown]);
    expect(await owner().terminalIds()).toEqual(terminals);
  });

  test("F186 two changes of one revision: one is done, the other a conflict", async () => {
    const { tab } = await owner().tab("race");
    const requests = await Promise.all(
      ["one", "two"].map((title) => owner().request("rename-tab", { target: tab, title })),
    );
    const outcomes = await Promise.all(requests.map((request) => owner().send(request)));
    expect(outcomes.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409]);
    expect((await owner().shown()).tabs).toEqual([outcomes[0]!.ok ? "one *" : "two *"]);
  });

  test("F042 two tabs of one name: AMBIGUOUS_TARGET that lists them, as target and as --tab", async () => {
    const twins = [await owner().tab("twin"), await owner().tab("twin")];
    const matches = twins.map(({ tab }) => tab.slice("tab:".length));
    const byPlace = { target: "pane-index:0", tab: "tab-name:twin" };
    for (const [command, args] of [
      ["kill-tab", { target: "tab-name:twin" }],
      ["kill-pane", byPlace],
      ["split-pane", { ...byPlace, direction: "vertical" }],
      ["resolve", byPlace],
      ["send-keys", { ...byPlace, keys: ["x"] }],
    ] as const) {
      const error = { code: "AMBIGUOUS_TARGET", stage: "owner", details: { matches } };
      expect([command, await owner().rpc(command, args)]).toMatchObject([command, { status: 400, ok: false, error }]);
    }
    expect([(await owner().shown()).tabs, await owner().terminalIds()]).toEqual([["twin", "twin *"], []]);
  });

  test("bounds: a browser that stores no more: nothing is changed, a terminal is told of; with room again it works", async () => {
    const { tab, pane } = await owner().tab("full");
    const { page } = owner();
    const fill =
      'for (let size = 4194304; size >= 1; size /= 2) try { localStorage.setItem("fill" + size, "x".repeat(size)) } catch {}';
    const before = await owner().shown();
    await page.evaluate(fill);
    const refused = await owner().rpc("rename-tab", { target: tab, title: "a longer title than the one before it" });
    expect(refused).toMatchObject({ status: 500, ...refusedBy("INTERNAL_ERROR", "owner") });
    const lost = await owner().rpc("split-pane", { target: pane, direction: "vertical" });
    expect(lost).toMatchObject({ status: 409, ...refusedBy("INCONSISTENT_STATE", "owner") });
    expect([await owner().shown(), (await owner().layout()).workspaceRevision]).toEqual([before, before.revision]);
    expect(await owner().daemon.terminals()).toMatchObject([{ orphan: true, status: "running" }]);
    await page.evaluate(
      'Object.keys(localStorage).filter((key) => key.startsWith("fill")).forEach((key) => localStorage.removeItem(key))',
    );
    expect(await owner().rpc("rename-tab", { target: tab, title: "room" })).toMatchObject({ ok: true });
    expect((await owner().shown()).tabs).toEqual(["room *"]);
  });

  test("bounds: titles of 256 characters, 16 levels of panes", async () => {
    const { pane } = await owner().tab("x".repeat(256));
    expect((await owner().shown()).tabs).toEqual([`${"x".repeat(256)} *`]);
    const split = (target: string) => owner().rpc("split-pane", { target, direction: "vertical", picker: true });
    let newest = pane;
    for (let level = 2; level <= 16; level += 1) {
      const made = await owner().done("split-pane", { target: newest, direction: "vertical", picker: true });
      newest = `pane:${made.paneId}`;
    }
    expect(await split(newest)).toMatchObject({ status: 429, ...refusedBy("RESOURCE_LIMIT", "owner") });
    expect(Object.keys((await owner().shown()).panes)).toHaveLength(16);
  });
});

describe.skipIf(NO_BROWSER !== undefined)("what is asked again", () => {
  test("F154 F155 F158 F160 silence is a time-out of its stage, what comes late is dropped, and asked again it is there", async () => {
    const { pane } = await owner().tab("silent");
    const split = (key: string, more: number): Promise<Record<string, unknown>> =>
      owner()
        .request("split-pane", { target: pane, direction: "vertical", picker: true }, { idempotencyKey: key })
        .then((request) => ({ ...request, expectedRevision: Number(request["expectedRevision"]) + more }));
    const [acknowledged, unheard] = [await split("acknowledged", 0), await split("unheard", 1)];
    let release = (): void => undefined;
    const kept = new Promise<boolean>((resolve) => {
      release = () => resolve(true);
    });
    // All that follows it from the page waits as well.
    const held = new Promise<void>((resolve) => {
      owner().watch = (from, { type }) => {
        if (from === "server" || type !== "layout.rpc.result") return true;
        resolve();
        return kept;
      };
    });
    const first = owner().send(acknowledged);
    await held;
    const second = owner().send(unheard);
    expect(await first).toMatchObject({ status: 504, ...refusedBy("OWNER_TIMEOUT", "owner") });
    expect(await second).toMatchObject({ status: 504, ...refusedBy("RPC_TIMEOUT", "relay") });
    release();
    const linesOf = ({ requestId }: Record<string, unknown>): readonly string[] =>
      auditOf(owner().scene.sandbox).flatMap((line) => (line.requestId === requestId ? [line.result] : []));
    await eventually(() => [acknowledged, unheard].every((one) => linesOf(one).length === 2));
    expect([linesOf(acknowledged), linesOf(unheard)]).toEqual([
      ["error", "late"],
      ["error", "late"],
    ]);
    owner().watch = () => true;
    for (const request of [acknowledged, unheard]) {
      const appliedRevision = Number(request["expectedRevision"]) + 1;
      expect(await owner().send({ ...request, requestId: "again" })).toMatchObject({ ok: true, appliedRevision });
    }
    expect(Object.keys((await owner().shown()).panes)).toHaveLength(3);
  });
});

describe.skipIf(NO_BROWSER !== undefined)("who may change the page's layout", () => {
  afterEach(() => owner().allow("*"));
  const login = async (deviceId: string): Promise<string> => {
    const session = { deviceId, deviceLabel: `label of ${deviceId}`, deviceType: "cli" };
    return String((await owner().daemon.call("POST", "/api/device-sessions", session)).json["deviceToken"]);
  };

  test("F198 F199 nobody unless it allows them; what is taken away is gone at once; nothing of it is sent", async () => {
    const { tab } = await owner().tab("mine");
    const [phone, tablet] = [await login("phone"), await login("tablet")];
    const rename = async (callerDeviceId: string, token: string): Promise<boolean> => {
      owner().asked.length = 0;
      const args = { target: tab, title: callerDeviceId };
      const request = await owner().request("rename-tab", args, { callerDeviceId });
      const answer = await owner().send(request, token);
      if (!answer.ok) {
        expect(answer).toMatchObject({ status: 401, ...refusedBy("UNAUTHORIZED", "relay") });
        const audited = auditOf(owner().scene.sandbox).at(-1);
        const { requestId } = request;
        expect(audited).toMatchObject({ requestId, callerDeviceId, result: "error", errorCode: "UNAUTHORIZED" });
      }
      expect(owner().asked.length).toBe(answer.ok ? 1 : 0);
      return answer.ok;
    };
    await owner().allow();
    expect([await rename("phone", phone), await rename("tablet", tablet)]).toEqual([false, false]);
    await owner().allow("phone");
    expect([await rename("phone", phone), await rename("tablet", tablet)]).toEqual([true, false]);
    expect((await owner().shown()).tabs).toEqual(["phone *"]);
    await owner().page.getByText("renamed the tab “mine” to “phone”").first().waitFor();
    await owner().page.reload();
    await owner().isBack();
    expect([await rename("phone", phone), await rename("tablet", tablet)]).toEqual([true, false]);
    await owner().allow("tablet");
    expect([await rename("phone", phone), await rename("tablet", tablet)]).toEqual([false, true]);
    // Or the server's own file does.
    const file = owner().scene.sandbox.path("home/.freshell/remote-control.json");
    writeFileSync(file, JSON.stringify({ [owner().deviceId]: ["phone"] }), { mode: 0o600 });
    expect(await rename("phone", phone)).toBe(true);
    rmSync(file);
    expect(await rename("phone", phone)).toBe(false);
  });

  test("F004 F005 F006 F043 F064 F078 F102 F157 F167 F168 F170 F171 while no page is open", async () => {
    const at = await owner().places();
    const { daemon, deviceId } = owner();
    const [terminalId = ""] = await owner().terminalIds();
    const [before, revision] = [await owner().layout(), await owner().revision()];
    await owner().page.close();
    await eventually(async () => (await daemon.call("GET", `/api/devices/${deviceId}`)).json["online"] === false);
    const attach = ["attach-terminal", { target: `terminal:${terminalId}`, to: at.pane }] as const;
    for (const [command, args] of [...ownerForms(at), attach])
      expect([command, await owner().rpc(command, args)]).toMatchObject([
        command,
        { status: 503, ...refusedBy("DEVICE_OFFLINE", "relay") },
      ]);
    expect((await owner().scene.refusal("kill-tab", "--device", deviceId, "--target", at.tab)).exitCode).toBe(5);
    expect((await daemon.call("GET", `/api/devices/${deviceId}/layout`)).status).toBe(503);
    const stale = await daemon.call("GET", `/api/devices/${deviceId}/layout?allowStale=1`);
    const { source, ownerOnline, snapshot } = stale.json as unknown as DeviceLayoutResponse;
    expect([source, ownerOnline, snapshot]).toEqual(["cache", false, before.snapshot]);
    await owner().scene.data("send-keys", "--target", `terminal:${terminalId}`, "echo alone-$((40+2))", "Enter");
    await owner().scene.data("wait-for", "--target", `terminal:${terminalId}`, "-p", "alone-42", "--from", "tail:50");
    owner().asked.length = 0;
    const page = await owner().another();
    await owner().isBack();
    const after = await owner().layout();
    expect([after.source, after.workspaceRevision, after.snapshot]).toEqual(["live", revision, before.snapshot]);
    expect(owner().asked.map(({ phase }) => phase)).toEqual(["read"]);
    await page.locator(`[data-terminal="${terminalId}"]`).getByText("alone-42").first().waitFor();
  });
});
