/**
 * The dashboard's page with many agents: how long the browser's main thread is held at a time while a person scrolls and events
 * come (`longtask`, from 50 ms), how many screens the list takes, and how much the page loads before a pane is opened.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { card, permissionCard, running } from "../support/daemon/dashboardCards.ts";
import { report } from "../support/daemon/loadReport.ts";
import { bundlePage } from "../support/page/pageBundle.ts";
import { cardOf, pageScenes } from "../support/page/pageScene.ts";

const AGENTS = Number(process.env["PAGE_AGENTS"] ?? 200);
const EVENTS_PER_SEC = 50;
const SECONDS = Number(process.env["PAGE_SECONDS"] ?? 10);

const { sceneWith } = pageScenes();
const tell = (what: string, figures: object): void =>
  report("dashboardPage", { what, ...figures, load: loadavg()[0]?.toFixed(2) });

const cardAt = (number: number, asking: number) => {
  const found = running({
    id: `agent-${number}`,
    name: `a${number}`,
    branch: `agent/task-${number}`,
    task: { text: `Make test ${number} pass and say why it failed`, since_unix_ms: Date.now() },
    last_message: number % 2 === 0 ? "All tests pass. The cause was a timer." : null,
  });
  const base =
    number <= asking ? permissionCard(number) : card(number, { state: number % 2 === 0 ? "COMPLETE" : "PROCESSING" });
  return { ...base, running: found };
};
const cardsOf = (count: number, asking: number) => Array.from({ length: count }, (_none, at) => cardAt(at + 1, asking));

const OBSERVE = `globalThis.longTasks = [];
new PerformanceObserver((list) => globalThis.longTasks.push(...list.getEntries().map((entry) => entry.duration)))
  .observe({ type: "longtask" })`;

test("many agents, a person who scrolls, and events", async () => {
  await using at = await sceneWith({ viewport: { width: 1440, height: 900 } }, cardsOf(AGENTS, 5));
  const { page, fake } = at;
  await cardOf(page, AGENTS).waitFor();
  await page.evaluate(OBSERVE);
  const height = await page.evaluate<number>("document.documentElement.scrollHeight");
  let sent = 0;
  const startedMs = performance.now();
  while (performance.now() - startedMs < SECONDS * 1_000) {
    // One of those that only work, so that the list stays in its order.
    fake.card({ ...cardAt(7 + 2 * (sent % 50), 5), task_summary: `step ${sent}` });
    sent += 1;
    await page.mouse.wheel(0, sent % 40 < 20 ? 400 : -400);
    await delay(Math.max(0, startedMs + (sent * 1_000) / EVENTS_PER_SEC - performance.now()));
  }
  const longTasks = await page.evaluate<readonly number[]>("globalThis.longTasks");
  tell("long tasks", {
    agents: AGENTS,
    height,
    events: sent,
    longTasks: longTasks.length,
    maxMs: Math.max(0, ...longTasks),
  });
  expect(sent).toBeGreaterThan(SECONDS);
});

test.each([0, 3, 5])("sixty agents on 1440 by 900, %i of them asking", async (asking) => {
  await using at = await sceneWith({ viewport: { width: 1440, height: 900 } }, cardsOf(60, asking));
  await cardOf(at.page, 60).waitFor();
  const height = await at.page.evaluate<number>("document.documentElement.scrollHeight");
  tell("screens", { asking, height, screens: (height / 900).toFixed(2) });
  expect(height).toBeGreaterThan(0);
});

test("what is loaded before a pane is opened", () => {
  using bundle = bundlePage("dashboard");
  const html = readFileSync(join(bundle.directory, "index.html"), "utf8");
  const wanted = new Set(["index.html", ...[...html.matchAll(/\/page\/([\w.-]+)/g)].map(([, name]) => name ?? "")]);
  const script = readFileSync(join(bundle.directory, "page.js"), "utf8");
  // What is imported at once, not what a view loads.
  for (const [, name = ""] of script.matchAll(/from"\.\/([\w.-]+)"/g)) wanted.add(name);
  const sizes = readdirSync(bundle.directory)
    .filter((name) => name.endsWith(".gz") && wanted.has(name.slice(0, -".gz".length)))
    .map((name) => [name, statSync(join(bundle.directory, name)).size] as const);
  const bytes = sizes.reduce((sum, [, size]) => sum + size, 0);
  tell("compressed", { bytes, files: Object.fromEntries(sizes) });
  expect(bytes).toBeGreaterThan(10_000);
});
