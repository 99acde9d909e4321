/** What a person types while the page is drawn anew: no key of it becomes an answer, or a shortcut. */
import { describe, expect, test } from "vitest";
import { NO_BROWSER } from "../support/page/browser.ts";
import { card, listCard, permissionCard, running, snapshotFrames, textCard } from "../support/daemon/dashboardCards.ts";
import { cardOf, pageScenes, sentBy } from "../support/page/pageScene.ts";
import type { Page } from "playwright-core";

const { scene } = pageScenes();

/** Whatever the page could do by a key. */
const opened = (page: Page) => page.locator("dialog, .pane").count();

describe.skipIf(NO_BROWSER !== undefined)("what is typed when its place has gone answers nothing", () => {
  test("an answer to a question that was answered elsewhere", async () => {
    await using at = await scene(textCard(1), permissionCard(2));
    const { page } = at;
    await cardOf(page, 1).getByLabel("Your answer").click();
    await page.keyboard.type("no");
    at.fake.card(card(1, { state: "PROCESSING" }));
    await cardOf(page, 1).getByText("Working").waitFor();
    await page.keyboard.type("n1do 1 2");
    expect([at.fake.responds, await opened(page)]).toEqual([[], 0]);
  });

  test("an answer to a question in whose place there is another", async () => {
    await using at = await scene(textCard(1));
    const { page } = at;
    await cardOf(page, 1).getByLabel("Your answer").click();
    await page.keyboard.type("either, but ");
    at.fake.card(listCard(1));
    await cardOf(page, 1).getByText("PostgreSQL").waitFor();
    // Longer than a question that has just changed takes no press.
    for (const key of "1 and 2, then 3") await page.keyboard.press(key, { delay: 40 });
    expect([at.fake.responds, await opened(page)]).toEqual([[], 0]);
  });

  test("a prompt for an agent that has ended", async () => {
    await using at = await scene(card(1, { running: running() }), permissionCard(2));
    const { page } = at;
    await cardOf(page, 1).getByRole("button", { name: "Prompt" }).click();
    await page.keyboard.type("fix ");
    at.fake.event("session_ended", { agent_id: 1 });
    await cardOf(page, 1).waitFor({ state: "detached" });
    await page.keyboard.type("1, then 2");
    expect([at.fake.responds, await opened(page)]).toEqual([[], 0]);
  });

  test("keys for a pane whose agent has ended", async () => {
    await using at = await scene(card(1), permissionCard(2));
    const { page } = at;
    at.fake.pane = snapshotFrames(40, 5, "ready");
    await cardOf(page, 1).getByRole("button", { name: "Open pane" }).click();
    await page.getByRole("button", { name: "Take control" }).click();
    await page.keyboard.type("/exit");
    at.fake.event("session_ended", { agent_id: 1 });
    await cardOf(page, 1).waitFor({ state: "detached" });
    await page.keyboard.type("1");
    expect([at.fake.responds, await opened(page)]).toEqual([[], 0]);
  });

  test("keys in a dialog whose field has gone", async () => {
    await using at = await scene(card(1, { running: running() }), permissionCard(2));
    const { page } = at;
    await cardOf(page, 1).click();
    await page.keyboard.press("p");
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "New template" }).click();
    await dialog.getByLabel("Text").fill("Run the tests");
    await dialog.getByLabel("Name").fill("tests");
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Edit tests" }).waitFor();
    await page.keyboard.type("n1");
    expect(at.fake.responds).toEqual([]);
  });
});

test.skipIf(NO_BROWSER !== undefined).each([
  ["says so", "isComposing: true"],
  // Safari.
  ["does not", "keyCode: 229"],
])("an Enter that ends a composition sends nothing, in a browser that %s", async (_which, said) => {
  await using at = await scene(textCard(1));
  const { page } = at;
  await cardOf(page, 1).getByLabel("Your answer").fill("はい");
  await page.evaluate(
    `document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ${said} }))`,
  );
  await sentBy(at.fake, () => page.keyboard.type("。\n"));
  expect(at.fake.responds.map(({ body }) => body["text"])).toEqual(["はい。"]);
});
