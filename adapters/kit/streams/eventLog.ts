/**
 * Events in one order for all readers; the newest are kept, bounded in number and size. A reader has a cursor in the log,
 * not a queue. If the events at its cursor are no longer kept, or the cursor is unknown, `missed` is called when the reader
 * next writes and returns where it continues.
 */
interface EventLogOptions {
  /** The id of the last event before the first one here. */
  readonly lastId: number;
  readonly maxEvents: number;
  /** In the unit that `add` counts; the newest event is kept whatever its size. */
  readonly maxSize: number;
  /** Called when a reader throws; that reader is removed. */
  readonly onError: (error: unknown) => void;
}

interface EventSink<Event> {
  /** Bytes that may be written now; 0 or less means none. */
  room(): number;
  event(event: Event, id: number): void;
  /**
   * Called when events between the reader's cursor and the oldest kept event are missing.
   * @param at undefined if the reader has no cursor yet
   * @param lastMissed the id before the oldest kept event
   * @returns the id after which it continues: `lastMissed`, or a later one if the reader already knows what came before
   */
  missed(at: number | undefined, lastMissed: number): number;
}

export interface EventReader {
  /** Writes as much as the sink has room for. */
  pump(): void;
  /** Safe to call twice. */
  close(): void;
}

interface Kept<Event> {
  readonly event: Event;
  readonly size: number;
}

export class EventLog<Event> {
  readonly #options: EventLogOptions;
  readonly #kept: Kept<Event>[] = [];
  #size = 0;
  #lastId: number;
  readonly #readers = new Set<EventReader>();

  constructor(options: EventLogOptions) {
    this.#options = options;
    this.#lastId = options.lastId;
  }

  get lastId(): number {
    return this.#lastId;
  }

  get readerCount(): number {
    return this.#readers.size;
  }

  /** Ids are consecutive. Readers get the event with the next `pump`. */
  add(event: Event, size: number): void {
    this.#lastId += 1;
    this.#kept.push({ event, size });
    this.#size += size;
    const { maxEvents, maxSize } = this.#options;
    while (this.#kept.length > maxEvents || (this.#size > maxSize && this.#kept.length > 1)) {
      this.#size -= this.#kept.shift()?.size ?? 0;
    }
  }

  pump(): void {
    for (const reader of this.#readers) reader.pump();
  }

  /** Whether all events after this id are kept. */
  goesOnAfter(id: number): boolean {
    return id >= this.#lastId - this.#kept.length && id <= this.#lastId;
  }

  /** Writes nothing before the first `pump`. @param after undefined: `missed` decides where to begin */
  read(after: number | undefined, sink: EventSink<Event>): EventReader {
    let at = after;
    const handOut = (): void => {
      while (at !== this.#lastId && sink.room() > 0) {
        const lastMissed = this.#lastId - this.#kept.length;
        if (at === undefined || !this.goesOnAfter(at)) {
          at = sink.missed(at, lastMissed);
          continue;
        }
        const kept = this.#kept[at - lastMissed];
        at += 1;
        if (kept !== undefined) sink.event(kept.event, at);
      }
    };
    const reader: EventReader = {
      pump: () => {
        if (!this.#readers.has(reader)) return;
        try {
          handOut();
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
}
