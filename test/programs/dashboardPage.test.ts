/**
 * The page as a person has it: a real browser, the real daemon parts, the user's own tmux server and a program that behaves
 * as an agent does. What only a broken or hostile server says is in dashboardPageStates.test.ts.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { type GuestAgent, guestAgent } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { NO_BROWSER, stopTimers } from "../support/page/browser.ts";
import { pageSuite } from "../support/page/pageSuite.ts";
import {
  type DashboardFixture,
  databaseDirectory,
  dashboardFixture,
  UUID,
} from "../support/daemon/dashboardFixture.ts";

const suite = pageSuite();

interface Scene extends AsyncDisposable {
  readonly agent: GuestAgent;
  readonly dashboard: DashboardFixture;
  readonly page: Page;
  readonly card: Locator;
}

/** An agent at work in the user's tmux, registered under this name, and the page that shows it. */
async function scene(name = "shop"): Promise<Scene> {
  const agent = await guestAgent("dialog", { options: { busyMs: 0 } });
  const dashboard = await dashboardFixture(agent.server, { pageDirectory: suite.bundle.directory });
  const path = join(agent.socket.directory, name);
  mkdirSync(path);
  await dashboard.call("POST", "/api/sessions", {
    session_uuid: UUID,
    project_path: path,
    project_name: name,
    tmux_pane_id: agent.pane,
  });
  await dashboard.hook("session-start", { session_id: "s1", headspace_session_id: UUID });
  // It really works: rest that lasts would end the turn that the hook begins.
  await agent.channel.tell("busy");
  await dashboard.hook("user-prompt-submit", { session_id: "s1", prompt: "go" });
  const opened = await suite.browser.open(dashboard.url);
  const card = opened.page.locator("#agent-1");
  await card.getByText("Working").waitFor();
  return {
    agent,
    dashboard,
    page: opened.page,
    card,
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await dashboard[Symbol.asyncDispose]();
      await agent[Symbol.asyncDispose]();
      expect(opened.wrongs).toEqual([]);
    },
  };
}

test.skipIf(NO_BROWSER !== undefined)(
  "a token that is wanted is asked for once, and no script of the page has it",
  async () => {
    await using agent = await guestAgent("inkPrompt");
    await using dashboard = await dashboardFixture(agent.server, {
      pageDirectory: suite.bundle.directory,
      token: "s3cret&",
    });
    const names = { session_uuid: UUID, project_path: "/work/shop", tmux_pane_id: agent.pane };
    await dashboard.call("POST", "/api/sessions", names, { authorization: "Bearer s3cret&" });
    await using opened = await suite.browser.open(dashboard.url);
    const { page } = opened;
    const alert = page.getByRole("alert");
    for (const [token, words] of [
      ["s3cret", "That is not this dashboard's token."],
      ["pässword", "A token has no characters but those of plain ASCII."],
    ] as const) {
      await page.getByLabel("Token").fill(token);
      await page.keyboard.press("Enter");
      await alert.getByText(words).waitFor();
    }
    await page.getByLabel("Token").fill("s3cret&");
    await page.keyboard.press("Enter");
    await page.locator("#agent-1").waitFor();
    expect(await page.evaluate("document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })")).toBe("{}");
    await page.reload();
    await page.locator("#agent-1").waitFor();
    expect([await page.getByLabel("Token").count(), new URL(page.url()).search]).toEqual([0, ""]);
    expect(opened.wrongs).toEqual([]);
  },
);

async function askPermission({ agent, dashboard }: Scene): Promise<void> {
  await agent.channel.tell("busy");
  const tool = { session_id: "s1", tool_name: "Bash", tool_input: { command: "rm -rf build" } };
  await dashboard.hook("permission-request", tool);
  await agent.channel.tell("ask", { kind: "permission" });
}

async function askForText({ agent, dashboard }: Scene, message: string): Promise<void> {
  await dashboard.hook("notification", { session_id: "s1", message });
  await agent.channel.tell("idle");
}

const SUBMITTED = /^submitted · \d+ ms$/;
/** A program that has only just become idle may still count as busy: then it takes the text next, which is now. */
const DELIVERED = /^(?:submitted|queued: .+) · \d+ ms$/;

/** What the card says became of the answer, once it is known. */
async function outcomeOn(card: Locator): Promise<string> {
  const outcome = card.locator(".delivery.delivered, .delivery.failed");
  await outcome.waitFor();
  return outcome.innerText();
}

