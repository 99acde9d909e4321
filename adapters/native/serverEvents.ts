/**
 * The events of one tmux server, in one order for all readers: changes of the tree, of the connection's state, of
 * readiness. A reader has an index into them and no queue of its own: one that falls behind the kept events gets the whole
 * tree instead (`reset`), and so does one whose index is unknown. It starts with the first reader and stays for a while
 * after the last, so that readers can come back.
 */
import { randomBytes } from "node:crypto";
import type { Clock, Timer } from "../../daemon/time/clock.ts";
import type { PaneReadiness, ReadinessWatcher } from "../../daemon/readiness/readiness.ts";
import type { ServerState } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { TreeEvent } from "../../daemon/tmux/layout.ts";
import type { NativeReadiness } from "../../protocol/api/nativeResponses.ts";
import type { NativeServerEvent, NativeTreeResponse, RESET_REASONS } from "../../protocol/api/nativeTree.ts";
import { isPaneId, type PaneId } from "../../protocol/ids.ts";
import { nativeReadiness } from "../operations/outputs.ts";

/** Kept for readers that come back or are slow: minutes of a busy person's work. */
const MAX_EVENTS = 4_096;
const MAX_EVENT_CHARS = 4_194_304;
/** A reader that lost its connection is back sooner, or needs the whole tree anyway. */
const LINGER_MS = 60_000;

type ResetReason = (typeof RESET_REASONS)[number];

interface Kept {
  readonly event: NativeServerEvent["type"];
  readonly data: string;
}

interface ServerEventSink {
  /** Bytes that may be written now. */
  room(): number;
  /** @param data JSON without a line end */
  send(event: NativeServerEvent["type"], data: string, id: string): void;
}

export interface ServerEventsOptions {
  readonly server: TmuxServer;
  readonly readiness: ReadinessWatcher | undefined;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  readonly maxEvents?: number | undefined;
  readonly maxChars?: number | undefined;
}

export class ServerEvents {
  readonly #options: ServerEventsOptions;
  /** Tells our ids from those of another daemon or of an earlier start. */
  #name = newName();
  readonly #readers = new Set<ServerEventReader>();
  readonly #watched = new Map<string, PaneReadiness>();
  #kept: Kept[] = [];
  #chars = 0;
  /** Of the newest event; the first has 1. */
  #seq = 0;
  #state: ServerState | undefined;
  #stop: (() => void) | undefined;
  #linger: Timer | undefined;
  /** Readers that want readiness, and the event since which it has been reported without a break. */
  #wanting = 0;
  #readinessSince = Number.POSITIVE_INFINITY;

  constructor(options: ServerEventsOptions) {
    this.#options = options;
  }

