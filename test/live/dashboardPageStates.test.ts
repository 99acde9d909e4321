/** The page in a real browser, before a server that says what the test wants: what is rare, broken or hostile. */
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { BrowserPage, OpenOptions } from "../support/browser.ts";
import { NO_BROWSER } from "../support/browser.ts";
import { pageSuite } from "../support/pageSuite.ts";
import {
  card,
  listCard,
  permissionCard,
  readiness,
  severalCard,
  snapshotFrames,
  outputFrame,
  textCard,
} from "../support/dashboardCards.ts";
import type { FakeCard } from "../support/dashboardFake.ts";
import { FakeDashboard } from "../support/dashboardFake.ts";
import { eventually } from "../support/eventually.ts";

const suite = pageSuite();

interface Scene extends AsyncDisposable {
  readonly fake: FakeDashboard;
  readonly page: Page;
  readonly opened: BrowserPage;
}

const scene = (...cards: readonly FakeCard[]): Promise<Scene> => sceneWith({}, cards);

async function sceneWith(options: OpenOptions, cards: readonly FakeCard[]): Promise<Scene> {
  const fake = await FakeDashboard.start(suite.bundle.directory, cards);
  const opened = await suite.browser.open(fake.url, options);
  return {
    fake,
    opened,
    page: opened.page,
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await fake[Symbol.asyncDispose]();
      // Whatever else a test says: nothing was refused by the policy, logged as an error, or asked of anybody else.
      expect(opened.wrongs).toEqual([]);
    },
  };
}

/** The next answer or keys that the page sends, sent by `act`. */
async function sentBy(fake: FakeDashboard, act: () => Promise<unknown>): Promise<void> {
  const arrival = fake.arrival();
  await act();
  await arrival;
}

const cardOf = (page: Page, agentId: number) => page.locator(`#agent-${agentId}`);

