/** The contract's events about an agent, and their fields (docs/contracts/dashboard.md §4). */
import type { EventLog } from "../events/eventLog.ts";
import { MAX_EVENT_MESSAGE_CHARS, MAX_EVENT_TEXT_CHARS } from "../dashboardLimits.ts";
import type { Agent } from "./agent.ts";
import { cardOf } from "./card.ts";
import { clip } from "./questions.ts";
import type { TurnRecord } from "./records.ts";

interface AgentEventsOptions {
  readonly events: EventLog;
  readonly nowUnixMs: () => number;
}

export class AgentEvents {
  readonly #events: EventLog;
  readonly #nowUnixMs: () => number;

  constructor({ events, nowUnixMs }: AgentEventsOptions) {
    this.#events = events;
    this.#nowUnixMs = nowUnixMs;
  }

  card(agent: Agent, reason: string): void {
    this.#events.publish("card_refresh", cardOf(agent, reason, this.#nowUnixMs()));
  }

  turn(agent: Agent, turn: TurnRecord): void {
    this.#events.publish("turn_created", {
      ...scopeOf(agent),
      text: clip(turn.text, MAX_EVENT_TEXT_CHARS),
      actor: turn.actor,
      intent: turn.intent,
      task_id: turn.taskId,
      turn_id: turn.id,
      ...(turn.toolInput === undefined ? {} : { tool_input: turn.toolInput }),
      timestamp: this.#timestamp(),
    });
  }

  state(agent: Agent, eventType: string, message: string | null, state?: string): void {
    this.#events.publish("state_changed", {
      ...scopeOf(agent),
      project_name: agent.project.name,
      agent_session: agent.record.sessionUuid,
      event_type: eventType,
      new_state: state ?? (agent.task?.state ?? "idle").toUpperCase(),
      message: message === null ? null : clip(message, MAX_EVENT_MESSAGE_CHARS),
      timestamp: this.#timestamp(),
    });
  }

  responded(agent: Agent): void {
    this.#events.publish("state_changed", {
      ...scopeOf(agent),
      event_type: "respond",
      new_state: "PROCESSING",
      message: "User responded via dashboard",
      timestamp: this.#timestamp(),
    });
  }

  availability(agent: Agent): void {
    this.#events.publish("commander_availability", {
      ...scopeOf(agent),
      available: agent.isAvailable,
      timestamp: this.#timestamp(),
    });
  }

  session(type: "session_created" | "session_ended", agent: Agent): void {
    this.#events.publish(type, {
      ...scopeOf(agent),
      session_uuid: agent.record.sessionUuid,
      timestamp: this.#timestamp(),
    });
  }

  #timestamp(): string {
    return new Date(this.#nowUnixMs()).toISOString();
  }
}

const scopeOf = ({ record }: Agent) => ({ agent_id: record.id, project_id: record.projectId });