  /** With the id of the newest event. */
  tree(): NativeTreeResponse {
    this.#begin();
    this.#endSoon();
    return {
      id: this.idOf(this.#seq),
      state: this.#options.server.status().state,
      ...this.#options.server.layout.tree(),
    };
  }

  /** @param after the id of the last event that the reader knows */
  open(sink: ServerEventSink, after: string | undefined, wantsReadiness: boolean): ServerEventReader {
    this.#begin();
    this.#linger?.cancel();
    this.#linger = undefined;
    // Before `#want`: at an earlier event readiness was not reported.
    const start = after === undefined ? "start" : (this.#seqOf(after, wantsReadiness) ?? "unknown");
    const reader = new ServerEventReader(this, sink, wantsReadiness, start, () => {
      if (!this.#readers.delete(reader)) return;
      if (wantsReadiness) this.#release();
      this.#endSoon();
    });
    this.#readers.add(reader);
    if (wantsReadiness) this.#want();
    return reader;
  }

  idOf(seq: number): string {
    return `${this.#name}:${seq}`;
  }

  get head(): number {
    return this.#seq;
  }

  /** The event after this one; `gone` when it is no longer kept. */
  next(seq: number): Kept | "gone" | undefined {
    if (seq >= this.#seq) return undefined;
    return this.#kept[this.#kept.length - (this.#seq - seq)] ?? "gone";
  }

  resetData(reason: ResetReason, withReadiness: boolean): string {
    const { server } = this.#options;
    const [{ state }, tree] = [server.status(), server.layout.tree()];
    const readiness: Record<string, NativeReadiness> = {};
    for (const [pane, { current }] of this.#watched) readiness[pane] = nativeReadiness(current);
    const event: NativeServerEvent = { type: "reset", reason, state, ...tree, ...(withReadiness ? { readiness } : {}) };
    return JSON.stringify(event);
  }

  #begin(): void {
    if (this.#state !== undefined) return;
    const { server } = this.#options;
    this.#state = server.status().state;
    const unwatch = server.layout.watch((events) => this.#tell(events));
    const unsubscribe = server.subscribe((event) => {
      if (event.kind !== "state" || event.state === this.#state) return;
      this.#state = event.state;
      this.#tell([{ type: "server-state", state: event.state }]);
    });
    this.#stop = () => {
      unwatch();
      unsubscribe();
    };
  }

  /** Without readers nothing is kept for ever; afterwards old event ids are unknown. */
  #endSoon(): void {
    if (this.#readers.size > 0) return;
    const { clock } = this.#options;
    this.#linger?.cancel();
    this.#linger = clock.callAt(clock.nowMs() + LINGER_MS, () => {
      this.#stop?.();
      this.#state = undefined;
      this.#kept = [];
      this.#chars = 0;
      this.#name = newName();
    });
  }

  #tell(events: readonly (TreeEvent | NativeServerEvent)[]): void {
    for (const event of events) {
      this.#keep(event);
      if (this.#wanting === 0) continue;
      if (event.type === "pane-created" && isPaneId(event.pane.id)) this.#watch(event.pane.id);
      if (event.type === "pane-closed") this.#unwatch(event.pane);
    }
    for (const reader of this.#readers) reader.pump();
  }

  #keep(event: NativeServerEvent): void {
    const data = JSON.stringify(event);
    this.#seq += 1;
    this.#chars += data.length;
    this.#kept.push({ event: event.type, data });
    const { maxEvents = MAX_EVENTS, maxChars = MAX_EVENT_CHARS } = this.#options;
    let drop = 0;
    for (; this.#kept.length - drop > maxEvents || this.#chars > maxChars; drop += 1) {
      this.#chars -= this.#kept[drop]?.data.length ?? 0;
    }
    if (drop > 0) this.#kept = this.#kept.slice(drop);
  }

  #seqOf(id: string, wantsReadiness: boolean): number | undefined {
    const [, name, digits] = /^([0-9a-f]{12}):(\d{1,15})$/.exec(id) ?? [];
    const seq = Number(digits);
    if (name !== this.#name || seq > this.#seq || this.next(seq) === "gone") return undefined;
    return wantsReadiness && seq < this.#readinessSince ? undefined : seq;
  }

  #want(): void {
    this.#wanting += 1;
    if (this.#wanting > 1) return;
    this.#readinessSince = this.#seq;
    for (const { id } of this.#options.server.layout.tree().panes) this.#watch(id);
  }

  #release(): void {
    this.#wanting -= 1;
    if (this.#wanting > 0) return;
    this.#readinessSince = Number.POSITIVE_INFINITY;
    for (const pane of this.#watched.keys()) this.#unwatch(pane);
  }

  #watch(pane: PaneId): void {
    if (this.#watched.has(pane)) return;
    try {
      const watched = this.#options.readiness?.watch(this.#options.server, pane);
      if (watched === undefined) return;
      this.#watched.set(pane, watched);
      watched.subscribe((readiness) =>
        this.#tell([{ type: "readiness", pane, readiness: nativeReadiness(readiness) }]),
      );
    } catch (error) {
      // The pane has just closed, which its own event reports.
      this.#options.onError(error);
    }
  }

  #unwatch(pane: string): void {
    this.#watched.get(pane)?.[Symbol.dispose]();
    this.#watched.delete(pane);
  }
}

const newName = (): string => randomBytes(6).toString("hex");

/** One reader's index into the events. */
export class ServerEventReader {
  readonly #events: ServerEvents;
  readonly #sink: ServerEventSink;
  readonly #wantsReadiness: boolean;
  readonly #onClose: () => void;
  /** The event that it has, or why it needs the tree as it is at the time of writing. */
  #at: number | ResetReason;
  #closed = false;

  constructor(
    events: ServerEvents,
    sink: ServerEventSink,
    wantsReadiness: boolean,
    start: number | ResetReason,
    onClose: () => void,
  ) {
    this.#events = events;
    this.#sink = sink;
    this.#wantsReadiness = wantsReadiness;
    this.#at = start;
    this.#onClose = onClose;
  }

  /** Writes as much as there is room for. */
  pump(): void {
    while (!this.#closed && this.#sink.room() > 0) {
      if (typeof this.#at === "string") {
        const data = this.#events.resetData(this.#at, this.#wantsReadiness);
        this.#at = this.#events.head;
        this.#sink.send("reset", data, this.#events.idOf(this.#at));
        continue;
      }
      const next = this.#events.next(this.#at);
      if (next === undefined) return;
      if (next === "gone") {
        this.#at = "behind";
        continue;
      }
      this.#at += 1;
      if (next.event === "readiness" && !this.#wantsReadiness) continue;
      this.#sink.send(next.event, next.data, this.#events.idOf(this.#at));
    }
  }

  /** Safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClose();
  }
}
