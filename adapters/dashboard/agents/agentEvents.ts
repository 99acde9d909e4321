/** The contract's events about an agent, and their fields (docs/contracts/dashboard.md §4). */
import type { DashboardEvents } from "../events/dashboardEvents.ts";
import { MAX_EVENT_MESSAGE_CHARS, MAX_EVENT_TEXT_CHARS } from "../dashboardLimits.ts";
import { type Agent, stateName } from "./agent.ts";
import { cardOf } from "./card.ts";
import { clip } from "./clip.ts";
import type { TurnRecord } from "../store/records.ts";
import type { Waiting } from "../../../daemon/tmux/outputSource.ts";

interface AgentEventsOptions {
  readonly events: DashboardEvents;
  readonly nowUnixMs: () => number;
}

export class AgentEvents {
  readonly #events: DashboardEvents;
  readonly #nowUnixMs: () => number;

  constructor({ events, nowUnixMs }: AgentEventsOptions) {
    this.#events = events;
    this.#nowUnixMs = nowUnixMs;
  }

  card(agent: Agent, reason: string): void {
    this.#events.publish("card_refresh", cardOf(agent, reason, this.#nowUnixMs()));
  }

  turn(agent: Agent, { text, actor, intent, taskId, id, toolInput }: TurnRecord): void {
    this.#publish("turn_created", agent, {
      text: clip(text, MAX_EVENT_TEXT_CHARS),
      actor,
      intent,
      task_id: taskId,
      turn_id: id,
      ...(toolInput === undefined ? {} : { tool_input: toolInput }),
    });
  }

  state(agent: Agent, eventType: string, message: string | null, state = stateName(agent)): void {
    this.#publish("state_changed", agent, {
      project_name: agent.project.name,
      agent_session: agent.record.sessionUuid,
      event_type: eventType,
      new_state: state,
      message: message === null ? null : clip(message, MAX_EVENT_MESSAGE_CHARS),
    });
  }

  responded(agent: Agent): void {
    const message = "User responded via dashboard";
    this.#publish("state_changed", agent, { event_type: "respond", new_state: stateName(agent), message });
  }

  availability(agent: Agent): void {
    this.#publish("commander_availability", agent, { available: agent.isAvailable });
  }

  session(type: "session_created" | "session_ended", agent: Agent): void {
    this.#publish(type, agent, { session_uuid: agent.record.sessionUuid });
  }

  /** Clients of ours begin to wait until tmux is calm, or none waits any more. */
  waiting(waiting: Waiting | undefined): void {
    const timestamp = new Date(this.#nowUnixMs()).toISOString();
    this.#events.publish("server_waiting", { waiting: waitingFields(waiting) ?? null, timestamp });
  }

  /** tmux does not run, or does again. */
  gone(sinceUnixMs: number | undefined): void {
    const timestamp = new Date(this.#nowUnixMs()).toISOString();
    this.#events.publish("server_gone", { since_unix_ms: sinceUnixMs ?? null, timestamp });
  }

  #publish(type: Parameters<DashboardEvents["publish"]>[0], { record }: Agent, fields: object): void {
    const timestamp = new Date(this.#nowUnixMs()).toISOString();
    this.#events.publish(type, { agent_id: record.id, project_id: record.projectId, ...fields, timestamp });
  }
}

export const waitingFields = (waiting: Waiting | undefined): object | undefined =>
  waiting && { for: waiting.for, since_unix_ms: waiting.sinceUnixMs };