describe.skipIf(NO_BROWSER !== undefined)("the page", () => {
  test("says how to begin when there is nobody, and shows who comes without a reload", async () => {
    await using at = await scene();
    await at.page.getByText("tmuxwire hooks install claude").waitFor();
    at.fake.cards.set(7, card(7, { project_name: "newcomer" }));
    at.fake.event("session_created", { agent_id: 7 });
    await cardOf(at.page, 7).waitFor();
    expect(await cardOf(at.page, 7).locator("h3").textContent()).toBe("newcomer");
  });

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

  test("the option behind which text is taken leads to the text", async () => {
    await using at = await scene(permissionCard(1));
    await at.page.getByRole("button", { name: /tell Claude/ }).click();
    await at.page.keyboard.type("use pnpm");
    await sentBy(at.fake, () => at.page.keyboard.press("Enter"));
    expect(at.fake.responds[0]?.body).toEqual({ mode: "other", text: "use pnpm", dialog_id: "dialog-1" });
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
    await using at = await scene(listCard(1));
    const quick = cardOf(at.page, 1).getByRole("group", { name: "Press a key in the pane" });
    await sentBy(at.fake, () => quick.getByText("Esc").click());
    await quick.getByText("C-c").click();
    await sentBy(at.fake, () => quick.getByText("C-c ?").click());
    expect(at.fake.responds.map(({ body }) => body["keys"])).toEqual([["Escape"], ["C-c"]]);
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
    expect(await alert.textContent()).toBe("not echoed, nothing was sent — The text did not appear.");
    expect(new Set(at.fake.responds.map(({ key }) => key)).size).toBe(1);
    expect(at.fake.responds).toHaveLength(3);
    expect(await cardOf(at.page, 1).getByLabel("Your answer").inputValue()).toBe("yes");
    await sentBy(at.fake, () => cardOf(at.page, 1).getByRole("button", { name: "Send" }).click());
    expect(new Set(at.fake.responds.map(({ key }) => key)).size).toBe(2);
  });

  test("says when the connection is lost, and is right again when it is back", async () => {
    await using at = await scene(textCard(1));
    await cardOf(at.page, 1).waitFor();
    at.fake.up = false;
    at.fake.cut();
    await at.page.getByText("Connection lost").waitFor();
    at.fake.cards.set(1, card(1, { state: "COMPLETE" }));
    at.fake.up = true;
    await at.page.getByRole("button", { name: "Try now" }).click();
    await cardOf(at.page, 1).getByText("Done").waitFor();
    expect(await at.page.getByText("Connection lost").count()).toBe(0);
    at.fake.cards.set(1, textCard(1));
    at.fake.event("gap", {});
    await cardOf(at.page, 1).getByText("Input needed").waitFor();
  });

  test("tells somebody who looks elsewhere, once they have asked for it, and takes it back", async () => {
    const before = `
      globalThis.shown = [];
      document.hasFocus = () => false;
      globalThis.Notification = class extends EventTarget {
        static permission = "default";
        static async requestPermission() { return (this.permission = "granted"); }
        constructor(title, options) { super(); shown.push(this); this.title = title; this.options = options; }
        close() { this.closed = true; }
      };`;
    await using at = await sceneWith({ before }, [card(1), card(2)]);
    const shown = () => at.page.evaluate("shown.map(({ title, options, closed }) => [title, options.body, closed])");
    at.fake.card(textCard(1, { text: "first" }));
    await cardOf(at.page, 1).getByText("first").waitFor();
    expect(await shown()).toEqual([]);
    await at.page.getByRole("button", { name: "Notify me" }).click();
    await at.page.getByRole("button", { name: "Notifying" }).waitFor();
    at.fake.card(textCard(2, { text: "second" }));
    await cardOf(at.page, 2).getByText("second").waitFor();
    expect(await shown()).toEqual([["project-2 needs an answer", "second", undefined]]);
    at.fake.card(card(2, { state: "PROCESSING" }));
    await cardOf(at.page, 2).getByText("Working").waitFor();
    expect(await shown()).toEqual([["project-2 needs an answer", "second", true]]);
    await at.page.evaluate("shown[0].dispatchEvent(new Event('click'))");
    await eventually(async () => (await at.page.evaluate("document.activeElement.id")) === "agent-2");
  });

  test("asks for the token that a daemon wants", async () => {
    await using at = await scene(textCard(1));
    await cardOf(at.page, 1).waitFor();
    const entries = await at.page.evaluate("history.length");
    at.fake.token = "s3cret&";
    at.fake.event("gap", {});
    const field = at.page.getByLabel("Token");
    await field.fill("s3cret");
    await at.page.keyboard.press("Enter");
    await at.page.getByRole("alert").getByText("That is not this dashboard's token.").waitFor();
    // What is typed next takes its place.
    await at.page.keyboard.type("s3cret&");
    await at.page.getByRole("button", { name: "Open the dashboard" }).click();
    await cardOf(at.page, 1).waitFor();
    expect(await field.count()).toBe(0);
    expect(at.fake.tokens).toEqual(["Bearer s3cret", "Bearer s3cret&"]);
    expect(at.fake.addresses.filter((address) => address.includes("s3cret"))).toEqual([]);
    expect([at.page.url(), await at.page.evaluate("history.length")]).toEqual([at.fake.url, entries]);
  });

  test("what agents are called and ask stays text", async () => {
    const attack = `<img src=x onerror="document.title='broken'"><script>alert(1)</script>&lt;b&gt;`;
    const hostile = {
      ...permissionCard(1, { name: attack, text: attack, labels: [attack, `${attack}2`, "javascript:alert(1)"] }),
      session: attack,
      tmux_session: attack,
      reason: attack,
      project_path: `"><svg onload=alert(1)>`,
    };
    await using at = await scene(hostile);
    await cardOf(at.page, 1).waitFor();
    expect(await cardOf(at.page, 1).locator("h3").textContent()).toBe(attack);
    expect(await cardOf(at.page, 1).locator(".question").textContent()).toBe(attack);
    expect(await at.page.locator("img, main script, #agent-1 svg").count()).toBe(0);
    at.fake.answers.push({ status: 409, body: { status: "error", error_type: "wrong_state", message: attack } });
    await at.page.keyboard.press("1");
    await cardOf(at.page, 1).getByRole("alert").waitFor();
    expect(await at.page.locator("img").count()).toBe(0);
    expect(await at.page.title()).toBe("(1) tmuxwire");
  });

  test("shows a pane at its own size, read-only until control is taken and after it is given back", async () => {
    await using at = await scene(card(1), card(2));
    at.fake.pane = snapshotFrames(100, 30, "\u001bcready \u001b[38;2;1;200;3mgreen\u001b[0m\r\n$ ");
    await cardOf(at.page, 1).getByRole("button", { name: "Open pane" }).click();
    await at.page.getByText("100×30").waitFor();
    const screen = at.page.locator(".screen");
    await screen.getByText("green").waitFor();
    // True colours come through the CSSOM; as a style attribute they would have been refused.
    const colour = "[...document.querySelectorAll('.screen span')].find((cell) => cell.textContent === 'green')";
    expect(await at.page.evaluate(`getComputedStyle(${colour}).color`)).toBe("rgb(1, 200, 3)");
    await screen.click();
    await at.page.keyboard.type("no1");
    await at.page.getByRole("button", { name: "Take control" }).click();
    await sentBy(at.fake, () => at.page.keyboard.press("y"));
    await sentBy(at.fake, () => at.page.keyboard.press("Escape"));
    await sentBy(at.fake, () => at.page.keyboard.press("ArrowUp"));
    await sentBy(at.fake, () => at.page.keyboard.press("Control+c"));
    // A question to the terminal is tmux's to answer.
    at.fake.toPane(outputFrame("\u001b[6n\u001b[c\u001b[>c\u001b]11;?\u0007after"));
    await screen.getByText("after").waitFor();
    await at.page.keyboard.press("Control+Shift+Escape");
    await at.page.getByRole("button", { name: "Take control" }).waitFor();
    await at.page.keyboard.type("no");
    expect(at.fake.inputs.join("")).toBe("y\u001b\u001b[A\u0003");
    at.fake.toPane(`event: resize\ndata: {"cols":40,"rows":10}\n\n`);
    await at.page.getByText("40×10").waitFor();
    at.fake.toPane(`event: gap\ndata: {"from":"e:0","to":"e:9","reason":"evicted"}\n\n`);
    await at.page.getByText("output was skipped").waitFor();
    at.fake.toPane(snapshotFrames(40, 10, "\u001bcredrawn"));
    await screen.getByText("redrawn").waitFor();
    expect(await screen.getByText("green").count()).toBe(0);
    // One at a time.
    await cardOf(at.page, 2).getByRole("button", { name: "Open pane" }).click();
    await at.page.getByRole("region", { name: "Pane of project-2" }).waitFor();
    expect(await at.page.locator(".pane").count()).toBe(1);
    // Its stream is there: what is said from now on goes to it.
    await screen.getByText("green").waitFor();
    at.fake.toPane(`event: closed\ndata: {"code":"NOT_FOUND","message":"the pane is gone"}\n\n`);
    await at.page.getByText("the pane is gone").waitFor();
    expect(await at.page.getByRole("button", { name: "Take control" }).isDisabled()).toBe(true);
  });

  test.each([360, 1440])("nothing sticks out at %d pixels", async (width) => {
    const long = "unbroken".repeat(40);
    await using at = await scene(
      permissionCard(1, { name: long, text: long, labels: [long, "No"] }),
      card(2, { tmux_session: long }),
    );
    await at.page.setViewportSize({ width, height: 800 });
    await cardOf(at.page, 2).waitFor();
    expect(await at.page.evaluate("document.documentElement.scrollWidth")).toBe(width);
  });
});
