/**
 * An answer to a dialog, as events and history tell of it: once, as the user's; and what its keys bring to the screen on the
 * way is no question of the agent's.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { guestAgent } from "../support/agents/agentPrograms.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type DashboardFixture, dashboardFixture } from "../support/daemon/dashboardFixture.ts";
import { AGENT, atWork } from "../support/daemon/dashboardTurns.ts";

const askPermission = (dashboard: DashboardFixture) =>
  dashboard.hook("permission-request", {
    session_id: "s1",
    tool_name: "Bash",
    tool_input: { command: "rm -rf build" },
  });

const BRANCH = { mode: "other", text: "use a branch" };
const FEATURES = { mode: "multi_select", answers: [{ option_indices: [0, 2] }] };
const BOTH = { mode: "multi_select", answers: [{ option_index: 1 }, { option_indices: [0, 2] }] };

/** When the hook comes, in milliseconds before the dialog; behind it when there is none. */
const ANSWERS: readonly (readonly [string, string, object, number | undefined])[] = [
  ["an option by its number", "permission", { text: "1" }, 0],
  ["an option by its place", "permission", { mode: "select", option_index: 1 }, 0],
  ["free text", "permission", BRANCH, 0],
  ["several options, and the page that confirms them", "multi", FEATURES, 0],
  ["two questions, and the page that confirms them", "both", BOTH, 0],
  ["an option of a dialog that comes later than its hook", "permission", { text: "1" }, 150],
  ["free text for a dialog that comes later than its hook", "permission", BRANCH, 150],
  ["an option of a dialog that comes before its hook", "permission", { text: "1" }, undefined],
  ["free text for a dialog that comes before its hook", "permission", BRANCH, undefined],
];

test.each(ANSWERS)("%s is reported once, and so is the question", async (_name, kind, body, hookBeforeMs) => {
  await using agent = await guestAgent("dialog", { options: { busyMs: 0 } });
  await using dashboard = await dashboardFixture(agent.server);
  const events = await atWork(dashboard, agent.pane);
  await agent.channel.tell("busy");
  if (hookBeforeMs !== undefined) {
    await askPermission(dashboard);
    await delay(hookBeforeMs);
  }
  await agent.channel.tell("ask", { kind });
  await events.next(({ data }) => (data["question"] as { dialog_id?: unknown } | null)?.dialog_id != null);
  if (hookBeforeMs === undefined) {
    expect((await askPermission(dashboard)).json).toMatchObject({ state_changed: true, new_state: "AWAITING_INPUT" });
  }
  const { json } = await dashboard.respond(AGENT, body);
  expect(json).toMatchObject({ status: "ok", new_state: "processing", delivery: "submitted" });
  await agent.channel.next("answer");
  await eventually(async () => {
    const { json: listed } = await dashboard.call("GET", "/api/agents");
    const [card] = listed["agents"] as { readonly readiness: { readonly state: string } | null }[];
    return card?.readiness?.state === "busy";
  });
  const states = events.events.filter(({ event }) => event === "state_changed").map(({ data }) => data);
  expect(states.map((state) => state["event_type"])).toEqual([
    "user_prompt_submit",
    hookBeforeMs === undefined ? "readiness" : "permission_request",
    "respond",
  ]);
  expect(states.at(-1)).toMatchObject({ new_state: "PROCESSING", message: "User responded via dashboard" });
  const told = new Set(events.events.flatMap(({ data }) => (data["turn_id"] === undefined ? [] : [data["turn_id"]])));
  const turns = (await dashboard.call("GET", `/api/agents/${AGENT}/turns`)).json["turns"] as { turn_id: number }[];
  expect(turns).toMatchObject([
    { intent: "answer", actor: "user", answers_turn_id: turns[1]?.turn_id },
    { intent: "question", text: "Bash: rm -rf build" },
    { intent: "command" },
  ]);
  expect([...told]).toEqual(turns.map((turn) => turn.turn_id).toReversed());
});

test("a question after the answer is a new one", async () => {
  await using agent = await guestAgent("dialog", { options: { busyMs: 0 } });
  await using dashboard = await dashboardFixture(agent.server);
  const events = await atWork(dashboard, agent.pane);
  await agent.channel.tell("ask", { kind: "both" });
  await events.next(({ data }) => (data["question"] as { kind?: unknown } | null)?.kind === "select");
  const from = events.events.length;
  const { json } = await dashboard.respond(AGENT, { mode: "select", option_index: 1 });
  expect(json).toMatchObject({ status: "ok" });
  // The same dialog goes on with its second question.
  await events.next(({ data }) => (data["question"] as { kind?: unknown } | null)?.kind === "multi_select", from);
  const { json: listed } = await dashboard.call("GET", "/api/agents");
  expect(listed["agents"]).toMatchObject([{ state: "AWAITING_INPUT", question: { kind: "multi_select" } }]);
  const types = events.events.slice(from).filter(({ event }) => event === "state_changed");
  expect(types.map(({ data }) => [data["event_type"], data["new_state"]])).toEqual([
    ["respond", "PROCESSING"],
    ["readiness", "AWAITING_INPUT"],
  ]);
});
