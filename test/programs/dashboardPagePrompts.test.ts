/**
 * Agents on the dashboard's page that no hook tells of, as a person has them: told something, renamed, ended and started, with
 * the built daemon, the user's own tmux and programs that behave as agents do.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { AGENT_DIRECTORY, AgentChannel } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { callJson } from "../support/daemon/nativeServer.ts";
import { NO_BROWSER, startBrowser } from "../support/page/browser.ts";
import { userSession } from "../support/tmux/guestFixture.ts";
import { type PrivateSocket, privateSocket } from "../support/tmux/ownedFixture.ts";

interface Scene extends AsyncDisposable {
  readonly sandbox: CliSandbox;
  readonly socket: PrivateSocket;
  /** Of the agents in the user's tmux, in the order of their sessions. */
  readonly channels: readonly AgentChannel[];
  readonly page: Page;
}

/** An agent in a session of this name for each, beside whatever `claude` on the PATH starts. */
async function scene(...sessions: readonly string[]): Promise<Scene> {
  const socket = privateSocket();
  const sandbox = cliSandbox();
  const channels: AgentChannel[] = [];
  for (const session of sessions) {
    const channel = await AgentChannel.open(socket.directory);
    channels.push(channel);
    const claude = join(sandbox.binaries(session, { claude: program(channel) }), "claude");
    userSession(socket, session, ["sh", "-c", `${claude}; exec sh`]);
    await channel.next("ready");
  }
  const args = ["serve", "--only", "dashboard", "--dashboard-tmux-socket", socket.socketPath];
  const daemon = sandbox.start(args);
  const [, url = ""] = await daemon.line(/dashboard listening on (http:\S+)/);
  const browser = await startBrowser();
  const opened = await browser.open(url);
  return {
    sandbox,
    socket,
    channels,
    page: opened.page,
    [Symbol.asyncDispose]: async () => {
      await browser[Symbol.asyncDispose]();
      await sandbox[Symbol.asyncDispose]();
      await socket[Symbol.asyncDispose]();
      for (const channel of channels) await channel[Symbol.asyncDispose]();
      expect(opened.wrongs).toEqual([]);
    },
  };
}

/** The agent under its own name, by which it is found. */
const program = (channel: AgentChannel): string => `#!${process.execPath}
process.argv.push(...${JSON.stringify(channel.argv("inkPrompt", { busyMs: 0, whileBusy: "queue" }).slice(2))});
void import(${JSON.stringify(join(AGENT_DIRECTORY, "inkPrompt.mjs"))});
`;

