/**
 * The timeline on the dashboard's page and on the command line, with the built daemon, the user's own tmux and a program that
 * behaves as an agent does: asked from the page, answered there, by the command line and in the pane; the daemon restarted in
 * between; searched when it has ended. And recordings of its pane, begun, stopped and played there.
 */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AGENT_DIRECTORY, AgentChannel } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { callJson } from "../support/daemon/nativeServer.ts";
import { NO_BROWSER, startBrowser } from "../support/page/browser.ts";
import { userSession } from "../support/tmux/guestFixture.ts";
import { privateSocket } from "../support/tmux/ownedFixture.ts";
import type { NativeTimeline } from "../../adapters/client/client.ts";

/** The agent under its own name, by which it is found. */
const program = (channel: AgentChannel): string => `#!${process.execPath}
process.argv.push(...${JSON.stringify(channel.argv("dialog", { busyMs: 0 }).slice(2))});
void import(${JSON.stringify(join(AGENT_DIRECTORY, "dialog.mjs"))});
`;

describe.skipIf(NO_BROWSER !== undefined)("the page", () => {
  test("shows what an agent was asked, asked and did, also after a restart and its end, and records its pane", async () => {
    await using socket = privateSocket();
    await using sandbox = cliSandbox();
    await using channel = await AgentChannel.open(socket.directory);
    await using another = await AgentChannel.open(socket.directory);
    const claude = join(sandbox.binaries("work", { claude: program(channel) }), "claude");
    userSession(socket, "work", ["sh", "-c", `${claude}; exec sh`]);
    await channel.next("ready");
    const dashboard = ["--dashboard-tmux-socket", socket.socketPath];
    const serve = ["serve", "--only", "native,dashboard", "--port", "0", ...dashboard];
    const listening = /dashboard listening on (http:\S+)/;
    const first = sandbox.start(serve);
    const [, url = ""] = await first.line(listening);
    const timeline = async (...args: readonly string[]): Promise<NativeTimeline["entries"]> => {
      const { stdout } = await sandbox.run(["timeline", ...args, "--json"]);
      return (JSON.parse(stdout) as NativeTimeline).entries;
    };
    await using browser = await startBrowser();
    const opened = await browser.open(url);
    const { page } = opened;
    const card = page.locator("article").first();
    await card.getByText("Ready").waitFor();
    // By keys alone.
    await page.keyboard.press("j");
    await page.keyboard.press("/");
    await page.keyboard.type("delete the old files");
    await page.keyboard.press("Enter");
    await channel.next("submit");
    await channel.tell("ask");
    await card.getByText("Do you want to proceed?").first().waitFor();
    // What replaces another question takes no press for a moment.
    await card.locator('[data-option="0"]').waitFor();
    await card.focus();
    await page.keyboard.press("1");
    await channel.next("answer");
    // The same question again is another one once the first has been seen to go.
    await eventually(async () => (await timeline("--kind", "answer")).length === 1);
    await channel.tell("ask");
    await eventually(async () => (await timeline("--kind", "question")).length === 2);
    const [asks] = await timeline("--kind", "question");
    expect((await sandbox.run(["answer", asks!.agent, "1"])).code).toBe(0);
    await eventually(async () => (await timeline("--kind", "answer")).length === 2);

    await page.keyboard.press("t");
    const dialog = page.getByRole("dialog", { name: /^Timeline of/ });
    const entries = dialog.getByRole("listitem");
    await dialog.getByText("Answer · dashboard").waitFor();
    await dialog.getByText("Answer · command line or API").waitFor();
    await dialog.getByText("Prompt · waiting message · taken").waitFor();
    const count = await entries.count();
    expect(count).toBe(6);
    await dialog.getByLabel("Find in the timeline").focus();
    await page.keyboard.type("OLD FILES");
    await page.keyboard.press("Enter");
    await eventually(async () => (await entries.count()) === 1);
    expect(await entries.first().innerText()).toContain("delete the old files");

    // Its pane is recorded, from the same place.
    await dialog.getByRole("button", { name: "Recordings" }).focus();
    await page.keyboard.press("Enter");
    const recordings = page.getByRole("dialog", { name: /^Recordings of/ });
    await recordings.getByText("The daemon has none").waitFor();
    await recordings.getByRole("button", { name: "Record its pane" }).click();
    await recordings.getByRole("button", { name: "Stop recording" }).click();
    await recordings.getByRole("button", { name: "Record its pane" }).waitFor();
    await recordings.getByRole("button", { name: /%\d/ }).click();
    await page.locator(".recordings .screen").getByText("delete the old files").first().waitFor();
    await page.keyboard.press("Escape");

    // Agents, panes and recordings of another server are not reached through the page.
    const other = join(sandbox.binaries("other", { claude: program(another) }), "claude");
    expect((await sandbox.run(["new", "other", "--", other])).code).toBe(0);
    await another.next("ready");
    await eventually(async () => (await timeline("--on", "main", "--kind", "started")).length === 1);
    const shown = (await callJson(url, "GET", "/v1/timeline?kind=started", undefined, {})).json as {
      readonly entries: readonly unknown[];
    };
    expect(shown.entries).toHaveLength(1);
    const id = (await sandbox.run(["start-recording", "other"])).stdout.trim();
    const [elsewhere] = await timeline("--on", "main", "--kind", "started");
    for (const path of [
      `/v1/recordings/${id}/stop`,
      `/v1/servers/main/panes/${elsewhere!.agent}/recordings`,
      `/v1/servers/user/panes/%250/recordings`,
    ]) {
      expect([path, (await callJson(url, "POST", path, {}, {})).status]).toEqual([path, 404]);
    }
    await another.tell("exit");
    await eventually(async () => (await timeline("--on", "main", "--kind", "ended")).length === 1);

    const before = (await timeline()).map(({ number, kind }) => [number, kind]);
    first.child.kill("SIGTERM");
    await first.finished;
    const second = sandbox.start([...serve, "--dashboard-port", new URL(url).port]);
    await second.line(listening);
    await channel.tell("exit");
    await eventually(async () => (await timeline("--kind", "ended")).length === 2);
    const after = (await timeline()).map(({ number, kind }) => [number, kind]);
    expect(after.slice(-before.length)).toEqual(before);
    expect(new Set(after.map(([number]) => number)).size).toBe(after.length);

    // It has no card any more: found among all.
    await page.reload();
    await page.getByRole("button", { name: "Timeline", exact: true }).click();
    const all = page.getByRole("dialog", { name: "Timeline" });
    await all.getByLabel("Find in the timeline").fill("nothing of the kind");
    await page.keyboard.press("Enter");
    await all.getByText("Nothing has these words.").waitFor();
    await all.getByLabel("Find in the timeline").fill("");
    await page.keyboard.press("Enter");
    await all.getByLabel("Show").selectOption("ended");
    await eventually(async () => (await all.getByRole("listitem").count()) === 1);
    await all.getByRole("button", { name: /^Timeline of/ }).click();
    await all.getByLabel("Show").selectOption("");
    await page
      .getByRole("dialog", { name: /^Timeline of/ })
      .getByText("delete the old files")
      .waitFor();
    expect(opened.wrongs.filter((wrong) => !wrong.includes("ERR_CONNECTION_REFUSED"))).toEqual([]);
  });
});
