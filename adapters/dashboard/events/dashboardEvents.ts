/** The dashboard's events: what each is about, who wants it, and the gap that tells a reader what it has missed. */
import { EventLog, type EventReader } from "../../kit/streams/eventLog.ts";
import { sseEvent, type SseWriter } from "../../kit/streams/sseWriter.ts";
import { EVENT_RING, EVENT_RING_BYTES } from "../dashboardLimits.ts";
import type { DashboardStore } from "../store/store.ts";

type EventType =
  | "state_changed"
  | "turn_created"
  | "commander_availability"
  | "card_refresh"
  | "session_created"
  | "session_ended"
  | "server_waiting"
  | "server_gone";

export interface EventFilter {
  readonly types: ReadonlySet<string> | undefined;
  readonly projectId: number | undefined;
  readonly agentId: number | undefined;
}

/** Whom an event is about, for filters; nobody: it concerns all. */
interface EventScope {
  readonly agent_id?: number;
  readonly project_id?: number;
}

interface KeptEvent extends EventScope {
  readonly type: EventType;
  readonly frame: string;
}

export class DashboardEvents {
  readonly #store: DashboardStore;
  readonly #log: EventLog<KeptEvent>;
  readonly #firstId: number;

  constructor(store: DashboardStore, onError: (error: unknown) => void) {
    this.#store = store;
    // An id to begin from: readers of the previous daemon are behind it.
    this.#firstId = store.nextEventId();
    this.#log = new EventLog({ lastId: this.#firstId, maxEvents: EVENT_RING, maxSize: EVENT_RING_BYTES, onError });
  }

  get lastId(): number {
    return this.#log.lastId;
  }

  get readerCount(): number {
    return this.#log.readerCount;
  }

  publish(type: EventType, data: EventScope & Readonly<Record<string, unknown>>): void {
    const id = this.#store.nextEventId();
    const frame = sseEvent(type, JSON.stringify({ ...data, _eid: id }), String(id));
    const { agent_id, project_id } = data;
    this.#log.add({ type, frame, ...(agent_id === undefined ? {} : { agent_id, project_id }) }, frame.length);
    this.#log.pump();
  }

  /** Begins after this id, or now; 0, which no event has, means all since the start. */
  read(filter: EventFilter, afterId: number | undefined, sink: Pick<SseWriter, "room" | "write">): EventReader {
    return this.#log.read(afterId === 0 ? this.#firstId : (afterId ?? this.lastId), {
      room: () => sink.room(),
      event: (event) => {
        if (matches(event, filter)) sink.write(event.frame);
      },
      missed: (at = 0, lastMissed) => {
        sink.write(gapFrame(at, lastMissed));
        return lastMissed;
      },
    });
  }
}

/** Its id is that of the last event missed, so that a reader that comes back resumes after it. */
function gapFrame(after: number, lastMissed: number): string {
  const data = {
    _eid: lastMissed,
    from: after < lastMissed ? after + 1 : null,
    to: lastMissed,
    reason: after > lastMissed ? "unknown_id" : "not_kept",
    message: "Events were missed; fetch the agents again.",
  };
  return sseEvent("gap", JSON.stringify(data), String(lastMissed));
}

function matches(event: KeptEvent, { types, projectId, agentId }: EventFilter): boolean {
  if (types !== undefined && !types.has(event.type)) return false;
  if (event.agent_id === undefined) return true;
  if (projectId !== undefined && event.project_id !== projectId) return false;
  return agentId === undefined || event.agent_id === agentId;
}
