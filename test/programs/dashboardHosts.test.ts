/**
 * Agents of another machine on the dashboard's page, as a person has them: a daemon here, a daemon behind a real sshd, a program
 * that behaves as an agent does in a pane there, and a real browser.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { AgentChannel } from "../support/agents/agentPrograms.ts";
import { Disposables } from "../support/disposables.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { callJson } from "../support/daemon/nativeServer.ts";
import { type SshHost, sshHost } from "../support/daemon/sshHost.ts";
import { NO_BROWSER, startBrowser } from "../support/page/browser.ts";
import { privateSocket } from "../support/tmux/ownedFixture.ts";
import { run } from "../support/daemon/sandboxDaemon.ts";

interface Scene extends AsyncDisposable {
  readonly host: SshHost;
  readonly here: CliSandbox;
  readonly agent: AgentChannel;
  readonly url: string;
  readonly page: Page;
}

/** An agent called `claude` in the session `work` of the host `build`. */
async function scene(): Promise<Scene> {
  const stack = new Disposables();
  const host = stack.use(await sshHost());
  const socket = stack.use(privateSocket());
  const here = stack.use(cliSandbox());
  const agent = stack.use(await AgentChannel.open(host.sandbox.root));
  const bin = host.sandbox.binaries("agents", {
    claude: agent.executable("dialog", { busyMs: 0, whileBusy: "queue" }),
  });
  const daemon = await here.serve(["--only", "native,dashboard", "--dashboard-tmux-socket", socket.socketPath]);
  const [, url = ""] = await daemon.line(/dashboard listening on (http:\S+)/);
  await run(here, "hosts", "add", "build", "build", "--ssh-config", host.configFile);
  await run(here, "new", "work", "--server", "main@build", "--", join(bin, "claude"));
  await agent.next("ready");
  const browser = stack.use(await startBrowser());
  const opened = await browser.open(url);
  return {
    host,
    here,
    agent,
    url,
    page: opened.page,
    [Symbol.asyncDispose]: async () => {
      await stack[Symbol.asyncDispose]();
      expect(opened.wrongs).toEqual([]);
    },
  };
}

/** The ssh that carries the connection: its files are below this sandbox's own directory. */
const sshPids = (here: CliSandbox): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^[1-9]\d*$/.test(name))
    .filter((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        return line.startsWith("ssh ") && line.includes(here.root);
      } catch {
        return false;
      }
    })
    .map(Number);

function cutConnection(here: CliSandbox): void {
  const pids = sshPids(here);
  expect(pids).not.toEqual([]);
  for (const pid of pids) {
    // A negative number or 0 would be other people's processes.
    if (!(pid > 1)) throw new Error(`no process: ${pid}`);
    process.kill(pid, "SIGKILL");
  }
}

