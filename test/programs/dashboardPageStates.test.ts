/** The page in a real browser, before a server that says what the test wants: what is rare, broken or hostile. */
import { describe, expect, test } from "vitest";
import { NO_BROWSER, stopTimers } from "../support/page/browser.ts";
import { card, outputFrame, permissionCard, snapshotFrames, textCard } from "../support/daemon/dashboardCards.ts";
import { HOST_DIALOG, hostAgent, hostAgents, hostEntry } from "../support/daemon/hostCards.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cardOf, pageScenes, sentBy } from "../support/page/pageScene.ts";
import type { Page } from "playwright-core";

/** In the page. Signs are no words. */
const READ = `(() => {
  const words = (text) => text.toLowerCase().replace(/[^\\p{L}\\p{N}]+/gu, "");
  const written = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (!(node instanceof HTMLElement) || node.ariaHidden === "true" || !node.checkVisibility()) return "";
    if (node.getBoundingClientRect().width <= 1) return "";
    return [...node.childNodes].map(written).join(" ");
  };
  const named = [...document.querySelectorAll(":is(button, a[href], summary, [role])[aria-label]")];
  return named
    .filter((element) => element.matches("button, a, summary, [role=button], [role=tab], [role=link]"))
    .map((element) => [element.ariaLabel, written(element).trim()])
    .filter(([name, text]) => !words(name).includes(words(text)));
})()`;

/** Names and texts of the buttons and links of which that is not so. */
const misnamed = (page: Page): Promise<readonly (readonly [string, string])[]> =>
  page.evaluate<readonly (readonly [string, string])[]>(READ);

const { scene, sceneWith } = pageScenes();

/** Where a browser has no notifications, their button is missing. */
const BUTTONS_OF_ALL = `globalThis.Notification ??= class extends EventTarget { static permission = "default"; };`;

interface HeaderPlaces {
  readonly scrollWidth: number;
  /** Between what stands side by side. */
  readonly gaps: readonly number[];
  readonly heights: readonly number[];
  readonly isCut: boolean;
}

/** In the page. */
const HEADER_PLACES = `(() => {
  const boxes = [...document.querySelectorAll(".brand, .tally, .link-state, .top-buttons button")]
    .map((element) => element.getBoundingClientRect());
  const tally = document.querySelector(".tally");
  return {
    scrollWidth: document.documentElement.scrollWidth,
    gaps: boxes.slice(1).map(({ left }, index) => left - boxes[index].right),
    heights: boxes.slice(3).map(({ height }) => height),
    isCut: tally.scrollWidth > tally.clientWidth,
  };
})()`;