describe.skipIf(NO_BROWSER !== undefined)("the page", () => {
  test("a dialog becomes a card, a click runs the tool once, and the card lets go", async () => {
    await using at = await scene();
    await askPermission(at);
    await at.card.getByText("Input needed").waitFor();
    await at.card.getByText("Bash: rm -rf build").waitFor();
    const yes = at.card.locator('[data-option="0"]');
    expect(await yes.locator("kbd").textContent()).toBe("1");
    await yes.click();
    await at.agent.channel.next("tool");
    expect(await outcomeOn(at.card)).toMatch(SUBMITTED);
    await at.card.getByText("Working").waitFor();
    expect(await at.card.locator("[data-option]").count()).toBe(0);
    expect(at.agent.channel.count("tool")).toBe(1);
  });

  test("the text behind the last option arrives, and no tool runs", async () => {
    await using at = await scene();
    await askPermission(at);
    await at.card.locator('[data-option="2"]').click();
    await at.page.keyboard.type("use the trash instead");
    await at.page.keyboard.press("Enter");
    expect(await outcomeOn(at.card)).toMatch(SUBMITTED);
    expect(at.agent.channel.log.some(({ text }) => text?.includes("use the trash instead") === true)).toBe(true);
    expect(at.agent.channel.count("tool")).toBe(0);
  });

  test("an answer of several lines arrives exactly, once", async () => {
    await using at = await scene();
    await askForText(at, "Which tables should I keep?");
    await at.card.getByText("Which tables should I keep?").waitFor();
    const text = "-users; 'quoted' 🌊\nand orders;";
    const [first = "", second = ""] = text.split("\n");
    await at.card.getByLabel("Your answer").click();
    await at.page.keyboard.insertText(first);
    await at.page.keyboard.press("Shift+Enter");
    await at.page.keyboard.insertText(second);
    await at.page.keyboard.press("Enter");
    await at.agent.channel.next("submit");
    expect(await outcomeOn(at.card)).toMatch(DELIVERED);
    expect(at.agent.channel.submits()).toEqual([text]);
  });

  test("the keyboard alone is enough", async () => {
    await using at = await scene();
    await askPermission(at);
    await at.card.locator('[data-option="1"]').waitFor();
    await at.page.keyboard.press("j");
    await at.page.keyboard.press("2");
    const { answers } = await at.agent.channel.next("answer");
    expect(answers).toEqual([{ index: 1 }]);
    expect(await outcomeOn(at.card)).toMatch(SUBMITTED);
  });

  test("a pane is shown as it is and can be typed into; its size stays the user's", async () => {
    await using at = await scene();
    const sizes = (): string => at.agent.socket.tmux("list-windows", "-a", "-F", "#{window_width}x#{window_height}");
    const before = sizes();
    await at.agent.channel.tell("idle");
    await at.card.getByRole("button", { name: "Open pane" }).click();
    const [cols, rows] = before.trim().split("x");
    await at.page.getByText(`${cols}×${rows}`).waitFor();
    await at.page.locator(".screen").getByText("❯").first().waitFor();
    await at.page.getByRole("button", { name: "Take control" }).click();
    await at.page.keyboard.type("typed here");
    await at.page.locator(".screen").getByText("typed here").waitFor();
    await at.page.keyboard.press("Enter");
    await at.agent.channel.next("submit");
    expect(at.agent.channel.submits()).toEqual(["typed here"]);
    await at.page.keyboard.press("Control+Shift+Escape");
    await at.page.getByRole("button", { name: "Take control" }).waitFor();
    await at.page.setViewportSize({ width: 400, height: 700 });
    await at.page.locator(".wrapped").getByText("❯").first().waitFor();
    await at.page.keyboard.press("Escape");
    await at.page.locator(".pane").waitFor({ state: "detached" });
    expect(sizes()).toBe(before);
  });

  test("an agent is found by what is on its screen", async () => {
    await using at = await scene();
    const { page, card } = at;
    await at.agent.channel.tell("idle");
    at.agent.socket.tmux("send-keys", "-t", at.agent.pane, "-l", "half a <b>line</b>");
    await eventually(() => at.agent.socket.tmux("capture-pane", "-p", "-t", at.agent.pane).includes("half a <b>line"));
    await page.getByLabel("Filter the agents").fill("A <B>Line");
    await page.getByText("No agent has these words").waitFor();
    await card.locator(".on-screen mark").waitFor();
    expect(await card.locator(".on-screen mark").textContent()).toBe("a <b>line");
    await page.getByLabel("Filter the agents").fill("not on any screen");
    await page.getByText("No agent has these words, nor has its screen.").waitFor();
    // Nobody was attached for it.
    const clients = at.agent.socket.tmux("list-clients", "-F", "#{client_name}").trim().split("\n");
    expect(clients.length).toBeLessThanOrEqual(2);
  });

  test("a reload shows the same question, which is still answered once", async () => {
    await using at = await scene();
    await askPermission(at);
    await at.card.locator('[data-option="0"]').waitFor();
    await at.page.reload();
    await at.card.locator('[data-option="0"]').click();
    await at.agent.channel.next("tool");
    expect(await outcomeOn(at.card)).toMatch(SUBMITTED);
    expect(at.agent.channel.count("tool")).toBe(1);
  });

  test("says when the program has ended", async () => {
    await using at = await scene();
    await askPermission(at);
    await at.card.getByText("Input needed").waitFor();
    await at.agent.channel.tell("exit", { status: 0 });
    await at.card.getByText("Not reachable").waitFor();
    expect(await at.card.locator("[data-option]").count()).toBe(0);
  });

  test("names that are markup stay text", async () => {
    const attack = "<img src=x onerror=alert(1)>";
    await using at = await scene(attack);
    at.agent.socket.tmux("rename-session", "-t", "agent", attack);
    await askForText(at, `${attack}<script>alert(2)</script>`);
    await at.card.getByText("<script>").waitFor();
    expect(await at.card.locator("h3").textContent()).toBe(attack);
    expect(await at.page.locator("img").count()).toBe(0);
  });

  test.each<[string, (page: Page) => Promise<void>, (page: Page) => Promise<void>]>([
    ["by itself", async () => undefined, async () => undefined],
    [
      "at a click, before it tries by itself",
      stopTimers,
      async (page) => {
        await page.getByRole("button", { name: "Try now" }).click();
        await page.clock.resume();
      },
    ],
  ])(
    "a daemon that is started again is noticed %s, and the question and its pane are still there",
    async (_how, before, after) => {
      using directory = databaseDirectory();
      const databasePath = join(directory.path, "dashboard.db");
      await using agent = await guestAgent("dialog", { options: { busyMs: 0 } });
      const options = { pageDirectory: suite.bundle.directory, databasePath };
      const first = await dashboardFixture(agent.server, options);
      const session = { session_uuid: UUID, project_path: directory.path, tmux_pane_id: agent.pane };
      await first.call("POST", "/api/sessions", session);
      await first.hook("session-start", { session_id: "s1", headspace_session_id: UUID });
      await agent.channel.tell("busy");
      await first.hook("user-prompt-submit", { session_id: "s1", prompt: "go" });
      await first.hook("notification", { session_id: "s1", message: "Which tables should I keep?" });
      await agent.channel.tell("idle");
      await using opened = await suite.browser.open(first.url);
      const { page } = opened;
      const question = page.locator("#agent-1").getByText("Which tables should I keep?");
      await question.waitFor();
      await page.getByRole("button", { name: "Open pane" }).click();
      const control = page.getByRole("button", { name: "Take control" });
      await control.and(page.locator(":enabled")).waitFor();
      await before(page);
      await first[Symbol.asyncDispose]();
      await page.getByText("Connection lost").waitFor();
      await control.and(page.locator(":disabled")).waitFor();
      await using second = await dashboardFixture(agent.server, { ...options, port: first.port });
      await after(page);
      await page.getByText("Connection lost").waitFor({ state: "detached" });
      await question.waitFor();
      await control.and(page.locator(":enabled")).waitFor();
      await page.locator("#agent-1").getByLabel("Your answer").fill("all");
      await page.keyboard.press("Enter");
      await agent.channel.next("submit");
      expect(agent.channel.submits()).toEqual(["all"]);
      expect(second.port).toBe(first.port);
      expect(opened.wrongs).toEqual([]);
    },
  );
});

test.skipIf(NO_BROWSER !== undefined)("nine tabs of one browser all follow their agents", async () => {
  await using agent = await guestAgent("inkPrompt");
  await using dashboard = await dashboardFixture(agent.server, { pageDirectory: suite.bundle.directory });
  await dashboard.call("POST", "/api/sessions", {
    session_uuid: UUID,
    project_path: "/work/shop",
    tmux_pane_id: agent.pane,
  });
  await using opened = await suite.browser.open(dashboard.url);
  const pages = [opened.page];
  while (pages.length < 9) pages.push(await opened.another());
  for (const page of pages) await page.locator("#agent-1").waitFor();
  await agent.channel.tell("busy");
  for (const page of pages) await page.locator("#agent-1").getByText("Working").waitFor();
  expect(opened.wrongs).toEqual([]);
});
