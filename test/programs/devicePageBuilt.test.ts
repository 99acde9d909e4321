/** F244: what is shipped, together: the daemon, the page it serves in a browser, and the command line that drives it. */
import { expect, test } from "vitest";
import type { PaneList } from "../../adapters/freshell/cli/deviceCalls.ts";
import { AUTH_TOKEN, freshellScene } from "../support/freshell/freshellScene.ts";
import { NO_BROWSER, startBrowser } from "../support/page/browser.ts";

if (NO_BROWSER !== undefined) process.stdout.write(`${NO_BROWSER}\n`);

test.skipIf(NO_BROWSER !== undefined)("freshell new-tab and split-pane --device reach a page", async () => {
  await using scene = await freshellScene();
  await using browser = await startBrowser();
  await using opened = await browser.open(`${scene.url}/device/`);
  const { page } = opened;
  await page.getByLabel("The server's token").fill(AUTH_TOKEN);
  await page.keyboard.press("Enter");
  await page.locator('.device[data-link="live"]').waitFor();
  const deviceId = await page.evaluate<string>('JSON.parse(localStorage.getItem("freshell.device.v1")).deviceId');
  const at = ["--device", deviceId];
  expect(await scene.refusal("new-tab", ...at, "-n", "build")).toMatchObject({ exitCode: 6, code: "UNAUTHORIZED" });
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByLabel("Every device that is logged in").check();
  await page.keyboard.press("Escape");
  await expect.poll(async () => (await scene.run("new-tab", ...at, "-n", "build")).code, { timeout: 60_000 }).toBe(0);
  await page.getByRole("tab", { name: "build" }).waitFor();
  const [pane] = (await scene.data<PaneList>("list-panes", ...at)).panes;
  const target = ["--target", `pane:${pane?.id}`];
  await scene.data("send-keys", ...at, ...target, "echo made-$((40+2))", "Enter");
  await page.locator(".terminal-pane").getByText("made-42").waitFor();
  await scene.data("split-pane", ...at, ...target, "--direction", "vertical", "--editor", scene.sandbox.path("notes"));
  await page.locator('[data-file="failed"]').getByText("neither in the home directory").waitFor();
  await page.getByText("split a pane of “build”").waitFor();
  expect((await scene.data<PaneList>("list-panes", ...at)).panes.map(({ kind }) => kind)).toEqual([
    "terminal",
    "editor",
  ]);
  expect(opened.wrongs).toEqual([]);
});
