/**
 * Many agents and many pages open, the daemon as it is built: a dialog until it stands on its card, a click until its key is in the
 * program; and what the daemon costs while nobody does anything. AGENTS (60), PAGES (10), READERS (0: pages elsewhere, which get
 * the same events and draw nothing here: ten pages that draw share this machine's cores), TRIES (10), WORKING (10 of them),
 * IDLE_AGENTS (200), IDLE_MS (20,000). Other work on the machine shows in the figures, so its load is printed beside.
 */
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { AgentName } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type CliSandbox, cliSandbox } from "../support/daemon/cliSandbox.ts";
import { dashboardFleet, type FleetAgent } from "../support/daemon/dashboardFleet.ts";
import { EventReader, UUID } from "../support/daemon/dashboardFixture.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { callJson } from "../support/daemon/nativeServer.ts";
import { costOf } from "../support/daemon/processCost.ts";
import { type BrowserPage, NO_BROWSER, startBrowser } from "../support/page/browser.ts";

const AGENTS = Number(process.env["AGENTS"] ?? 60);
const PAGES = Number(process.env["PAGES"] ?? 10);
const READERS = Number(process.env["READERS"] ?? 0);
const TRIES = Number(process.env["TRIES"] ?? 10);
const WORKING = Number(process.env["WORKING"] ?? 10);
const IDLE_AGENTS = Number(process.env["IDLE_AGENTS"] ?? 200);
const IDLE_MS = Number(process.env["IDLE_MS"] ?? 20_000);
const WITHIN_MS = 180_000 + TRIES * 5_000 + IDLE_MS;

/** From a question to the answer, at the very least. */
const PERSON_MS = 200;
/** What an agent that has just been started may still do. */
const CALM_MS = 5_000;

const PROGRAMS: readonly AgentName[] = ["dialog", "codexLike", "geminiLike", "opencodeLike", "piLike"];

const tell = (what: string, figures: object): void =>
  report("dashboardPages", { what, ...figures, load: loadavg()[0]?.toFixed(2) });

/** In the page: when a card's question and its options first stand in the document, and when the mouse was pressed. */
const WATCH = `
globalThis.awaited = undefined;
globalThis.pressedMs = undefined;
const look = () => {
  const card = awaited === undefined ? null : document.getElementById(awaited.card);
  const question = card?.querySelector(".question")?.textContent ?? "";
  if (!question.includes(awaited?.words) || card.querySelector("[data-option]") === null) return;
  const { resolve } = awaited;
  awaited = undefined;
  resolve(Date.now());
};
new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
document.addEventListener("pointerdown", () => (pressedMs = Date.now()), true);
`;

async function serve(sandbox: CliSandbox, socketPath: string) {
  const served = ["serve", "--only", "native,dashboard", "--port", "0", "--dashboard-tmux-socket", socketPath];
  const daemon = sandbox.start([...served, "--log-level", "warn"]);
  const [, url = ""] = await daemon.line(/dashboard listening on (\S+)/);
  return { daemon, url };
}

const untilCards = (page: Page, count: number): Promise<void> =>
  eventually(async () => (await page.locator("article.card .badge.ready").count()) === count, 100);

/** How its dialogs become known, besides by the screen: by hooks, or only because somebody has registered it. */
type Way = "hooks" | "registered";

async function register(url: string, agent: FleetAgent, way: Way): Promise<number> {
  const uuid = way === "hooks" ? UUID : UUID.replace(/.{4}$/, "0001");
  const body = { session_uuid: uuid, project_path: `/work/${way}`, tmux_pane_id: agent.pane };
  const { json } = await callJson(url, "POST", "/api/sessions", body, {});
  if (way === "hooks") {
    await callJson(url, "POST", "/hook/session-start", { session_id: way, headspace_session_id: uuid }, {});
  }
  return Number(json["agent_id"]);
}

