/** The hooks of one agent on a dashboard, as they come in the course of a turn. */
import type { PaneId } from "../../../protocol/ids.ts";
import type { AgentProgram } from "../agents/agentPrograms.ts";
import { eventually } from "../clock/eventually.ts";
import { type DashboardFixture, type EventReader, UUID } from "./dashboardFixture.ts";

/** The first agent's id. */
export const AGENT = 1;

/** Registered, available, and in the middle of a turn. */
export async function atWork(dashboard: DashboardFixture, pane: PaneId): Promise<EventReader> {
  const events = await dashboard.events();
  const body = { session_uuid: UUID, project_path: "/work/project", tmux_pane_id: pane };
  await dashboard.call("POST", "/api/sessions", body);
  await eventually(async () => {
    const { json } = await dashboard.call("GET", `/api/respond/${AGENT}/availability`);
    return json["commander_available"] === true;
  });
  await dashboard.hook("session-start", { session_id: "s1", headspace_session_id: UUID });
  await dashboard.hook("user-prompt-submit", { session_id: "s1", prompt: "go" });
  return events;
}

export const ask = (dashboard: DashboardFixture) =>
  dashboard.hook("notification", { session_id: "s1", message: "Claude is waiting for your input" });

/** Registered by its launcher and never told of by a hook: the screen of its `dialog` program asks. */
export async function askedOnScreen(dashboard: DashboardFixture, agent: AgentProgram): Promise<EventReader> {
  const events = await dashboard.events();
  const body = { session_uuid: UUID, project_path: "/work/project", tmux_pane_id: agent.pane };
  await dashboard.call("POST", "/api/sessions", body);
  await agent.channel.tell("ask", { kind: "permission" });
  await untilAsked(events);
  await identified(dashboard);
  return events;
}

/** Its process is known once it has been asked for, which an answer waits for; this one is for no dialog there. */
export const identified = (dashboard: DashboardFixture) => dashboard.respond(AGENT, { text: "1", dialog_id: "none" });

export const untilAsked = (events: EventReader, from = 0) =>
  events.next(({ event, data }) => event === "card_refresh" && data["question"] !== null, from);
