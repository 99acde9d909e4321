/**
 * What the event stream says around each hook, in order and without anything more (docs/contracts/dashboard.md §4). The
 * readiness engine is the real one: a hook tells it what the agent does, and that must not be told a second time.
 */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ScreenSearch } from "../../adapters/agents/running/screenSearch.ts";
import { dashboardFixture, type DashboardFixture, type EventReader, UUID } from "../support/daemon/dashboardFixture.ts";
import { DashboardScene } from "../support/daemon/dashboardScene.ts";

let scene: DashboardScene;
let dashboard: DashboardFixture;
let events: EventReader;
beforeEach(async () => {
  scene = await DashboardScene.start();
  const availability = { level: "exists", programs: new Set(["claude"]) } as const;
  dashboard = await dashboardFixture(scene.server, { availability });
  events = await dashboard.events();
});
afterEach(async () => {
  await dashboard[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

const hook = (name: string, body: object = {}) => dashboard.hook(name, { session_id: "s1", ...body });

/** What has been told since the last time. Another agent's session, created and ended, stands behind it. */
let heard = 0;
async function told(): Promise<readonly string[]> {
  const uuid = UUID.replace(/^.{8}/, String(heard).padStart(8, "0"));
  await dashboard.call("POST", "/api/sessions", { session_uuid: uuid, project_path: "/behind" });
  const end = await events.next(({ data }) => data["session_uuid"] === uuid);
  const at = events.events.indexOf(end);
  const news = events.events.slice(heard, at).filter(({ data }) => data["agent_id"] === 1);
  await dashboard.call("DELETE", `/api/sessions/${uuid}`);
  await events.next(({ event, data }) => event === "session_ended" && data["session_uuid"] === uuid);
  heard = events.events.length;
  return news.map(({ event, data }) => {
    const what = data["reason"] ?? data["event_type"] ?? data["intent"] ?? data["available"];
    return what === undefined ? event : `${event} ${what as string | boolean}`;
  });
}

async function registered(): Promise<void> {
  heard = 0;
  const body = { session_uuid: UUID, project_path: "/work/project", tmux_pane_id: scene.pane };
  await dashboard.call("POST", "/api/sessions", body);
  await events.next(({ data }) => data["reason"] === "availability");
}

test("a session that a launcher registers, and its first hook", async () => {
  await registered();
  expect(await told()).toEqual([
    "session_created",
    "card_refresh session_created",
    "commander_availability true",
    "card_refresh availability",
  ]);
  await hook("session-start", { headspace_session_id: UUID, tmux_pane: scene.pane, source: "startup" });
  expect(await told()).toEqual(["card_refresh session_start"]);
});

test("a session known from its first hook is created before any other event about it", async () => {
  heard = 0;
  await hook("session-start", { cwd: "/work/other", tmux_pane: scene.pane });
  await events.next(({ data }) => data["reason"] === "availability");
  expect(await told()).toEqual([
    "session_created",
    "card_refresh session_start",
    "commander_availability true",
    "card_refresh availability",
  ]);
});

test("what hooks say of the program in the pane is told to the daemon's list of agents", async () => {
  await dashboard[Symbol.asyncDispose]();
  const said: object[] = [];
  const running = {
    reported: (_server: unknown, pane: string, report: object) => void said.push({ pane, ...report }),
    onCheck: () => () => undefined,
    agents: () => [],
    subscribe: () => () => undefined,
    screens: new ScreenSearch(),
  };
  dashboard = await dashboardFixture(scene.server, { running });
  events = await dashboard.events();
  await hook("session-start", { cwd: "/work/other", tmux_pane: scene.pane, transcript_path: "/t.jsonl" });
  await hook("user-prompt-submit", { prompt: "go" });
  await hook("user-prompt-submit", { prompt: "<system-reminder>" });
  await hook("stop", { last_assistant_message: "done" });
  const { pane } = scene;
  const session = { pane, sessionId: "s1", starts: false };
  expect(said).toEqual([
    { ...session, transcriptPath: "/t.jsonl", starts: true },
    { ...session, prompt: "go" },
    session,
    { ...session, lastMessage: "done" },
  ]);
});

test("a turn: a prompt, tools, a permission, its answer, a stop", async () => {
  await registered();
  await hook("session-start", { headspace_session_id: UUID });
  await told();
  await hook("user-prompt-submit", { prompt: "go" });
  expect(await told()).toEqual([
    "turn_created command",
    "card_refresh user_prompt_submit",
    "state_changed user_prompt_submit",
  ]);
  await hook("pre-tool-use", { tool_name: "Bash" });
  await hook("post-tool-use", { tool_name: "Bash" });
  expect(await told()).toEqual([]);
  await hook("permission-request", { tool_name: "Bash", tool_input: { command: "ls" } });
  expect(await told()).toEqual([
    "card_refresh permission_request",
    "state_changed permission_request",
    "turn_created question",
  ]);
  await hook("post-tool-use", { tool_name: "Bash" });
  expect(await told()).toEqual(["card_refresh post_tool_use_resume", "state_changed post_tool_use"]);
  await hook("stop");
  expect((await told()).slice(0, 2)).toEqual(["card_refresh stop", "state_changed stop"]);
});

test("a notification while it works asks; a prompt by hand answers", async () => {
  await registered();
  await hook("session-start", { headspace_session_id: UUID });
  await hook("user-prompt-submit", { prompt: "go" });
  await told();
  const { json } = await hook("notification", { message: "Claude needs your attention", title: "Claude Code" });
  expect(json).toMatchObject({ state_changed: true, new_state: "AWAITING_INPUT" });
  expect(await told()).toEqual(["card_refresh notification", "state_changed notification", "turn_created question"]);
  await hook("user-prompt-submit", { prompt: "by hand" });
  expect(await told()).toEqual([
    "turn_created answer",
    "card_refresh user_prompt_submit",
    "state_changed user_prompt_submit",
  ]);
});

test.each(["hook", "request"])("no event follows the end of a session by a %s", async (how) => {
  await registered();
  await hook("session-start", { headspace_session_id: UUID });
  await hook("user-prompt-submit", { prompt: "go" });
  await told();
  if (how === "hook") await hook("session-end");
  else await dashboard.call("DELETE", `/api/sessions/${UUID}`);
  expect(await told()).toEqual(["card_refresh session_end", "state_changed session_end", "session_ended"]);
  const card = events.events.findLast(({ event, data }) => event === "card_refresh" && data["agent_id"] === 1);
  expect(card?.data).toMatchObject({ is_bridge_connected: false, is_active: false });
  const availability = await dashboard.call("GET", "/api/respond/1/availability");
  expect(availability.json).toMatchObject({ commander_available: false });
});

test("event id 0 requests everything, with or without a filter, and reports no gap", async () => {
  await registered();
  await hook("session-start", { headspace_session_id: UUID });
  const all = await dashboard.events("", { "last-event-id": "0" });
  await all.next(({ data }) => data["reason"] === "session_start");
  expect(all.names()[0]).toBe("session_created");
  const filtered = await dashboard.events("?types=session_created", { "last-event-id": "0" });
  await filtered.next("session_created");
  expect([all, filtered].flatMap((reader) => reader.names()).filter((name) => name === "gap")).toEqual([]);
  expect(filtered.names()).toEqual(["session_created"]);
});
