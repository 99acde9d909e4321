/** Every view of the page in both colour schemes and at the widths of phones and large screens, as axe-core judges it. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  card,
  permissionCard,
  running,
  severalCard,
  snapshotFrames,
  textCard,
} from "../support/daemon/dashboardCards.ts";
import { HOST_DIALOG, hostAgent, hostAgents, hostEntry } from "../support/daemon/hostCards.ts";
import type { HostEvent } from "../../protocol/api/dashboardHosts.ts";
import { NO_BROWSER } from "../support/page/browser.ts";
import { cardOf, pageScenes } from "../support/page/pageScene.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const { sceneWith } = pageScenes();

const waiting = { id: "m1", text: "then the docs", outcome: "waiting", reason: null, created_unix_ms: Date.now() };
const lost = { ...waiting, id: "m2", outcome: "expired", reason: "its time was over" };

/** Something of every kind. */
const CARDS = [
  { ...permissionCard(1), question_options: { safety: "destructive", command_context: { command: "npm test" } } },
  textCard(2, { text: "A long question.\n".repeat(40) }),
  severalCard(3),
  card(4, {
    state: "PROCESSING",
    running: running({ task: { text: "Fix it", since_unix_ms: 0 }, messages: [waiting] }),
  }),
  card(5, { state: "COMPLETE", running: running({ id: "a5", last_message: "All tests pass.", messages: [lost] }) }),
  {
    ...permissionCard(20, { text: "Edit: /srv/shop/a.ts" }),
    question_options: {
      safety: "safe_write",
      diff: {
        files: [{ path: "/srv/shop/a.ts", whole: false, lines: [" a", "-b", `+${"long".repeat(60)}`], more: 9 }],
        more: 1,
      },
    },
  },
  permissionCard(21, { text: "Edit file\na.ts\n1  a\n2 -b\n2 +c\nDo you want to make this edit to a.ts?" }),
  card(6, { is_bridge_connected: false }),
];
const MANY = [
  ...CARDS,
  ...Array.from({ length: 14 }, (_none, at) => card(7 + at, { running: running({ id: `a${at}` }) })),
];

/** One machine that is there, with an agent of every kind, one that is away, one of another version. */
const HOSTS: readonly HostEvent[] = [
  {
    type: "hosts",
    hosts: [
      hostEntry("build"),
      hostEntry("gpu-box-with-a-long-name.in-the-cellar", {
        state: "auth_needed",
        why: "gpu refuses the login without a question (Permission denied): log in once with `tmuxwire hosts login gpu`",
      }),
      hostEntry("old"),
    ],
  },
  hostAgents(
    hostAgent("asks", { state: "asking", question: HOST_DIALOG }),
    hostAgent("asks-otherwise", { state: "asking" }),
    hostAgent("works", { state: "busy" }),
    hostAgent("idle", { lastMessage: "All tests pass." }),
    hostAgent("who-knows", { state: "unknown" }),
  ),
  {
    type: "host_agents",
    host: "old",
    agents: [{ ...hostAgent("lost"), id: "lost@old", name: "lost@old" }],
    messages: [],
  },
  { type: "host", host: hostEntry("old", { state: "unreachable", why: "cannot connect to old; it is tried again" }) },
  { type: "host_problem", host: "build", problem: "only 500 of its agents are shown" },
];

const LONG_NAME = `a-name-${"x".repeat(57)}`;
const told = { unixMs: 1_795_149_767_000, agent: "agent-3f9c21ab04de", name: LONG_NAME, server: "default" };
const quiet = { by: null, text: null, options: null, outcome: null };
const TIMELINE = [
  { ...told, ...quiet, number: 9, kind: "ended", outcome: "unseen" },
  { ...told, ...quiet, number: 8, kind: "renamed", by: "dashboard", text: "claude" },
  { ...told, ...quiet, number: 7, kind: "done", text: "They are gone.\n".repeat(20) },
  { ...told, ...quiet, number: 6, kind: "answer", by: "notification", text: "Only those from May" },
  { ...told, ...quiet, number: 5, kind: "question", text: "x".repeat(300), options: ["Yes", "y".repeat(120)] },
  { ...told, ...quiet, number: 4, kind: "prompt", by: "message", text: "delete the old files", outcome: "taken" },
  { ...told, ...quiet, number: 3, kind: "started", by: "team:some-team", text: "claude --some" },
];
const RECORDING = {
  id: "20261120T064247Z-1f2e3d4c",
  server: "default",
  pane: "%5",
  path: "/r.cast",
  version: 2,
  input: false,
  startedUnixMs: 1_795_149_767_000,
  recording: true,
  durationMs: 7_000,
  bytes: 4_096,
  gaps: 0,
  endedBy: null,
};

