/** Answers from the page in a real browser: by mouse, by keyboard, and such as fail. The server says what the test wants. */
import { describe, expect, test } from "vitest";
import { NO_BROWSER } from "../support/page/browser.ts";
import { card, permissionCard, readiness, running, severalCard, textCard } from "../support/daemon/dashboardCards.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cardOf, pageScenes, sentBy } from "../support/page/pageScene.ts";

const { scene } = pageScenes();

describe.skipIf(NO_BROWSER !== undefined)("the page", () => {
  test("sends an option with the dialog it belongs to, says what became of it, and lets the card go", async () => {
    await using at = await scene(permissionCard(1, { dialogId: "d9" }));
    await eventually(async () => (await at.page.title()) === "(1) tmuxwire");
    const second = at.page.getByRole("button", { name: /don't ask again/ });
    expect(await second.locator("kbd").textContent()).toBe("2");
    await sentBy(at.fake, () => second.click());
    expect(at.fake.responds).toMatchObject([
      { agentId: 1, body: { mode: "select", option_index: 1, dialog_id: "d9" } },
    ]);
    expect(at.fake.responds[0]?.key).toMatch(/^[0-9a-f]{32}$/);
    await cardOf(at.page, 1).getByText("submitted · 84 ms").waitFor();
    at.fake.card(card(1, { state: "PROCESSING", readiness: readiness("busy", "title") }));
    await cardOf(at.page, 1).getByText("Working").waitFor();
    expect(await cardOf(at.page, 1).getByRole("button", { name: "Yes" }).count()).toBe(0);
    await eventually(async () => (await at.page.title()) === "tmuxwire");
  });

  test("writes an answer of several lines: Shift+Enter is a line, Enter sends", async () => {
    await using at = await scene(textCard(1));
    const text = cardOf(at.page, 1).getByLabel("Your answer");
    await text.click();
    await at.page.keyboard.type("first");
    await at.page.keyboard.press("Shift+Enter");
    await at.page.keyboard.type("second; -x 🌊");
    await sentBy(at.fake, () => at.page.keyboard.press("Enter"));
    expect(at.fake.responds[0]?.body).toEqual({ mode: "text", text: "first\nsecond; -x 🌊" });
    await cardOf(at.page, 1).getByText("submitted").waitFor();
    expect(await text.inputValue()).toBe("");
  });

  test("one that nobody saw taken is not called delivered, and its question stays", async () => {
    await using at = await scene(textCard(1));
    const ok = { status: "ok", agent_id: 1, mode: "text", new_state: "awaiting_input", latency_ms: 2100 };
    at.fake.answers.push({ status: 200, body: { ...ok, delivery: "echoed_unconfirmed" } });
    await cardOf(at.page, 1).getByLabel("Your answer").click();
    await at.page.keyboard.type("go on");
    await sentBy(at.fake, () => at.page.keyboard.press("Enter"));
    const line = cardOf(at.page, 1).locator(".delivery.unsure");
    await line.waitFor();
    expect(await line.textContent()).toBe(
      "typed and entered, but the agent has not shown that it took it: look at the pane · 2100 ms",
    );
    expect(await cardOf(at.page, 1).getByLabel("Your answer").count()).toBe(1);
    const last_delivery = { delivery: "echoed_unconfirmed", mode: "text", latency_ms: 2100, at_unix_ms: Date.now() };
    await using later = await scene({ ...textCard(1), last_delivery });
    const remembered = await later.page.locator(".delivery.unsure").textContent();
    expect(remembered).toMatch(/^last answer: typed and entered, but the agent has not shown/);
  });

  test("one for a program that is not there any more says so, and that nothing runs by it", async () => {
    await using at = await scene(textCard(1));
    const message = "A shell reads from the pane, so the text would be a command; start the agent, then try again.";
    const failure = { status: "error", error_type: "wrong_state", reason: "program_changed", message };
    at.fake.answers.push({ status: 409, body: failure });
    await cardOf(at.page, 1).getByLabel("Your answer").click();
    await at.page.keyboard.type("touch x");
    await sentBy(at.fake, () => at.page.keyboard.press("Enter"));
    const alert = cardOf(at.page, 1).getByRole("alert");
    await alert.waitFor();
    expect(await alert.textContent()).toBe(`not delivered, another program reads from the pane now — ${message}`);
    // What was written is not lost.
    expect(await cardOf(at.page, 1).getByLabel("Your answer").inputValue()).toBe("touch x");
    expect(at.fake.responds.length).toBe(1);
  });

  test("the option behind which text is taken leads to the text", async () => {
    await using at = await scene(permissionCard(1));
    await at.page.getByRole("button", { name: /tell Claude/ }).click();
    await at.page.keyboard.type("use pnpm");
    await sentBy(at.fake, () => at.page.keyboard.press("Enter"));
    expect(at.fake.responds[0]?.body).toEqual({ mode: "other", text: "use pnpm", dialog_id: "dialog-1" });
  });

  test("what would change in files is shown by signs, as text, and how much is not shown", async () => {
    const lines = [" const a = 1;", "-const b = 2;", "+const b = <b>3</b>;", `+${"long".repeat(100)}`];
    const files = [
      { path: "/srv/shop/src/<i>a</i>.ts", whole: false, lines, more: 0 },
      { path: "/srv/shop/new.ts", whole: true, lines: ["+x"], more: 41 },
    ];
    const screen =
      "Edit file\nprices.ts\n4  const a = 4;\n5 -const b = 5;\n5 +const b = 50;\nDo you want to make this edit?";
    await using at = await scene(
      { ...permissionCard(1, { text: "Edit: /srv/shop/src/a.ts" }), question_options: { diff: { files, more: 2 } } },
      permissionCard(2, { text: screen }),
    );
    const first = cardOf(at.page, 1);
    const region = first.getByRole("region", { name: "Changes to /srv/shop/src/<i>a</i>.ts" });
    await region.waitFor();
    expect(await region.locator(".diff-line").allTextContents()).toEqual(lines);
    expect(await region.locator(".added, .removed").allTextContents()).toEqual(lines.slice(1));
    expect(await first.locator("figcaption").allTextContents()).toEqual([
      "/srv/shop/src/<i>a</i>.ts +2 −1",
      "/srv/shop/new.ts its whole content",
    ]);
    await first.getByText("… 41 more lines").waitFor();
    await first.getByText("… 2 more files").waitFor();
    const second = cardOf(at.page, 2);
    await second.locator(".diff-line").first().waitFor();
    expect(await second.locator(".question").textContent()).toBe(
      "Edit file\nprices.ts\nDo you want to make this edit?",
    );
    expect(await second.locator(".diff-line").allTextContents()).toEqual([
      "4  const a = 4;",
      "5 -const b = 5;",
      "5 +const b = 50;",
    ]);
    await at.page.setViewportSize({ width: 320, height: 800 });
    expect(await at.page.evaluate("document.documentElement.scrollWidth")).toBe(320);
  });

  test("several choices go together, of one question or of more", async () => {
    const questions = [
      { question: "Which language?", options: [{ label: "Go", description: "small" }, { label: "Rust" }] },
      {
        question: "Which checks?",
        multiSelect: true,
        options: [{ label: "Types" }, { label: "Lint" }, { label: "Tests" }],
      },
    ];
    await using at = await scene(severalCard(1), { ...severalCard(2), question_options: { questions } });
    for (const label of ["Live tests", "Types"]) await cardOf(at.page, 1).getByLabel(label).check();
    await sentBy(at.fake, () => at.page.getByRole("button", { name: "Send 2 choices" }).click());
    expect(at.fake.responds[0]?.body["answers"]).toEqual([{ option_indices: [0, 3] }]);
    const send = cardOf(at.page, 2).locator("button[type=submit]");
    expect([await send.isDisabled(), await send.textContent()]).toEqual([true, "Choose: 2 to go"]);
    for (const label of ["Go", "Rust", "Lint", "Tests"]) await cardOf(at.page, 2).getByLabel(label).check();
    await sentBy(at.fake, () => send.click());
    expect(at.fake.responds[1]?.body["answers"]).toEqual([{ option_index: 1 }, { option_indices: [1, 2] }]);
  });

  test("a quick key is one press, Control-C two", async () => {
    await using at = await scene(textCard(1), permissionCard(2));
    // Where options are read, these are the keys.
    await at.page.getByRole("button", { name: /don't ask again/ }).waitFor();
    await expect.poll(() => at.page.getByRole("group", { name: "Press a key in the pane" }).count()).toBe(1);
    const quick = cardOf(at.page, 1).getByRole("group", { name: "Press a key in the pane" });
    await sentBy(at.fake, () => quick.getByText("Esc").click());
    await quick.getByText("C-c").click();
    await sentBy(at.fake, () => quick.getByText("C-c ?").click());
    expect(at.fake.responds.map(({ body }) => body["keys"])).toEqual([["Escape"], ["C-c"]]);
  });

  test("a question that comes while a prompt is being written gets none of its keys", async () => {
    const found = { running: running() };
    await using at = await scene(card(1, { state: "PROCESSING", ...found }));
    at.fake.operated.push({ status: 200, body: { outcome: "waiting", reason: null } });
    const { page } = at;
    await cardOf(page, 1).click();
    await page.keyboard.press("/");
    await page.keyboard.type("1 more");
    at.fake.card({ ...permissionCard(1), ...found });
    await cardOf(page, 1).getByText("Input needed").waitFor();
    await page.keyboard.type(", then 2");
    await sentBy(at.fake, () => page.keyboard.press("Enter"));
    expect(at.fake.responds).toEqual([]);
    expect(at.fake.operations).toMatchObject([{ body: { text: "1 more, then 2", when: "idle" } }]);
    // Also while nothing has been written.
    at.fake.card(card(1, { state: "PROCESSING", ...found }));
    await cardOf(page, 1).getByText("Working").waitFor();
    await page.keyboard.press("/");
    at.fake.card({ ...permissionCard(1, { dialogId: "next" }), ...found });
    await cardOf(page, 1).getByText("Input needed").waitFor();
    await page.keyboard.type("1");
    expect(await page.locator("#agent-1-prompt").inputValue()).toBe("1");
    expect(at.fake.responds).toEqual([]);
  });

  test("an agent at work can be interrupted", async () => {
    await using at = await scene(card(1, { state: "PROCESSING", readiness: readiness("busy", "title") }));
    await sentBy(at.fake, () => at.page.getByRole("button", { name: "Interrupt" }).click());
    expect(at.fake.responds[0]?.body).toEqual({ mode: "keys", keys: ["Escape"] });
    await cardOf(at.page, 1).getByText("key sent · 84 ms").waitFor();
  });

  test("everything can be done from the keyboard", async () => {
    await using at = await scene(permissionCard(1, { agoMs: 90_000 }), textCard(2, { agoMs: 1_000 }), severalCard(3));
    await cardOf(at.page, 3).waitFor();
    const focused = () => at.page.evaluate<string>("document.activeElement.id");
    // Several ask, nobody is selected: a digit is meant for no one.
    await at.page.keyboard.press("1");
    await at.page.keyboard.press("j");
    expect(await focused()).toBe("agent-1");
    await sentBy(at.fake, () => at.page.keyboard.press("1"));
    expect(at.fake.responds).toMatchObject([{ agentId: 1, body: { mode: "select", option_index: 0 } }]);
    await at.page.keyboard.press("j");
    await at.page.keyboard.press("2");
    await at.page.keyboard.press("4");
    expect(await cardOf(at.page, 3).getByRole("checkbox", { checked: true }).count()).toBe(2);
    await at.page.keyboard.press("ArrowDown");
    expect(await focused()).toBe("agent-2");
    await at.page.keyboard.press("/");
    expect(await focused()).toBe("agent-2-text");
    await at.page.keyboard.type("j1?");
    await at.page.keyboard.press("Escape");
    expect(await focused()).toBe("agent-2");
    expect(await cardOf(at.page, 2).getByLabel("Your answer").inputValue()).toBe("j1?");
    await at.page.keyboard.press("?");
    await at.page.getByRole("dialog").waitFor();
    await at.page.keyboard.press("Escape");
    await at.page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused()).toBe("agent-2");
    expect(at.fake.responds).toHaveLength(1);
  });

  test("a card that moves keeps the focus, and the text that was being written", async () => {
    await using at = await scene(textCard(1, { agoMs: 1_000 }), textCard(2, { agoMs: 2_000 }));
    const text = cardOf(at.page, 1).getByLabel("Your answer");
    await text.click();
    await at.page.keyboard.type("half ");
    at.fake.card(card(2, { state: "PROCESSING" }));
    at.fake.card(textCard(1, { agoMs: 900_000 }));
    await cardOf(at.page, 2).getByText("Working").waitFor();
    await at.page.keyboard.type("done");
    expect(await text.inputValue()).toBe("half done");
  });

  test("a failed answer is tried again with its key, then said in the server's words; text stays", async () => {
    await using at = await scene(textCard(1));
    const failure = { status: "error", error_type: "not_echoed", message: "The text did not appear." };
    for (let count = 0; count < 3; count++) at.fake.answers.push({ status: 502, body: failure });
    await cardOf(at.page, 1).getByLabel("Your answer").fill("yes");
    await at.page.keyboard.press("Enter");
    const alert = cardOf(at.page, 1).getByRole("alert");
    await alert.waitFor();
    expect(await alert.textContent()).toBe("not seen on the screen, not entered — The text did not appear.");
    expect(new Set(at.fake.responds.map(({ key }) => key)).size).toBe(1);
    expect(at.fake.responds).toHaveLength(3);
    expect(await cardOf(at.page, 1).getByLabel("Your answer").inputValue()).toBe("yes");
    await sentBy(at.fake, () => cardOf(at.page, 1).getByRole("button", { name: "Send" }).click());
    expect(new Set(at.fake.responds.map(({ key }) => key)).size).toBe(2);
  });
});