describe.skipIf(NO_BROWSER !== undefined)("the page", () => {
  test("shows an agent of a host, answers it, gives it prompts, and shows its pane", async () => {
    await using at = await scene();
    const { page, agent, host } = at;
    const card = page.locator("article").filter({ hasText: "@build" });
    await card.getByText("Ready").waitFor();
    await card.getByText("main@build").waitFor();

    // The question and its options, once.
    await agent.tell("ask", { question: "Delete <b>everything</b>?" });
    await card.getByText("Input needed").waitFor();
    await card.getByText("Delete <b>everything</b>?").waitFor();
    expect(await page.locator("article b").count()).toBe(0);
    const asked = agent.log.length;
    await card.getByRole("button", { name: "Yes", exact: false }).first().click();
    await agent.next("answer", asked);
    await card.locator(".delivery.delivered").getByText("submitted").waitFor();
    expect(agent.count("answer", asked)).toBe(1);

    // A prompt now, and one that waits and is taken back.
    await agent.tell("idle");
    await card.getByText(/^(Done|Ready)/).waitFor();
    await card.click();
    await page.keyboard.press("/");
    await page.keyboard.type("first prompt");
    await page.keyboard.press("Enter");
    await agent.next((entry) => entry.event === "submit" && entry.text === "first prompt");
    await card.locator(".task").getByText("first prompt").waitFor();
    await card.getByText("Working").waitFor();
    await card.getByRole("button", { name: "Prompt" }).click();
    await page.keyboard.type("never");
    await page.keyboard.press("Enter");
    const waiting = card.getByRole("list", { name: /not been delivered/ });
    await waiting.getByText("never").waitFor();
    await waiting.getByRole("button", { name: "Cancel" }).click();
    await waiting.waitFor({ state: "detached" });
    // Told on the host itself.
    expect((await host.sandbox.run(["tell", "claude", "from there"])).code).toBe(0);
    await waiting.getByText("from there").waitFor();
    await agent.tell("idle");
    await agent.next((entry) => entry.event === "submit" && entry.text === "from there");
    await waiting.waitFor({ state: "detached" });
    expect(agent.submits()).toEqual(["first prompt", "from there"]);

    // Its name, and its pane.
    await card.getByRole("button", { name: /^Details/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Its history is kept on build").waitFor();
    await dialog.getByLabel("Name").fill("shopper");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await card.getByText(/shopper/).waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await agent.tell("idle");
    await card.getByRole("button", { name: "Open pane" }).click();
    const pane = page.getByLabel(/^Pane of /);
    await pane.getByText("from there").first().waitFor();
    await pane.getByRole("button", { name: "Take control" }).click();
    await pane.locator(".pane-held").waitFor();
    await page.keyboard.type("typed here");
    // What comes in one piece with its Enter is a paste to the program.
    await pane.getByText("❯ typed here").waitFor();
    await page.keyboard.press("Enter");
    await agent.next((entry) => entry.event === "submit" && entry.text === "typed here");
    await page.getByRole("button", { name: "Release" }).click();
    await page.getByRole("button", { name: "Close the pane view" }).click();

    // By what is on its screen and nowhere else.
    await page.getByRole("searchbox").fill("esc to interrupt");
    await card.locator(".on-screen").getByText("esc to interrupt").waitFor();
  });

  test("starts an agent on a host, where it says", async () => {
    await using at = await scene();
    const { page, host } = at;
    await using second = await AgentChannel.open(host.sandbox.root);
    const program = host.sandbox.path("bin", "claude");
    writeFileSync(program, second.executable("dialog", { busyMs: 0, whileBusy: "queue" }), { mode: 0o755 });
    await page.locator("article").filter({ hasText: "@build" }).getByText("Ready").waitFor();
    await page.getByRole("button", { name: "Start…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Host").selectOption("build");
    await dialog.getByLabel("Agent").selectOption("claude");
    await dialog.getByLabel("Directory").fill(host.sandbox.root);
    await dialog.getByLabel("Name").fill("started");
    await dialog.getByLabel("Prompt").fill("fix it");
    await dialog.getByRole("button", { name: "Start" }).click();
    await second.next((entry) => entry.event === "submit" && entry.text === "fix it");
    await dialog.waitFor({ state: "detached" });
    const started = page.locator("article").filter({ hasText: "started" });
    await started.getByText("main@build").waitFor();
    const { stdout } = await host.sandbox.run(["agents"]);
    expect(stdout).toContain("started");
  });

  test("says when a host is away, keeps what it showed without buttons, and is right again when the host is back", async () => {
    await using at = await scene();
    const { page, agent, here, host, url } = at;
    const card = page.locator("article").filter({ hasText: "@build" });
    await card.getByText("Ready").waitFor();
    // Other panes of the host are not reached through the page, nor is what only hosts' agents have reached here.
    const asked = [
      await callJson(url, "POST", "/v1/servers/main@build/panes/0/input", { parts: [{ kind: "text", text: "x" }] }, {}),
      await callJson(url, "GET", "/v1/servers/main@build/panes/work/stream", undefined, {}),
      await callJson(url, "POST", "/v1/agents/claude/answer", { answer: { kind: "option", index: 0 } }, {}),
      await callJson(url, "POST", "/v1/agents/claude@nowhere/interrupt", {}, {}),
    ];
    expect(asked.map(({ status }) => status)).toEqual([404, 404, 404, 404]);

    // No new connection until sshd is back.
    await host.stop();
    cutConnection(here);
    const banner = page.locator(".banner").filter({ hasText: "build is away" });
    await banner.waitFor();
    await card.getByText("Host away").waitFor();
    expect(await card.getByRole("button").allTextContents()).toEqual(["⋯"]);
    await agent.tell("ask", { question: "Are you back?" });
    await host.start();
    await banner.waitFor({ state: "detached" });
    await card.getByText("Are you back?").waitFor();
    const back = agent.log.length;
    await page.keyboard.press("n");
    await page.keyboard.press("1");
    await agent.next("answer", back);
    expect(agent.count("answer", back)).toBe(1);

    // By host, and away for good.
    await page.getByLabel("Group by").selectOption("host");
    await page.locator("h2.group").getByText("build").waitFor();
    await page.getByLabel("Show hosts").selectOption("@");
    await expect.poll(() => page.locator("article").count()).toBe(0);
    await page.getByLabel("Show hosts").selectOption("@build");
    await card.waitFor();
    await run(here, "hosts", "rm", "build");
    await card.waitFor({ state: "detached" });
    await eventually(() => sshPids(here).length === 0);
  });
});