describe.skipIf(NO_BROWSER !== undefined)("the page", () => {
  test("says how to begin when there is nobody, and shows who comes without a reload", async () => {
    await using at = await scene();
    await at.page.getByText("tmuxwire hooks install claude").waitFor();
    at.fake.cards.set(7, card(7, { project_name: "newcomer" }));
    at.fake.event("session_created", { agent_id: 7 });
    await cardOf(at.page, 7).waitFor();
    expect(await cardOf(at.page, 7).locator("h3").textContent()).toBe("newcomer");
  });

  test("says when the connection is lost, and is right again when it is back", async () => {
    await using at = await scene(textCard(1));
    await cardOf(at.page, 1).waitFor();
    await stopTimers(at.page);
    at.fake.up = false;
    at.fake.cut();
    await at.page.getByText("Connection lost").waitFor();
    at.fake.cards.set(1, card(1, { state: "COMPLETE" }));
    at.fake.up = true;
    await at.page.getByRole("button", { name: "Try now" }).click();
    await at.page.clock.resume();
    await cardOf(at.page, 1).getByText("Done").waitFor();
    expect(await at.page.getByText("Connection lost").count()).toBe(0);
    at.fake.cards.set(1, textCard(1));
    at.fake.event("gap", {});
    await cardOf(at.page, 1).getByText("Input needed").waitFor();
  });

  test("says that the daemon waits until tmux is calm, and since when, until it is over", async () => {
    await using at = await scene(textCard(1));
    await cardOf(at.page, 1).waitFor();
    const notice = at.page.getByRole("status").filter({ hasText: "Waiting until tmux is calm" });
    at.fake.event("server_waiting", { waiting: { for: "calm", since_unix_ms: Date.now() - 192_500 } });
    await notice.getByText(/\(3 min 1\d s\)/).waitFor();
    at.fake.event("server_waiting", { waiting: null });
    await notice.waitFor({ state: "detached" });
    expect(await notice.count()).toBe(0);
  });

  test("says that tmux does not run, since when and what to do, instead of that it waits for it", async () => {
    await using at = await scene(textCard(1));
    await cardOf(at.page, 1).waitFor();
    at.fake.event("server_waiting", { waiting: { for: "calm", since_unix_ms: Date.now() } });
    at.fake.event("server_gone", { since_unix_ms: Date.now() - 192_500 });
    const notice = at.page.getByRole("status").filter({ hasText: "tmux is not running" });
    await notice.getByText(/\(3 min 1\d s\)/).waitFor();
    expect(await at.page.getByText("Waiting until tmux is calm").count()).toBe(0);
    at.fake.event("server_gone", { since_unix_ms: null });
    await at.page.getByText("Waiting until tmux is calm").waitFor();
    expect(await notice.count()).toBe(0);
  });

  test("keeps what a host says as text, whatever it is, and says that it is away", async () => {
    const evil = `"><img src=x onerror="document.title='owned'"><b>bold</b>\u202e\u0000`;
    await using at = await scene(card(1));
    const { fake, page } = at;
    const question = {
      ...HOST_DIALOG,
      id: evil,
      text: evil,
      options: [{ index: 0, number: evil.slice(0, 8), label: evil, keys: [evil] }],
    };
    fake.hosts = [
      { type: "hosts", hosts: [hostEntry("build", { version: evil, tmuxVersion: evil })] },
      hostAgents(
        hostAgent("a", {
          name: `${evil}@build`,
          state: "asking",
          question,
          cwd: `/${evil}`,
          branch: evil,
          session: evil,
        }),
        hostAgent("b", { agent: evil, why: evil, task: { text: evil, sinceUnixMs: 0 }, lastMessage: evil.repeat(20) }),
      ),
      { type: "host_problem", host: "build", problem: evil },
    ];
    await page.reload();
    await cardOf(page, -1).getByRole("button", { name: /bold/ }).waitFor();
    await cardOf(page, -2)
      .getByRole("button", { name: /^Details/ })
      .click();
    await page.getByRole("dialog").getByText("Its history is kept on build").waitFor();
    expect(await page.locator(":is(main, dialog, .banner) :is(img, b)").count()).toBe(0);
    expect(await page.title()).toBe("(1) tmuxwire");
    fake.event("host", { type: "host", host: hostEntry("build", { state: "unreachable", why: evil }) });
    await page.locator(".banner").filter({ hasText: "build is away" }).waitFor();
    expect(await page.locator(".banner :is(img, b)").count()).toBe(0);
    expect(await cardOf(page, -1).getByRole("button").allTextContents()).toEqual(["⋯"]);
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    expect(wide).toBeLessThanOrEqual(0);
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
    const dialog = at.page.getByRole("dialog", { name: "Notifications" });
    await dialog.getByRole("button", { name: "Notify this browser" }).click();
    // This server sends none, so the page does what it can, and says why.
    await dialog.getByText("Not found.").waitFor();
    await dialog.getByText("as long as this page is open").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
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

  test("goes on where a browser lets no page notify by itself", async () => {
    // Chrome on Android.
    const before = `
      localStorage.setItem("tmuxwire.notify", "yes");
      document.hasFocus = () => false;
      globalThis.Notification = class {
        static permission = "granted";
        constructor() { throw new TypeError("Illegal constructor."); }
      };`;
    await using at = await sceneWith({ before }, [textCard(1), card(2), card(3)]);
    await cardOf(at.page, 1).waitFor();
    at.fake.card(textCard(2));
    at.fake.card(textCard(3));
    await cardOf(at.page, 3).getByText("Input needed").waitFor();
    expect(await at.page.getByRole("alert").allTextContents()).toEqual([]);
    expect(at.fake.addresses.filter((address) => address.startsWith("/api/agents "))).toHaveLength(1);
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

  test.each([
    ["nobody", []],
    ["twelve", Array.from({ length: 12 }, (_card, index) => textCard(index + 1))],
  ])("the header has room at every width of a telephone, when %s asks", async (_who, cards) => {
    await using at = await sceneWith({ hasTouch: true, isMobile: true, before: BUTTONS_OF_ALL }, [card(20), ...cards]);
    await cardOf(at.page, 20).waitFor();
    for (const width of [320, 344, 360, 375, 390, 430, 560, 799, 800]) {
      await at.page.setViewportSize({ width, height: 800 });
      const found = await at.page.evaluate<HeaderPlaces>(HEADER_PLACES);
      expect([width, found.scrollWidth, found.isCut]).toEqual([width, width, false]);
      expect(found.gaps.filter((gap) => gap < 0)).toEqual([]);
      expect(found.heights).toEqual(found.heights.map(() => found.heights[0]));
    }
  });

  test("a pane in a tab that is hidden is not followed, and drawn anew when somebody looks again", async () => {
    await using at = await scene(card(1));
    const { page, fake } = at;
    const show = (isHidden: boolean): Promise<void> =>
      page.evaluate(`Object.defineProperty(document, "hidden", { configurable: true, value: ${isHidden} });
        document.dispatchEvent(new Event("visibilitychange"))`);
    fake.pane = snapshotFrames(40, 5, "before");
    await page.clock.install();
    await cardOf(page, 1).getByRole("button", { name: "Open pane" }).click();
    await page.getByText("before").waitFor();
    await show(true);
    await page.clock.fastForward(29_000);
    await show(false);
    await show(true);
    await page.clock.fastForward(29_000);
    expect(fake.paneStreams).toBe(1);
    await page.clock.fastForward(1_000);
    await page.getByText("paused: this tab was hidden").waitFor();
    await eventually(() => Promise.resolve(fake.paneStreams === 0));
    fake.pane = snapshotFrames(40, 5, "after");
    await show(false);
    await page.getByText("after").waitFor();
    expect(fake.paneStreams).toBe(1);
  });

  test("what is written on a button is in its name", async () => {
    await using at = await scene(permissionCard(1), card(2, { state: "PROCESSING" }), textCard(3));
    const { page } = at;
    at.fake.pane = snapshotFrames(40, 5, "ready");
    await cardOf(page, 1).getByRole("button", { name: "Open pane" }).click();
    await page.getByRole("button", { name: "Take control" }).click();
    await page.getByRole("button", { name: "Release" }).waitFor();
    expect(await misnamed(page)).toEqual([]);
    // The first of two presses.
    await cardOf(page, 3).getByRole("button", { name: "C-c" }).click();
    await cardOf(page, 3).getByText("C-c ?").waitFor();
    expect(await misnamed(page)).toEqual([]);
    await page.getByRole("button", { name: "Keyboard help" }).click();
    expect(await misnamed(page)).toEqual([]);
  });

  test.each([
    ["safe_read", "Reads only", "--green"],
    ["destructive", "Destructive", "--red"],
    ["safe_write", "Writes", "--amber-line"],
    ["unknown", undefined, "--amber-line"],
    ["zap", undefined, "--amber-line"],
  ])("a permission that is %s is told by a word and a colour", async (safety, words, colour) => {
    const offered = { safety, command_context: { command: "npm test", description: "Run the <b>tests</b>" } };
    await using at = await scene(permissionCard(1, { name: "shop" }));
    at.fake.card({ ...permissionCard(1), question_options: offered });
    const shown = cardOf(at.page, 1);
    await shown.getByText("Run the <b>tests</b>").waitFor();
    expect(await shown.locator(".risk").allTextContents()).toEqual(words === undefined ? [] : [words]);
    const border = "getComputedStyle(document.querySelector('.option')).borderTopColor";
    const wanted = `(() => {
      const probe = document.body.appendChild(document.createElement("i"));
      probe.style.color = "var(${colour})";
      return getComputedStyle(probe).color;
    })()`;
    expect(await at.page.evaluate(border)).toBe(await at.page.evaluate(wanted));
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