/** Each begins where the one before has ended. */
const VIEWS: readonly (readonly [name: string, open: (page: Page) => Promise<unknown>])[] = [
  ["the list", async () => undefined],
  [
    "a prompt",
    (page) =>
      page
        .locator("#agent-4")
        .click()
        .then(() => cardOf(page, 4).getByRole("button", { name: "Prompt" }).click()),
  ],
  [
    "templates",
    async (page) => {
      await cardOf(page, 4)
        .getByRole("button", { name: /^Templates for/ })
        .click();
      await page.getByRole("dialog").getByText("Review it").waitFor();
    },
  ],
  [
    "a template",
    async (page) => {
      await page.getByRole("dialog").getByRole("button", { name: "Edit review" }).click();
      await page.getByRole("dialog").getByLabel("Text").waitFor();
    },
  ],
  [
    "by project, filtered",
    (page) =>
      page
        .getByRole("dialog")
        .getByRole("button", { name: "Close" })
        .click()
        .then(() => page.getByLabel("Group by").selectOption("project"))
        .then(() => page.getByLabel("Filter the agents").fill("project-4")),
  ],
  [
    "found on a screen",
    async (page) => {
      await page.getByLabel("Filter the agents").fill("needle");
      await page.getByText("on its screen").waitFor();
    },
  ],
  ["nothing found", (page) => page.getByLabel("Filter the agents").fill("nothing")],
  [
    "details",
    async (page) => {
      await page.getByLabel("Filter the agents").fill("");
      await page.locator("#agent-5").click();
      await cardOf(page, 5)
        .getByRole("button", { name: /^Details/ })
        .click();
      await page.getByText("Do you want to proceed?").last().waitFor();
    },
  ],
  [
    "a timeline",
    async (page) => {
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await cardOf(page, 5)
        .getByRole("button", { name: /^Timeline/ })
        .click();
      await page.getByText("Only those from May").waitFor();
    },
  ],
  [
    "recordings of an agent",
    async (page) => {
      await page.getByRole("dialog").getByRole("button", { name: "Recordings" }).click();
      await page.getByRole("button", { name: "Stop recording" }).waitFor();
    },
  ],
  [
    "everybody's timeline",
    async (page) => {
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Timeline", exact: true }).first().click();
      await page
        .getByRole("button", { name: /^Timeline of a-name/ })
        .first()
        .waitFor();
    },
  ],
  [
    "start",
    async (page) => {
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Start…" }).click();
    },
  ],
  [
    "keys",
    async (page) => {
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Keyboard help" }).click();
    },
  ],
  [
    "notifications",
    async (page) => {
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await page.getByRole("button", { name: "Notify me" }).click();
      await page.getByRole("button", { name: "Notify this browser" }).waitFor();
    },
  ],
  [
    "a pane",
    async (page) => {
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await cardOf(page, 1).getByRole("button", { name: "Open pane" }).click();
      await page.getByRole("button", { name: "Take control" }).waitFor();
    },
  ],
];

const HOST_VIEWS: typeof VIEWS = [
  ["hosts that are away", (page) => page.getByText("gpu-box-with-a-long-name.in-the-cellar is away").waitFor()],
  [
    "by host, one of them",
    async (page) => {
      await page.getByLabel("Group by").selectOption("host");
      await page.getByLabel("Show hosts").selectOption("@build");
      await page.locator("#agent--1").waitFor();
    },
  ],
  [
    "details of a host's",
    async (page) => {
      await page
        .locator("#agent--4")
        .getByRole("button", { name: /^Details/ })
        .click();
      await page.getByText("Its history is kept on build").waitFor();
    },
  ],
  [
    "all hosts",
    async (page) => {
      await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
      await page.getByLabel("Show hosts").selectOption("all");
    },
  ],
  [
    "start on a host",
    async (page) => {
      await page.getByRole("button", { name: "Start…" }).click();
      await page.getByRole("dialog").getByLabel("Host").selectOption("build");
    },
  ],
];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

async function violations(page: Page): Promise<readonly string[]> {
  // By the debugger, which the page's policy does not bind. What xterm draws is its own.
  const found = await page.evaluate<readonly Violation[]>(
    `${AXE}; axe.run({ exclude: [[".screen"]] }).then(({ violations }) => violations)`,
  );
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id} ${node.target.join(" ")}: ${node.failureSummary}`),
  );
}

/** In every view, each after the one before. */
async function wrongIn(page: Page, views: typeof VIEWS): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const [name, open] of views) {
    await open(page);
    for (const one of await violations(page)) wrong.push(`${name}: ${one}`);
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    if (wide > 0) wrong.push(`${name}: ${wide} px too wide`);
  }
  return wrong;
}

describe.skipIf(NO_BROWSER !== undefined)("nothing is wrong with", () => {
  test.each(
    [320, 1440, 2560].flatMap((width) =>
      (["light", "dark"] as const).map((colorScheme) => [width, colorScheme, width === 320 ? CARDS : MANY] as const),
    ),
  )("every view at %i, %s", async (width, colorScheme, cards) => {
    await using at = await sceneWith(
      { viewport: { width, height: 900 }, colorScheme, permissions: ["notifications"] },
      cards,
    );
    const { page, fake } = at;
    fake.pane = snapshotFrames(40, 5, "ready");
    fake.turns = [
      {
        turn_id: 1,
        actor: "agent",
        intent: "question",
        text: "Do you want to proceed?",
        timestamp: new Date().toISOString(),
      },
    ];
    fake.timeline = TIMELINE;
    fake.templates = [
      { name: "review", text: "Review it" },
      { name: "x".repeat(64), text: "long ".repeat(100) },
    ];
    fake.screens = [{ agent_id: 4, row: `a needle ${"x".repeat(180)}` }];
    fake.recordings = [RECORDING, { ...RECORDING, id: "20261120T064247Z-1f2e3d4d", recording: false }];
    await page.reload();
    await page.getByRole("button", { name: "Start…" }).waitFor();
    expect(await wrongIn(page, VIEWS)).toEqual([]);
  });

  test.each(
    [320, 1440, 2560].flatMap((width) =>
      (["light", "dark"] as const).map((colorScheme) => [width, colorScheme] as const),
    ),
  )("other machines at %i, %s", async (width, colorScheme) => {
    await using at = await sceneWith({ viewport: { width, height: 900 }, colorScheme }, [permissionCard(1)]);
    at.fake.hosts = HOSTS;
    await at.page.reload();
    expect(await wrongIn(at.page, HOST_VIEWS)).toEqual([]);
  });
});
