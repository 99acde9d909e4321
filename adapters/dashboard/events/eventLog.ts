/**
 * The dashboard's events: with increasing ids, the newest of them kept for readers that come back. A reader is a cursor over
 * the log; one that has fallen behind what is kept, or comes from before a restart that skipped ids, gets a gap event and
 * continues from there. An event is encoded once for all readers.
 */
import { sseEvent } from "../../http/sseWriter.ts";
import { EVENT_RING, EVENT_RING_BYTES } from "../dashboardLimits.ts";

type EventType =
  | "state_changed"
  | "turn_created"
  | "commander_availability"
  | "card_refresh"
  | "session_created"
  | "session_ended";

export interface EventFilter {
  readonly types: ReadonlySet<string> | undefined;
  readonly projectId: number | undefined;
  readonly agentId: number | undefined;
}

interface EventSink {
  /** Bytes that may be written now; 0 or less: none. */
  room(): number;
  write(frame: string): void;
}

export interface EventReader {
  /** The sink has room again. */
  pump(): void;
  /** Safe to call twice. */
  close(): void;
}

/** What an event is about: for filters. */
interface EventScope {
  readonly agent_id: number;
  readonly project_id: number;
}

interface KeptEvent extends EventScope {
  readonly type: EventType;
  readonly frame: string;
}

interface EventLogOptions {
  readonly nextId: () => number;
  readonly onError: (error: unknown) => void;
}

export class EventLog {
  readonly #options: EventLogOptions;
  readonly #kept: KeptEvent[] = [];
  #keptBytes = 0;
  #lastId: number;
  readonly #firstId: number;
  readonly #readers = new Set<EventReader>();

  constructor(options: EventLogOptions) {
    this.#options = options;
    // An id to begin from: readers of the previous daemon are behind it.
    this.#firstId = options.nextId();
    this.#lastId = this.#firstId;
  }

  get lastId(): number {
    return this.#lastId;
  }

  get readerCount(): number {
    return this.#readers.size;
  }

  publish(type: EventType, data: EventScope & Readonly<Record<string, unknown>>): void {
    this.#lastId = this.#options.nextId();
    const frame = sseEvent(type, JSON.stringify({ ...data, _eid: this.#lastId }), String(this.#lastId));
    this.#kept.push({ type, agent_id: data.agent_id, project_id: data.project_id, frame });
    this.#keptBytes += frame.length;
    while (this.#kept.length > EVENT_RING || (this.#keptBytes > EVENT_RING_BYTES && this.#kept.length > 1)) {
      this.#keptBytes -= this.#kept.shift()?.frame.length ?? 0;
    }
    for (const reader of this.#readers) reader.pump();
  }

  /** Begins after this id, or now; 0, which no event has, means all since the start. Writes nothing before the first `pump`. */
  read(filter: EventFilter, afterId: number | undefined, sink: EventSink): EventReader {
    let at = afterId === 0 ? this.#firstId : (afterId ?? this.#lastId);
    const reader: EventReader = {
      pump: () => {
        try {
          at = this.#handOut(at, filter, sink);
        } catch (error) {
          this.#readers.delete(reader);
          this.#options.onError(error);
        }
      },
      close: () => void this.#readers.delete(reader),
    };
    this.#readers.add(reader);
    return reader;
  }

  /** Returns the id up to which the reader is now. */
  #handOut(from: number, filter: EventFilter, sink: EventSink): number {
    let at = from;
    while (at !== this.#lastId && sink.room() > 0) {
      const firstKept = this.#lastId - this.#kept.length + 1;
      if (at < firstKept - 1 || at > this.#lastId) {
        sink.write(gapFrame(at, firstKept - 1));
        at = firstKept - 1;
        continue;
      }
      at += 1;
      const event = this.#kept[at - firstKept];
      if (event !== undefined && matches(event, filter)) sink.write(event.frame);
    }
    return at;
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
  if (projectId !== undefined && event.project_id !== projectId) return false;
  return agentId === undefined || event.agent_id === agentId;
}