describe.skipIf(NO_BROWSER !== undefined)("the page", () => {
  test("tells an agent something at once, keeps what it is told while it works, and lets that be edited and cancelled", async () => {
    await using at = await scene("work");
    const { page } = at;
    const [agent] = at.channels;
    const card = page.locator("article").first();
    await card.getByText("Ready").waitFor();
    await card.click();
    await page.keyboard.press("/");
    await page.keyboard.type("first prompt");
    await page.keyboard.press("Enter");
    await agent!.next("submit");
    await card.getByText("Working").waitFor();
    await card.locator(".task").getByText("first prompt").waitFor();

    await card.getByRole("button", { name: "Prompt" }).click();
    await page.keyboard.type("second");
    await page.keyboard.press("Enter");
    const waiting = card.getByRole("list", { name: /not been delivered/ });
    await waiting.getByText("second").waitFor();
    await waiting.getByRole("button", { name: "Edit" }).click();
    await expect.poll(() => card.locator("textarea").inputValue()).toBe("second");
    await waiting.waitFor({ state: "detached" });
    await card.locator("textarea").fill("second, edited");
    await page.keyboard.press("Enter");
    await waiting.getByText("second, edited").waitFor();
    await card.getByRole("button", { name: "Prompt" }).click();
    await page.keyboard.type("never");
    await page.keyboard.press("Enter");
    await waiting.getByText("never").waitFor();
    await waiting.getByRole("button", { name: "Cancel" }).last().click();
    await waiting.getByText("never").waitFor({ state: "detached" });
    expect(agent!.submits()).toEqual(["first prompt"]);
    await agent!.tell("idle");
    await eventually(() => agent!.submits().length === 2);
    await waiting.waitFor({ state: "detached" });
    expect(agent!.submits()).toEqual(["first prompt", "second, edited"]);
    // Its own history, without a hook.
    await card.locator(".task").getByText("second, edited").waitFor();
  });

  test("renames and ends an agent, and refuses what would lose its turn until it is asked twice", async () => {
    await using at = await scene("one", "two");
    const { page } = at;
    await expect.poll(() => page.locator("article").count()).toBe(2);
    const names = page.locator(".card-name");
    const [first, second] = (await names.allTextContents()).toSorted();
    await expect.poll(() => page.locator(".badge.ready").count()).toBe(2);
    // The dashboard's own connection: for agents that were found no client is attached to their sessions.
    expect(at.socket.tmux("list-clients", "-F", "#{client_control_mode}").trim().split("\n")).toEqual(["1"]);
    // Both run in one directory.
    expect(second).toBe(`${first} (2)`);
    const card = page.locator("article").filter({ has: page.getByRole("heading", { name: second!, exact: true }) });
    await card.getByRole("button", { name: `Details of ${second}` }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("no such: name");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Name").fill("api");
    await dialog.getByRole("button", { name: "Rename" }).click();
    await card.getByText("· api ·").waitFor();
    await at.channels[1]!.tell("busy");
    await dialog.getByText("Refused while something would be lost.").waitFor();
    await dialog.getByRole("button", { name: "End it" }).click();
    await dialog.getByRole("alert").waitFor();
    const ended = at.channels[1]!.next("exit");
    await dialog.getByRole("button", { name: "End it all the same" }).click();
    await Promise.race([ended, dialog.waitFor({ state: "detached" })]);
    await expect.poll(() => page.locator("article").count()).toBe(1);
    // Its shell stays.
    expect(at.socket.tmux("list-panes", "-a", "-F", "#{session_name}").trim().split("\n").toSorted()).toEqual([
      "one",
      "two",
    ]);
  });

  test("starts an agent in the user's tmux with a prompt, and says what fails", async () => {
    await using at = await scene("work");
    const { page, sandbox, socket } = at;
    await page.locator("article").first().waitFor();
    const project = sandbox.path("shop");
    mkdirSync(project);
    await page.keyboard.press("s");
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Directory").fill("relative");
    await dialog.getByRole("button", { name: "Start" }).click();
    await dialog.getByText("cwd must be an absolute path").waitFor();
    await dialog.getByLabel("Directory").fill(project);
    await dialog.getByLabel("Name").fill("shopper");
    await dialog.getByLabel("Prompt").fill("two\nlines");
    // Nobody has put a program of this name on the PATH of the user's tmux.
    await dialog.getByRole("button", { name: "Start" }).click();
    await dialog
      .getByRole("alert")
      .filter({ hasText: /ended|refused|not found/i })
      .waitFor();
    await using started = await AgentChannel.open(sandbox.path());
    const bin = sandbox.binaries("started", { claude: program(started) });
    socket.tmux("set-environment", "-g", "PATH", `${bin}:${process.env["PATH"]}`);
    await dialog.getByLabel("Name").fill("shopper-2");
    await dialog.getByRole("button", { name: "Start" }).click();
    await dialog.waitFor({ state: "detached" });
    await started.next("submit");
    expect(started.submits()).toEqual(["two\nlines"]);
    const card = page.locator("article").filter({ hasText: "shopper-2" });
    await card.getByText("Working").waitFor();
    expect(socket.tmux("list-sessions", "-F", "#{session_name}")).toContain("shopper-2");
  });
});

test("what the page may do is for agents of its tmux alone, although the daemon knows others", async () => {
  await using socket = privateSocket();
  await using sandbox = cliSandbox();
  await using channel = await AgentChannel.open(sandbox.root);
  const bin = sandbox.binaries("bin", { claude: program(channel) });
  const daemon = await sandbox.serve(["--only", "native,dashboard", "--dashboard-tmux-socket", socket.socketPath]);
  const [, url = ""] = await daemon.line(/dashboard listening on (http:\S+)/);
  const post = (path: string, body: object) => callJson(url, "POST", path, body, {});
  // On the daemon's own server, which is not the dashboard's.
  expect((await sandbox.run(["new", "work", "--", join(bin, "claude")])).code).toBe(0);
  await channel.next("ready");
  await eventually(async () => (await sandbox.run(["agents"])).stdout.includes("claude"), 100);
  const told = await sandbox.run(["tell", "claude", "hello", "--json"]);
  expect(told.code).toBe(0);
  const { id } = JSON.parse(told.stdout) as { readonly id: string };
  const foreign = [
    await post("/v1/agents/claude/messages", { text: "from the page" }),
    await post("/v1/agents/claude/rename", { name: "other" }),
    await post("/v1/agents/claude/end", { force: true }),
    await callJson(url, "DELETE", `/v1/messages/${id}`, undefined, {}),
    await post("/v1/agents", { agent: "claude", server: "main" }),
    await post("/v1/agents/claude/interrupt", {}),
  ];
  expect(foreign.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
  await channel.next("submit");
  expect(channel.submits()).toEqual(["hello"]);
});
