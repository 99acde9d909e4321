/** The page's notifications as a person has them: the daemon as it is built, a real browser, its service worker and what it shows. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { AgentChannel } from "../support/agents/agentPrograms.ts";
import { pushReceiver } from "../support/agents/pushReceiver.ts";
import { Disposables } from "../support/disposables.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { NO_BROWSER, startBrowser } from "../support/page/browser.ts";
import { pushedTo, subscribesAt } from "../support/page/pushBrowser.ts";

async function scene() {
  const stack = new Disposables();
  const sandbox = stack.use(cliSandbox());
  const starting = startBrowser();
  const channel = stack.use(await AgentChannel.open(sandbox.root));
  const key = { value: "" };
  const receiver = stack.use(await pushReceiver(() => key.value));
  const bin = sandbox.binaries("bin", { claude: channel.executable("dialog", { busyMs: 0 }) });
  const socket = sandbox.path("run/tmux-user.sock");
  const session = ["new-session", "-d", "-s", "work", "-x", "100", "-y", "30", "--", join(bin, "claude")];
  sandbox.tmux(socket, "-f", "/dev/null", ...session);
  await channel.next("ready");
  const served = ["serve", "--only", "native,dashboard", "--port", "0", "--dashboard-tmux-socket", socket];
  const daemon = sandbox.start(served);
  const [, url = ""] = await daemon.line(/dashboard listening on (\S+)/);
  const browser = stack.use(await starting);
  const opened = await browser.open(url, {
    permissions: ["notifications"],
    before: subscribesAt(receiver.url, receiver.keys),
  });
  return {
    sandbox,
    channel,
    key,
    receiver,
    url,
    opened,
    page: opened.page,
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await stack[Symbol.asyncDispose]();
      expect(opened.wrongs).toEqual([]);
    },
  };
}

test.skipIf(NO_BROWSER !== undefined)(
  "a person has their browser notified, is shown a question once they look elsewhere, goes to the agent, and ends it",
  async () => {
    await using at = await scene();
    const { page, receiver, key, channel, sandbox } = at;
    key.value = await page.evaluate(
      "fetch('/api/push/key').then((response) => response.json()).then(({ key }) => key)",
    );
    await page.getByRole("button", { name: "Notify me" }).click();
    const dialog = page.getByRole("dialog", { name: "Notifications" });
    await dialog.getByLabel("Answer from the notification").check();
    expect(await dialog.getByLabel("Show what agents ask and say").isChecked()).toBe(true);
    await dialog.getByRole("button", { name: "Notify this browser" }).click();
    await dialog.getByText(/Its name is chrome-linux/).waitFor();
    expect(await page.evaluate("localStorage.getItem('test.push')")).toBe(JSON.stringify([true, key.value]));
    const worker = await page.evaluate(
      "navigator.serviceWorker.getRegistration('/page/').then(({ scope, active }) => [scope, active.scriptURL])",
    );
    expect(worker).toEqual([`${at.url}/page/`, `${at.url}/page/serviceWorker.js`]);
    // It has no request of the page to handle.
    expect(await page.evaluate("navigator.serviceWorker.controller")).toBeNull();
    await dialog.getByRole("button", { name: "Send a test" }).click();
    await dialog.getByText("A test is on its way.").waitFor();
    expect(receiver.received.map(({ notice }) => notice.title)).toEqual(["test asks a question"]);
    await dialog.getByRole("button", { name: "Close" }).click();

    const card = page.locator("#agent-1");
    await card.waitFor();
    await channel.tell("ask", { kind: "select", question: "Which colour?", options: ["Red", "Green", "Blue"] });
    await eventually(() => receiver.received.length === 2);
    const { notice } = receiver.received[1]!;
    expect(notice.message).toMatch(/^Claude Code in .*\n[^]*1\. Red/);

    const pushed = await pushedTo(page);
    // Whoever looks at the page sees it there.
    await pushed.deliver(notice);
    expect(await pushed.shown()).toEqual([]);
    await page.goto("about:blank");
    await eventually(async () => (await pushed.pages()) === 0);
    await pushed.deliver(notice);
    await eventually(async () => (await pushed.shown()).length === 1);
    const actions = [
      { action: "0", title: "1. Red" },
      { action: "1", title: "2. Green" },
    ];
    const asks = { title: "claude asks a question", tag: notice.id, silent: false, actions };
    expect(await pushed.shown()).toMatchObject([asks]);
    const answered = channel.next("answer");
    await pushed.press("1");
    expect(await pushed.shown()).toMatchObject([
      { tag: notice.id, body: "answered: 2. Green", silent: true, actions: [] },
    ]);
    await answered;
    await pushed.deliver(notice);
    await eventually(async () => (await pushed.shown())[0]?.actions.length === 2);
    await pushed.press("1");
    expect(await pushed.shown()).toMatchObject([
      { tag: notice.id, body: expect.stringMatching(/^not answered: .*no longer valid/) as string },
    ]);
    await page.goto(at.url);
    await card.waitFor();
    await pushed.press();
    await eventually(async () => (await page.evaluate("document.activeElement.id")) === "agent-1");
    expect(await pushed.shown()).toEqual([]);

    await page.getByRole("button", { name: "Notifying" }).click();
    await dialog.getByRole("button", { name: "Stop notifying" }).click();
    await dialog.getByRole("button", { name: "Notify this browser" }).waitFor();
    expect((await sandbox.run(["notify"])).stdout).toBe("");
    expect(await page.evaluate("localStorage.getItem('test.push')")).toBeNull();
  },
);
