/** The fields of a card (docs/contracts/dashboard.md §4), by name, through the course of a task, and after a restart. */
import { describe, expect, test } from "vitest";
import { contextIn } from "../../adapters/dashboard/panes/contextGauge.ts";
import { eachHasScene, scene } from "../support/daemon/dashboardScene.ts";

eachHasScene();

const FIELDS = (
  "id agent_id project_id project_name project_path project_slug session session_uuid hero_chars hero_trail state " +
  "state_info is_bridge_connected is_active uptime elapsed last_seen last_seen_unix_ms state_since_unix_ms " +
  "priority priority_reason reason current_task_id task_instruction task_summary task_completion_summary " +
  "turn_count has_plan context tmux_pane_id tmux_session iterm_pane_id readiness question question_options " +
  "last_delivery running timestamp"
).split(" ");

test("a card has every field of the contract and no other", async () => {
  const agentId = await scene.register();
  const idle = await scene.card(agentId);
  expect(Object.keys(idle ?? {}).sort()).toEqual(FIELDS.sort());
  expect(idle).toMatchObject({
    session: "0b5d7f4e",
    hero_chars: "0b",
    hero_trail: "5d7f4e",
    project_slug: "project",
    state_info: { color: "green", bg_class: "bg-green", label: "Idle - ready for task" },
    uptime: "up <1m",
    elapsed: null,
    task_instruction: null,
    task_summary: "No active task",
    task_completion_summary: null,
    turn_count: 0,
    has_plan: false,
    context: null,
    running: null,
  });
});

test("through a task", async () => {
  const agentId = await scene.register();
  await scene.prompt("build it");
  expect(await scene.card(agentId)).toMatchObject({
    state_info: { color: "blue", bg_class: "bg-blue", label: "Processing..." },
    task_instruction: "build it",
    task_summary: "build it",
    turn_count: 1,
    elapsed: "<1m",
  });
  await scene.notify();
  expect(await scene.card(agentId)).toMatchObject({
    state_info: { color: "orange", bg_class: "bg-amber", label: "Input needed" },
    task_summary: "Claude is waiting for your input",
    turn_count: 2,
  });
  await scene.dashboard.respond(agentId, { text: "go on" });
  expect(await scene.card(agentId)).toMatchObject({ task_summary: "go on", turn_count: 3 });
  await scene.hook("stop", { last_assistant_message: `It is built. ${"x".repeat(200)}` });
  const done = await scene.card(agentId);
  expect(done).toMatchObject({ state: "COMPLETE", state_info: { label: "Task complete" }, turn_count: 4 });
  expect(done?.["task_completion_summary"]).toMatch(/^It is built\. x+…$/);
  expect(done?.["task_summary"]).toBe(done?.["task_completion_summary"]);
  await scene.prompt("the next");
  expect(await scene.card(agentId)).toMatchObject({ turn_count: 1, task_completion_summary: null });
});

test("a stop records the agent's last message as a turn before the card and the state; without a message there is no turn", async () => {
  const agentId = await scene.register();
  await scene.prompt("one");
  const events = await scene.dashboard.events();
  await scene.hook("stop", { last_assistant_message: "It is done." });
  await events.next("state_changed");
  expect(events.names()).toEqual(["turn_created", "card_refresh", "state_changed"]);
  expect(events.events[0]?.data).toMatchObject({ actor: "agent", intent: "completion", text: "It is done." });
  expect(events.events[2]?.data).toMatchObject({ new_state: "COMPLETE", message: "→ COMPLETE" });
  await scene.prompt("two");
  const from = events.events.length;
  const { json } = await scene.hook("stop", { transcript_path: "/no/such/transcript.jsonl" });
  expect(json).toMatchObject({ state: "complete", state_changed: true });
  await events.next(({ data }) => data["event_type"] === "stop", from + 3);
  expect(events.names(from)).toEqual([
    "turn_created",
    "card_refresh",
    "state_changed",
    "card_refresh",
    "state_changed",
  ]);
  expect(await scene.card(agentId)).toMatchObject({ state: "COMPLETE", task_completion_summary: null, turn_count: 1 });
});

test("a plan, while it is asked for and while it is carried out, and after a restart", async () => {
  const restart = await scene.onDisk();
  const agentId = await scene.register();
  await scene.prompt("plan it");
  await scene.hook("pre-tool-use", { tool_name: "ExitPlanMode", tool_input: { plan: "# First this, then that" } });
  const planned = { has_plan: true, plan_content: "# First this, then that" };
  expect(await scene.card(agentId)).toMatchObject({
    ...planned,
    state_info: { label: "Input needed" },
    question_options: { plan_content: planned.plan_content, source: "exit_plan_mode_default" },
  });
  await scene.hook("post-tool-use", { tool_name: "ExitPlanMode" });
  expect(await scene.card(agentId)).toMatchObject({ ...planned, state_info: { label: "Executing plan..." } });
  await restart();
  expect(await scene.card(agentId)).toMatchObject({ ...planned, turn_count: 2, task_summary: "plan it" });
  await scene.hook("stop");
  await scene.prompt("something else");
  expect(await scene.card(agentId)).toMatchObject({ has_plan: false });
});

describe("the context", () => {
  test.each<[readonly string[], object | undefined]>([
    [["❯ ", "", "  Opus [ctx: 22% used, 155k remaining]  main", ""], { percentUsed: 22, remaining: "155k" }],
    [["[ctx:  7% used, 1.8M remaining]"], { percentUsed: 7, remaining: "1.8M" }],
    [["[ctx: 22% used, <b> remaining]"], undefined],
    [["[ctx: 22% used, 1k remaining]", ...Array.from({ length: 9 }, () => "later")], undefined],
    [[], undefined],
  ])("%j", (lines, found) => expect(contextIn(lines)).toEqual(found));

  test("is added to the card after a hook", async () => {
    const events = await scene.dashboard.events();
    const capture = scene.server.capture.bind(scene.server);
    scene.server.capture = async (...request) => ({
      ...(await capture(...request)),
      lines: ["[ctx: 71% used, 58k remaining]"],
    });
    await scene.register();
    const { data } = await events.next(({ data: card }) => card["reason"] === "context");
    expect(data["context"]).toEqual({
      percent_used: 71,
      remaining_tokens: "58k",
      warning_threshold: 65,
      high_threshold: 75,
    });
  });
});

test("an agent that has ended comes back to a page by its own hook, not by an answer that was still under way", async () => {
  const agentId = await scene.asking();
  const events = await scene.dashboard.events();
  const release = scene.holdSubmit();
  const answered = scene.dashboard.respond(agentId, { text: "/exit" });
  await scene.untilSubmitted(1);
  await scene.hook("session-end");
  release();
  expect((await answered).status).toBe(200);
  await scene.hook("session-start");
  await events.next("session_ended");
  const { data } = await events.next("card_refresh", events.names().indexOf("session_ended"));
  expect(data).toMatchObject({ agent_id: agentId, reason: "session_start" });
});
