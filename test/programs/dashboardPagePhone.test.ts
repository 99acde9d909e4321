/** A pane on a phone: its text wrapped to the width, its keys and the buttons of the question below it. */
import { describe, expect, test } from "vitest";
import { outputFrame, permissionCard, snapshotFrames } from "../support/daemon/dashboardCards.ts";
import { NO_BROWSER } from "../support/page/browser.ts";
import { cardOf, pageScenes, sentBy } from "../support/page/pageScene.ts";

const { sceneWith } = pageScenes();

const LONG = `${"a line of the pane that is far wider than any phone ".repeat(2)}end`;
const SCREEN = `${"─".repeat(120)}\r\n${LONG}\r\n\x1b[31m<b>red</b>\x1b[0m\r\n> `;

describe.skipIf(NO_BROWSER !== undefined)("a pane", () => {
  test.each([320, 360])("of 120 columns is read at %i pixels, in a font that can be read", async (width) => {
    await using at = await sceneWith({ viewport: { width, height: 740 }, hasTouch: true }, [permissionCard(1)]);
    const { page, fake } = at;
    fake.pane = snapshotFrames(120, 30, SCREEN);
    await cardOf(page, 1).getByRole("button", { name: "Open pane" }).click();
    const text = page.getByRole("region", { name: "Screen of project-1" });
    await text.getByText(LONG).waitFor();
    const red = `getComputedStyle([...document.querySelectorAll(".wrapped span")].find((one) => one.textContent === "<b>red</b>")).color`;
    expect(await page.evaluate(red)).toBe("rgb(204, 0, 0)");
    const sizes = await page.evaluate<readonly number[]>(`(() => {
      const screen = document.querySelector(".screen");
      const font = parseFloat(getComputedStyle(document.querySelector(".wrapped")).fontSize);
      const parts = [...document.querySelectorAll(".pane *:not(.true-columns, .true-columns *, .rule *)")];
      const right = Math.max(...parts.map((part) => part.getBoundingClientRect().right));
      return [Math.max(0, right - innerWidth), screen.scrollWidth - screen.clientWidth, font];
    })()`);
    expect(sizes).toEqual([0, 0, 14]);
    // Live, and a line that is overwritten is not added.
    fake.toPane(outputFrame("typed\r> typed more"));
    await text.getByText("> typed more").waitFor();
    expect(await text.getByText("typed").count()).toBe(1);
    // The question's buttons are in reach, below it.
    const yes = page.locator(".pane-reply").getByRole("button", { name: /^1\. Yes/ });
    const box = await yes.boundingBox();
    expect(box!.y + box!.height).toBeLessThanOrEqual(740);
    await sentBy(fake, () => yes.click());
    expect(fake.responds).toMatchObject([{ body: { mode: "select", option_index: 0 } }]);
  });

  test("is shown in its own columns when that is chosen, here and next time", async () => {
    await using at = await sceneWith({ viewport: { width: 360, height: 740 } }, [permissionCard(1)]);
    const { page, fake } = at;
    fake.pane = snapshotFrames(120, 30, SCREEN);
    await cardOf(page, 1).getByRole("button", { name: "Open pane" }).click();
    await page.locator(".wrapped").getByText(LONG).waitFor();
    await page.getByRole("button", { name: "True columns" }).click();
    await page.locator(".true-columns").getByText("far wider").first().waitFor();
    expect(await page.locator(".wrapped").isVisible()).toBe(false);
    await page.reload();
    await cardOf(page, 1).getByRole("button", { name: "Open pane" }).click();
    await page.getByRole("button", { name: "Reflow" }).click();
    await page.locator(".wrapped").getByText(LONG).waitFor();
    // Nothing is asked of the pane for it.
    expect(fake.operations).toEqual([]);
  });

  test("is typed into where its text stands, with the keys below it", async () => {
    await using at = await sceneWith({ viewport: { width: 360, height: 740 }, hasTouch: true }, [permissionCard(1)]);
    const { page, fake } = at;
    fake.pane = snapshotFrames(120, 30, SCREEN);
    await cardOf(page, 1).getByRole("button", { name: "Open pane" }).click();
    await page.locator(".wrapped").getByText(LONG).waitFor();
    await page.getByRole("button", { name: "Take control" }).click();
    await page.locator(".wrapped").click();
    await sentBy(fake, () => page.keyboard.press("x"));
    await sentBy(fake, () => page.getByRole("group", { name: "Keys" }).getByText("Esc").click());
    expect(fake.inputs).toEqual(["x", "\u001b"]);
    const places = await page.evaluate<readonly number[]>(
      `[".screen", ".pane-keys", ".pane-reply"].map((one) => document.querySelector(one).getBoundingClientRect().top)`,
    );
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });
});