test.skipIf(NO_BROWSER !== undefined)(
  "a dialog comes into the card, and a click into the program",
  async () => {
    await using sandbox = cliSandbox();
    await using browser = await startBrowser();
    await using fleet = await dashboardFleet(sandbox, AGENTS, PROGRAMS);
    for (const agent of fleet.agents) agent.start();
    await Promise.all(fleet.agents.map(({ channel }) => channel.next("ready")));
    const { daemon, url } = await serve(sandbox, fleet.socketPath);
    // Each in a profile of its own: of one profile a browser keeps six connections to a server, and each page needs one.
    const opened: BrowserPage[] = [];
    while (opened.length < PAGES) opened.push(await browser.open(url, { viewport: { width: 1440, height: 900 } }));
    for (const { page } of opened) await untilCards(page, AGENTS);
    const readers: EventReader[] = [];
    while (readers.length < READERS) readers.push(await EventReader.open(`${url}/api/page/events`));
    const { page } = opened.at(-1)!;
    await page.bringToFront();
    await page.evaluate(WATCH);
    const measured = fleet.agents.filter(({ program }) => program === "dialog").slice(0, 2);
    for (const agent of fleet.agents.filter((one) => !measured.includes(one)).slice(0, WORKING)) {
      await agent.channel.tell("busy");
    }
    for (const [at, way] of (["hooks", "registered"] as const).entries()) {
      const agent = measured[at]!;
      const { channel } = agent;
      const id = await register(url, agent, way);
      const card = `agent-${id}`;
      const hook = async (name: string, body: object): Promise<void> => {
        if (way === "hooks") await callJson(url, "POST", `/hook/${name}`, { session_id: way, ...body }, {});
      };
      await delay(CALM_MS);
      const [shown, pressed]: [number[], number[]] = [[], []];
      for (let turn = 0; turn < TRIES; turn += 1) {
        const words = `step ${turn}.`;
        await channel.tell("busy");
        await hook("user-prompt-submit", { prompt: "next" });
        await page.locator(`#${card} .badge.working`).waitFor();
        await hook("permission-request", { tool_name: "Bash", tool_input: { command: words } });
        const from = channel.log.length;
        const question = JSON.stringify({ card, words });
        const seen = page.evaluate<number>(`new Promise((resolve) => (awaited = { ...${question}, resolve }))`);
        await channel.tell("ask", { question: `Do you want to take ${words}` });
        const dialog = await channel.next("dialog", from);
        shown.push((await seen) - dialog.atUnixMs);
        // Nobody answers in the same millisecond in which the question is seen.
        await delay(PERSON_MS);
        const answeredFrom = channel.log.length;
        await page.locator(`#${card} [data-option="0"]`).click();
        const key = await channel.next("key", answeredFrom);
        pressed.push(key.atUnixMs - (await page.evaluate<number>("pressedMs")));
        await channel.next("tool", answeredFrom);
        await page.locator(`#${card} [data-option]`).first().waitFor({ state: "detached" });
      }
      expect(channel.count("tool")).toBe(TRIES);
      const figures = { dialogToCard: spread(shown), clickToProgram: spread(pressed) };
      tell(way, {
        agents: AGENTS,
        pages: PAGES,
        working: WORKING,
        tries: TRIES,
        ...figures,
        daemon: costOf(daemon.pid),
      });
      expect.soft(figures.dialogToCard.p99Ms).toBeLessThanOrEqual(80);
      expect.soft(figures.clickToProgram.p50Ms).toBeLessThanOrEqual(80);
      await channel.tell("idle");
    }
    for (const reader of readers) reader.close();
    expect(opened.flatMap(({ wrongs }) => wrongs)).toEqual([]);
  },
  WITHIN_MS,
);

/** An agent in its prompt box, which costs nothing by itself. */
const QUIET = `#!/bin/sh
stty -echo
printf '\\033]0;✳ quiet\\007%s\\n❯ \\n%s\\n  ? for shortcuts\\n' ${"─".repeat(60)} ${"─".repeat(60)}
while read -r line; do :; done
`;
const WINDOWS_OF_A_SESSION = 10;

test.skipIf(NO_BROWSER !== undefined)(
  "idle agents and a page cost the daemon little",
  async () => {
    await using sandbox = cliSandbox();
    await using browser = await startBrowser();
    const claude = join(sandbox.binaries("bin", { claude: QUIET }), "claude");
    const socketPath = sandbox.path("run/tmux-user.sock");
    for (let at = 0; at < IDLE_AGENTS; at += 1) {
      const session = `s${Math.floor(at / WINDOWS_OF_A_SESSION)}`;
      const isFirst = at % WINDOWS_OF_A_SESSION === 0;
      const made = isFirst
        ? ["new-session", "-s", session, "-x", "100", "-y", "30"]
        : ["new-window", "-t", `=${session}:`];
      sandbox.tmux(socketPath, "-f", "/dev/null", ...made, "-d", "--", claude);
    }
    const { daemon, url } = await serve(sandbox, socketPath);
    await using opened = await browser.open(url, { viewport: { width: 1440, height: 900 } });
    await untilCards(opened.page, IDLE_AGENTS);
    await delay(CALM_MS);
    const before = costOf(daemon.pid);
    await delay(IDLE_MS);
    const after = costOf(daemon.pid);
    const cpuPercent = Math.round(((after.cpuMs - before.cpuMs) / IDLE_MS) * 10_000) / 100;
    tell("idle", { agents: IDLE_AGENTS, pages: 1, cpuPercent, rssMiB: after.rssMiB });
    expect(opened.wrongs).toEqual([]);
    expect(cpuPercent).toBeLessThanOrEqual(2);
  },
  WITHIN_MS,
);
