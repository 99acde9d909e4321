/** The browser as a device: the page in Chromium, the daemon's parts, real tmux, and other devices that ask for things. */
import { describe, expect, test } from "vitest";
import { NO_BROWSER } from "../support/page/browser.ts";
import { deviceScenes, screenOf, typeCommand } from "../support/page/devicePageScene.ts";

const scenes = deviceScenes();

describe.skipIf(NO_BROWSER !== undefined)("F244: the page is a device", () => {
  test("another device opens a tab with a terminal and splits it: both are painted, typed into, and in the layout", async () => {
    await using at = await scenes.open();
    const { page } = at;
    const made = await at.rpc("new-tab", { title: "build" });
    expect(made).toMatchObject({ ok: true, appliedRevision: 2, result: { terminalId: expect.any(String) as unknown } });
    await page.getByRole("tab", { name: "build" }).waitFor();
    await typeCommand(page, screenOf(page), "first");
    const [pane] = (await at.layout()).snapshot.panes;
    const split = await at.rpc("split-pane", { target: `pane:${pane?.id}`, direction: "horizontal" });
    expect(split).toMatchObject({ ok: true, appliedRevision: 3 });
    await screenOf(page, 1).waitFor();
    const { snapshot, workspaceRevision } = await at.layout();
    expect([workspaceRevision, snapshot.tabs.map(({ title, ownerDeviceId }) => [title, ownerDeviceId])]).toEqual([
      3,
      [["build", at.deviceId]],
    ]);
    expect(snapshot.panes.map(({ kind }) => kind)).toEqual(["terminal", "terminal"]);
    await page.getByText("split a pane of “build”").waitFor();
  });
});
