/** The browser as a device: the page in Chromium, the daemon's parts, real tmux, and other devices that ask for things. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { eventually } from "../support/clock/eventually.ts";
import { FAKE_CLAUDE } from "../support/freshell/agentScene.ts";
import { NO_BROWSER } from "../support/page/browser.ts";
import { deviceScenes, screenOf, typeCommand } from "../support/page/devicePageScene.ts";

const scenes = deviceScenes();

/** What the page shows of itself, once it is so. Its policy lets nobody wait within it. */
async function until(page: Page, script: string): Promise<void> {
  await expect.poll(() => page.evaluate(script), { timeout: 30_000 }).toBe(true);
}

describe.skipIf(NO_BROWSER !== undefined)("F244: the page is a device", () => {
  test("another device opens a tab with a terminal and splits it: painted, typed into, told, undone", async () => {
    await using at = await scenes.open({ allow: [] });
    const { page } = at;
    expect(await at.rpc("new-tab", { title: "build" })).toMatchObject({ error: { code: "UNAUTHORIZED" } });
    await page.keyboard.press("Alt+Shift+Comma");
    await page.getByLabel("Every device that is logged in").check();
    await page.keyboard.press("Escape");
    await expect.poll(async () => (await at.rpc("new-tab", { title: "build" })).ok).toBe(true);
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
    const line = page.locator("[data-line]", { hasText: "split a pane of “build”" });
    await line.getByRole("button", { name: "Undo" }).click();
    await line.getByText("(undone)").waitFor();
    expect((await at.layout()).snapshot.panes.map(({ id }) => id)).toEqual([pane?.id]);
  });

  test("by the keyboard alone: tabs, splits, zoom, names, sizes, search, closing; and at 360 px", async () => {
    await using at = await scenes.open();
    const { page } = at;
    await page.keyboard.press("Alt+Shift+T");
    await typeCommand(page, screenOf(page), "one");
    await page.keyboard.press("Alt+Shift+D");
    await page.locator(".picker").getByRole("button", { name: "Terminal" }).waitFor();
    await until(page, "document.activeElement.textContent === 'Terminal'");
    await page.keyboard.press("Enter");
    await typeCommand(page, screenOf(page, 1), "two");
    await page.keyboard.press("Alt+Shift+F");
    await page.keyboard.type("TWO-4");
    await page.getByText("1/1").waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("Alt+Shift+ArrowLeft");
    await until(page, "document.querySelector('.pane.active')?.textContent.includes('one-42')");
    await page.keyboard.press("Alt+Shift+Equal");
    await expect.poll(async () => JSON.stringify((await at.layout()).snapshot.layouts)).toContain('"sizes":[55,45]');
    const divider = page.getByRole("separator");
    const box = await divider.boundingBox();
    const [x, y] = [(box?.x ?? 0) + 4, (box?.y ?? 0) + 200];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x - 120, y, { steps: 4 });
    await page.mouse.up();
    await until(page, "Number(document.querySelector('[role=separator]').getAttribute('aria-valuenow')) < 50");
    await page.keyboard.press("Alt+Shift+R");
    await page.keyboard.type("wo");
    // An Enter that ends a composition.
    await page.evaluate(`document.activeElement.dispatchEvent(
      new KeyboardEvent("keydown", { key: "Enter", isComposing: true, bubbles: true }))`);
    await page.keyboard.type("rk");
    await page.keyboard.press("Enter");
    await page.getByRole("tab", { name: "work" }).waitFor();
    await page.keyboard.press("Alt+Shift+N");
    await page.keyboard.type("left");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "left" }).waitFor();
    await page.keyboard.press("Alt+Shift+Z");
    await until(page, "document.querySelector('.space').dataset.alone === 'true'");
    await page.keyboard.press("Alt+Shift+Z");
    await until(page, "document.querySelector('.space').dataset.alone === 'false'");
    await page.setViewportSize({ width: 360, height: 700 });
    await until(page, "document.querySelector('.space').dataset.alone === 'true'");
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    await page.getByRole("button", { name: "Next pane" }).filter({ visible: true }).click();
    await typeCommand(page, screenOf(page), "narrow");
    await page.keyboard.press("Alt+Shift+W");
    await expect.poll(async () => (await at.layout()).snapshot.panes.length).toBe(1);
    await page.keyboard.press("Alt+Shift+Q");
    await page.getByText("No tabs.").waitFor();
    // Closing ends no terminal.
    const terminals = (await at.freshell.call("GET", "/api/terminals")).json as unknown as { status: string }[];
    expect(terminals.map(({ status }) => status)).toEqual(["running", "running"]);
  });

  test("keys that are pressed while the screen is drawn anew arrive", async () => {
    await using at = await scenes.open();
    const { page } = at;
    await page.keyboard.press("Alt+Shift+T");
    const screen = screenOf(page);
    await typeCommand(page, screen, "before");
    // From before the terminal's new size until long after its snapshot.
    for (const width of [900, 1_100, 800, 1_000, 700, 1_200]) {
      await page.setViewportSize({ width, height: 600 });
      await page.keyboard.type(`v=${"0123456789".repeat(60)}; printf 'len-%s\\n' $((\${#v}+${width}))`);
      await page.keyboard.press("Enter");
      // What is lost is never printed: the shell counts.
      const counted = screen.getByText(`len-${600 + width}`).first();
      await counted.waitFor();
      expect(await counted.isVisible()).toBe(true);
    }
  });

  test("keys that are pressed before a terminal's first screen arrive", async () => {
    await using at = await scenes.open();
    const { page } = at;
    const held: (() => void)[] = [];
    await page.routeWebSocket("**/*", (socket) => {
      socket.connectToServer().onMessage((message) => {
        const hand = (): void => socket.send(message);
        if (String(message).includes('"type":"terminal.attached"')) held.push(hand);
        else hand();
      });
    });
    await page.reload();
    await page.locator('.device[data-link="live"]').waitFor();
    await page.keyboard.press("Alt+Shift+T");
    await eventually(() => held.length > 0);
    await screenOf(page).locator(".xterm-screen").click();
    await page.keyboard.type("echo early-$((40+2))");
    await page.keyboard.press("Enter");
    for (const hand of held.splice(0)) hand();
    await eventually(async () => {
      for (const hand of held.splice(0)) hand();
      return (await screenOf(page).innerText()).includes("early-42");
    });
    expect(await screenOf(page).innerText()).not.toContain("command not found");
  });

  test("a reload and a lost connection bring everything back, with what was printed meanwhile", async () => {
    await using at = await scenes.open();
    const { page } = at;
    await page.keyboard.press("Alt+Shift+T");
    await typeCommand(page, screenOf(page), "before");
    await page.keyboard.type("for i in $(seq 300); do echo line-$i; done");
    await page.keyboard.press("Enter");
    await screenOf(page).getByText("line-300").waitFor();
    const before = await at.layout();
    await page.reload();
    await screenOf(page).getByText("line-300").waitFor();
    // It is far above the screen.
    await page.keyboard.press("Alt+Shift+F");
    await page.keyboard.type("before-4");
    await page.getByText("1/1").waitFor();
    await screenOf(page).getByText("line-20", { exact: true }).waitFor();
    const after = await at.layout();
    expect([after.workspaceRevision, after.snapshot.layouts]).toEqual([
      before.workspaceRevision,
      before.snapshot.layouts,
    ]);
    await page.keyboard.press("Escape");
    await typeCommand(page, screenOf(page), "down");
    // Every client is sent away, as when the server stops; the listener is there for those who come again.
    const [terminal] = (await at.freshell.call("GET", "/api/terminals")).json as unknown as { terminalId: string }[];
    at.freshell.freshell.end();
    await at.freshell.call("POST", `/api/terminals/${terminal?.terminalId}/input`, {
      data: "echo mean$((1+1))while\r",
    });
    await screenOf(page).getByText("mean2while").waitFor();
    await typeCommand(page, screenOf(page), "again");
  });

  test("what a terminal prints is text: no HTML, no script of a link, and the clipboard asks", async () => {
    await using at = await scenes.open();
    const { page } = at;
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.keyboard.press("Alt+Shift+T");
    const screen = screenOf(page);
    await typeCommand(page, screen, "ready");
    const print = async (text: string): Promise<void> => {
      await page.keyboard.type(`printf '${text}'; echo end-$((1+1))`);
      await page.keyboard.press("Enter");
    };
    await print(String.raw`<img src=x onerror="document.title=1">\033]0;<b>title\007\n`);
    await screen.getByText("<img src=x onerror=").last().waitFor();
    expect(await page.locator("img, b").count()).toBe(0);
    await print(String.raw`\033]8;;javascript:alert(1)\033\\evil-link\033]8;;\033\\\n`);
    const evil = screen.locator(".xterm-rows span", { hasText: /^evil-link/ }).last();
    await evil.waitFor();
    await evil.click();
    expect(await page.getByRole("alertdialog").count()).toBe(0);
    await print(String.raw`\033]8;;https://example.org/path\033\\good-link\033]8;;\033\\\n`);
    const good = screen.locator(".xterm-rows span", { hasText: /^good-link/ }).last();
    await good.hover();
    await good.click();
    const asked = page.getByRole("alertdialog", { name: "Open a link" });
    await asked.getByText("https://example.org/path").waitFor();
    await asked.getByRole("button", { name: "Cancel" }).click();
    await screen.locator(".xterm-screen").click();
    await print(String.raw`\033]52;c;aGVsbG8=\007`);
    const copy = page.getByRole("alertdialog", { name: "Copy to the clipboard" });
    await copy.getByText("hello").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe("");
    await copy.getByRole("button", { name: "Allow" }).click();
    await expect.poll(() => page.evaluate("navigator.clipboard.readText()")).toBe("hello");
  });

  test("a file is edited and saved, and one that somebody changed is not overwritten unasked; a page of the web is in a sandbox", async () => {
    const folder = mkdtempSync(join(tmpdir(), "tw-edit-"));
    try {
      const path = join(folder, "notes.md");
      writeFileSync(path, "one\r\ntwo\r\n");
      await using at = await scenes.open({ freshell: { app: { homeDir: folder } } });
      const { page } = at;
      expect(await at.rpc("new-tab", { editor: path })).toMatchObject({ ok: true });
      const editor = page.locator(".cm-content");
      await editor.getByText("two").click();
      await page.keyboard.press("End");
      await page.keyboard.type("\nthree");
      await page.getByText("not saved").waitFor();
      await page.keyboard.press("Control+S");
      await expect.poll(() => readFileSync(path, "utf8")).toBe("one\r\ntwo\r\nthree\r\n");
      await until(page, "document.querySelector('.editor-pane').dataset.file === 'ready'");
      writeFileSync(path, "theirs\n");
      await page.keyboard.type("!");
      await page.getByText("not saved").waitFor();
      await page.keyboard.press("Control+S");
      const conflict = page.getByRole("alertdialog", { name: "The file has changed" });
      await conflict.waitFor();
      expect(readFileSync(path, "utf8")).toBe("theirs\n");
      await conflict.getByRole("button", { name: "Write mine over it" }).click();
      await expect.poll(() => readFileSync(path, "utf8")).toBe("one\r\ntwo\r\nthree!\r\n");
      await until(page, "document.querySelector('.editor-pane').dataset.file === 'ready'");
      await page.keyboard.type("?");
      await page.getByText("not saved").waitFor();
      const [pane] = (await at.layout()).snapshot.panes;
      expect(await at.rpc("kill-pane", { target: `pane:${pane?.id}` })).toMatchObject({ ok: true });
      writeFileSync(path, "theirs again\n");
      expect(await at.rpc("new-tab", { editor: path })).toMatchObject({ ok: true });
      await conflict.waitFor();
      await page.keyboard.press("Control+S");
      await conflict.getByRole("button", { name: "Take theirs" }).click();
      await editor.getByText("theirs again").waitFor();
      expect(readFileSync(path, "utf8")).toBe("theirs again\n");
      expect(await at.rpc("new-tab", { browser: `${at.freshell.url}/device/` })).toMatchObject({ ok: true });
      await page.getByText("A page of this server is not shown in a pane.").waitFor();
      await page.getByRole("textbox", { name: "Address" }).fill("data:text/html,x");
      await page.keyboard.press("Enter");
      await page.getByRole("alert").getByText(/url/).waitFor();
      expect(await page.locator("iframe").count()).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("a conversation: said, answered, a tool allowed, and there again after a reload", async () => {
    const log = mkdtempSync(join(tmpdir(), "tw-agent-"));
    try {
      await using at = await scenes.open({ freshell: { env: { CLAUDE_CMD: FAKE_CLAUDE, FAKE_AGENT_LOG: log } } });
      const { page } = at;
      await page.getByRole("button", { name: "New tab" }).click();
      await page.getByRole("button", { name: "Conversation with Claude" }).click();
      const say = async (text: string): Promise<void> => {
        await page.getByLabel("Message").fill(text);
        await page.keyboard.press("Enter");
      };
      await say("echo <b>bold</b> words");
      await page.locator(".said.assistant", { hasText: "<b>bold</b> words" }).waitFor();
      await say("permission rm -r build");
      const asked = page.getByRole("alertdialog", { name: "Permission request" });
      await asked.waitFor();
      await page.reload();
      await asked.getByRole("button", { name: "Allow" }).click();
      await asked.waitFor({ state: "detached" });
      await page.locator(".said.assistant", { hasText: "answered:" }).waitFor();
      await page.locator(".said.user", { hasText: "echo <b>bold</b> words" }).waitFor();
      expect(await page.locator(".chat-list b").count()).toBe(0);
      // Its connection ends without a word: what is sent on it arrives nowhere.
      let cut: () => Promise<void> = () => Promise.resolve();
      await page.routeWebSocket(/\/ws$/, (socket) => {
        const server = socket.connectToServer();
        let isLost = false;
        socket.onMessage((message) => {
          if (String(message).includes("unheard")) isLost = true;
          else if (!isLost) server.send(message);
        });
        cut = async () => socket.close();
      });
      await page.reload();
      await page.locator(".said.assistant", { hasText: "answered:" }).waitFor();
      await say("echo unheard");
      await page.locator(".said.user", { hasText: "unheard" }).waitFor();
      await cut();
      await page.getByRole("alert").getByText("did not arrive").waitFor();
      expect(await page.getByLabel("Message").inputValue()).toBe("echo unheard");
    } finally {
      rmSync(log, { recursive: true, force: true });
    }
  });
});
