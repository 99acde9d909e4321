/** Templates on the page: written, used and removed by keyboard. */
import { describe, expect, test } from "vitest";
import { card, running } from "../support/daemon/dashboardCards.ts";
import { NO_BROWSER } from "../support/page/browser.ts";
import { cardOf, pageScenes, sentBy } from "../support/page/pageScene.ts";

const { scene } = pageScenes();
const agent = (id: number) =>
  card(id, { running: running({ id: `agent-00000000000${id}`, name: `api-${id}`, branch: "main" }) });

describe.skipIf(NO_BROWSER !== undefined)("a template", () => {
  test("is kept, put into the prompt of an agent with what is known of it, changed and removed, by keys alone", async () => {
    await using at = await scene(agent(1), agent(2));
    const { page, fake } = at;
    const dialog = page.getByRole("dialog");
    await cardOf(page, 1).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("p");
    await dialog.getByText("None yet").waitFor();
    await dialog.getByRole("button", { name: "New template" }).press("Enter");
    // The name has the focus.
    await page.keyboard.type("<b>review</b>");
    await page.keyboard.press("Tab");
    await page.keyboard.type("Review {branch} in {cwd}, {name}");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const use = dialog.getByRole("button", { name: /^<b>review<\/b>/ });
    await use.waitFor();
    expect(fake.templates).toEqual([{ name: "<b>review</b>", text: "Review {branch} in {cwd}, {name}" }]);
    await use.press("Enter");
    await dialog.waitFor({ state: "detached" });
    const box = page.locator("#agent-1-prompt");
    expect(await box.inputValue()).toBe("Review main in /srv/shop, api-1");
    expect(await page.evaluate("document.activeElement.id")).toBe("agent-1-prompt");
    await page.keyboard.type(" now");
    fake.operated.push({ status: 200, body: { outcome: "submitted", reason: null } });
    await sentBy(fake, () => page.keyboard.press("Enter"));
    expect(fake.operations).toMatchObject([{ body: { text: "Review main in /srv/shop, api-1 now", when: "idle" } }]);

    // Of another agent, below what is written; by the button of its box.
    await page.locator("#agent-2").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("First");
    await cardOf(page, 2).getByRole("button", { name: "Templates for" }).press("Enter");
    await dialog.getByRole("button", { name: "Edit <b>review</b>" }).press("Enter");
    await page.keyboard.type("x");
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: /^<b>review<\/b>x/ }).press("Enter");
    expect(await page.locator("#agent-2-prompt").inputValue()).toBe("First\nReview main in /srv/shop, api-2");

    await cardOf(page, 2).getByRole("button", { name: "Templates for" }).click();
    await dialog.getByRole("button", { name: "Edit <b>review</b>x" }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await dialog.getByRole("button", { name: "Remove it?" }).click();
    await dialog.getByText("None yet").waitFor();
    expect(fake.templates).toEqual([]);
    // What is written can become one.
    await dialog.getByRole("button", { name: "Keep what is written as a template" }).click();
    expect(await dialog.getByLabel("Text").inputValue()).toContain("First\nReview main");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });
});
