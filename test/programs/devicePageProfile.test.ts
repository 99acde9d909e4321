/** F245: pages of one browser profile. One is the device, the others show the same; and what an earlier page has stored. */
import { describe, expect, test } from "vitest";
import { NO_BROWSER } from "../support/page/browser.ts";
import { deviceScenes, screenOf, typeCommand } from "../support/page/devicePageScene.ts";
import { siteOf } from "../support/page/otherSite.ts";

const scenes = deviceScenes();

describe.skipIf(NO_BROWSER !== undefined)("F245: two pages of one profile", () => {
  test("one owns, the other mirrors and sends what is asked of it there; the owner goes, and the other takes over", async () => {
    await using at = await scenes.open();
    const { page } = at;
    const second = await page.context().newPage();
    second.setDefaultTimeout(30_000);
    await second.goto(`${at.freshell.url}/device/`);
    await second.locator('.device[data-role="mirror"][data-link="live"]').waitFor();
    expect(await page.locator(".device").getAttribute("data-role")).toBe("owner");
    expect(await at.rpc("new-tab", { title: "both" })).toMatchObject({ ok: true, appliedRevision: 2 });
    for (const one of [page, second]) await one.getByRole("tab", { name: "both" }).waitFor();
    // Applied once.
    expect((await at.layout()).snapshot.tabs.map(({ title }) => title)).toEqual(["both"]);
    // By the mirror: a terminal, through the owner; what is typed in one is seen in the other.
    await second.bringToFront();
    await second.keyboard.press("Alt+Shift+T");
    await second.locator(".tab.active", { hasText: "Tab 2" }).waitFor();
    await typeCommand(second, screenOf(second), "mirrored");
    await screenOf(page).getByText("mirrored-42").first().waitFor();
    const before = await at.layout();
    expect([before.workspaceRevision, before.snapshot.tabs.length]).toEqual([3, 2]);
    await second.keyboard.press("Alt+Shift+R");
    await second.keyboard.type("by the mirror");
    await second.keyboard.press("Enter");
    await page.getByRole("tab", { name: "by the mirror" }).waitFor();
    await page.close();
    await second.locator('.device[data-role="owner"][data-link="live"]').waitFor();
    await expect
      .poll(async () => (await at.rpc("rename-tab", { target: "tab-index:0", title: "after" })).ok)
      .toBe(true);
    await second.getByRole("tab", { name: "after" }).waitFor();
    expect((await at.layout()).workspaceRevision).toBe(5);
    await typeCommand(second, screenOf(second), "still");
  });

  test("another owner of the same device takes its place, and it says so and can take it back", async () => {
    await using at = await scenes.open();
    const device = { deviceId: at.deviceId, deviceLabel: "thief", deviceType: "browser", role: "owner" };
    await at.freshell.connect({ device });
    await at.page.getByText("Another connection is this device now.").waitFor();
    await at.page.getByRole("button", { name: "Take it back" }).click();
    await at.page.locator('.device[data-role="owner"][data-link="live"]').waitFor();
    expect(await at.rpc("new-tab", { picker: true })).toMatchObject({ ok: true });
  });

  test("tabs of an earlier page are taken over; a page of another site cannot frame this one", async () => {
    const tabs = { tabs: { activeTabId: "t1", tabs: [{ id: "t1", title: "old", mode: "shell", createdAt: 1 }] } };
    const content = { kind: "terminal", mode: "shell", status: "creating", createRequestId: "r", initialCwd: "/tmp" };
    const panes = { version: 4, layouts: { t1: { type: "leaf", id: "p1", content } }, activePane: { t1: "p1" } };
    const put = (key: string, value: object): string =>
      `localStorage.setItem(${JSON.stringify(key)}, ${JSON.stringify(JSON.stringify(value))});`;
    await using at = await scenes.open({ before: put("freshell.tabs.v1", tabs) + put("freshell.panes.v1", panes) });
    const { page } = at;
    await page.getByRole("tab", { name: "old" }).waitFor();
    const { workspaceRevision, snapshot } = await at.layout();
    expect([workspaceRevision, snapshot.tabs.map(({ id, ownerDeviceId }) => [id, ownerDeviceId])]).toEqual([
      1,
      [["t1", at.deviceId]],
    ]);
    await page.getByRole("button", { name: "Start again what was here: shell in /tmp" }).click();
    await typeCommand(page, screenOf(page), "back");
    await using site = await siteOf(() => `<iframe src="${at.freshell.url}/device/"></iframe>`);
    const other = await page.context().newPage();
    const framed = other.waitForResponse(`${at.freshell.url}/device/`);
    await other.goto(site.url);
    expect((await framed).status()).toBe(403);
  });
});
