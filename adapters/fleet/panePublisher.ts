/**
 * Publishes one pane's stream: every byte once and in order, or a declared gap. The stream's subject itself is the cursor:
 * its last message says how far the pane has been published, and each message names the one before it, so that none can be
 * stored twice and no second publisher can come between. What waits for NATS stays in the pane's ring, as for any slow
 * reader; only what is on its way is copied, within one bound for all panes.
 */
import type { Feeds, OpenSubscription } from "../../daemon/panes/feeds.ts";
import type { StreamStart, SubscriptionSink } from "../../daemon/panes/subscription.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { sleep } from "../../daemon/time/within.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { AppError, toAppError } from "../../protocol/errors.ts";
import { formatGap, formatPosition, type Position } from "../../protocol/position.ts";
import { screenFields } from "../operations/panes/screenOutputs.ts";
import {
  type Chain,
  type FleetKind,
  type FleetMessage,
  fleetHeaders,
  HEADER_BYTES,
  NO_CHAIN,
} from "./fleetMessages.ts";
import type { NatsLink } from "./natsLink.ts";
import type { PublishPace } from "./publishPace.ts";
import { storedMessage } from "./storedMessage.ts";

/** Most output of one message: NATS advises against large ones. */
const MESSAGE_BYTES = 262_144;
/** After so much output the screen is published again, so that a viewer can begin near any place. */
const SNAPSHOT_EVERY_BYTES = 1_048_576;
/** Whoever follows the pane on this machine gets its bytes first: sending them takes a core what it takes to read them. */
const LIVE_FIRST_MS = 1;
/** Between two tries to follow a pane while tmux is being connected. */
const TMUX_RETRY_MS = 250;

/** Bytes on their way to NATS, of all panes together. */
export class ByteBudget {
  readonly maxBytes: number;
  readonly #waiting = new Set<() => void>();
  #used = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get used(): number {
    return this.#used;
  }

  get left(): number {
    return this.maxBytes - this.#used;
  }

  take(bytes: number): void {
    this.#used += bytes;
  }

  release(bytes: number): void {
    this.#used -= bytes;
    // Who gets too little waits again, behind the others; there is nothing left then.
    for (const go of this.#waiting) {
      if (this.left <= 0) return;
      this.#waiting.delete(go);
      go();
    }
  }

  /** Calls once there may be room. */
  wait(go: () => void): () => void {
    this.#waiting.add(go);
    return () => this.#waiting.delete(go);
  }
}

export interface PanePublisherOptions {
  readonly link: NatsLink;
  readonly feeds: Pick<Feeds, "subscribe">;
  readonly pane: PaneId;
  readonly stream: string;
  readonly subject: string;
  /** The server's name in the events. */
  readonly serverName: string;
  /** Identifies the tmux server; empty if it has nothing that does, undefined while it is being connected. */
  readonly tmux: () => string | undefined;
  /** Identifies this daemon. */
  readonly instance: string;
  /** Of all panes. */
  readonly pace: PublishPace;
  /** A silent pane's screen is published again after this, before the stream forgets it. */
  readonly refreshMs: number;
  readonly budget: ByteBudget;
  readonly clock: Clock;
  /** Whether we are still the one who publishes as this host. @throws the signal's reason */
  readonly mayPublish: (signal: AbortSignal) => Promise<boolean>;
  readonly observe: PublishObserver;
}

export interface PublishObserver {
  stored(bytes: number): void;
  gap(): void;
}

/** What is to be published next. */
interface Outgoing {
  readonly kind: FleetKind;
  position: Position;
  readonly cols: number;
  readonly rows: number;
  readonly data: object;
  readonly pieces: Uint8Array[];
  bytes: number;
}

export class PanePublisher {
  /** Of messages that this daemon has made: a later publisher of the pane makes none with the same number. */
  static #count = 0;

  readonly #options: PanePublisherOptions;
  readonly #stop = new AbortController();
  readonly #queue: Outgoing[] = [];
  #queued = 0;
  #size = { cols: 0, rows: 0 };
  #subscription: OpenSubscription | undefined;
  /** Set while nothing is to be sent. */
  #wake: (() => void) | undefined;
  #leaveLine: (() => void) | undefined;
  /** Output since the last screen. */
  #undrawn = 0;
  /** It is this pane's turn: what comes is taken at once. */
  #isOpen = false;
  #sentMs = Number.NEGATIVE_INFINITY;
  #stored: FleetMessage | undefined;
  #seq = 0;
  #chain: Chain = NO_CHAIN;
  /** Of what is stored. */
  #epoch = "";
  #tmux = "";
  /** After all that is queued. */
  #head: Position = { epoch: "", outputSeq: 0 };

  constructor(options: PanePublisherOptions) {
    this.#options = options;
  }

  /** Until the pane is gone, or `close` is called. Never rejects but for a bug. */
  async run(): Promise<void> {
    const signal = AbortSignal.any([this.#stop.signal, this.#options.link.signal]);
    signal.addEventListener("abort", () => this.#wake?.());
    try {
      while (await this.#publishFromLast(signal));
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      this.#leave();
      // A signal of two is kept for as long as either may abort, and whoever listens to it.
      this.close();
    }
  }

  /** What is not stored yet is published by the next one. Safe to call twice. */
  close(): void {
    this.#stop.abort(new AppError("SHUTTING_DOWN", "the pane is no longer published"));
  }

  /** It is wanted no longer, which its viewers are told. Safe to call twice. */
  end(): void {
    this.#subscription?.finish(new AppError("NOT_FOUND", `pane ${this.#options.pane} is no longer published`));
  }

  /** True: it is to be done again, from what is stored now. */
  async #publishFromLast(signal: AbortSignal): Promise<boolean> {
    const { link, stream, subject, feeds, pane, clock } = this.#options;
    while (this.#options.tmux() === undefined) await sleep(clock, TMUX_RETRY_MS, signal);
    const newest = await link.last(stream, subject, signal);
    const tmux = this.#options.tmux();
    if (tmux === undefined) return true;
    // What somebody else has put there says nothing of the pane.
    const last = storedMessage(newest)?.message ?? this.#stored;
    this.#leave();
    this.#undrawn = 0;
    this.#sentMs = clock.nowMs();
    this.#seq = newest?.seq ?? 0;
    const goesOn = last !== undefined && last.kind !== "closed" && last.tmux === tmux;
    this.#tmux = tmux;
    this.#chain = goesOn ? last.chain : { ...NO_CHAIN, beforeEpoch: this.#seq, beforeLife: this.#seq };
    const { cols, rows, position } = goesOn ? last : { cols: 0, rows: 0, position: { epoch: "", outputSeq: 0 } };
    this.#size = { cols, rows };
    this.#head = position;
    this.#epoch = position.epoch;
    const start: StreamStart = goesOn ? { kind: "position", position } : { kind: "snapshot" };
    try {
      this.#subscription = feeds.subscribe(pane, start, () => this.#sink(goesOn));
    } catch (error) {
      const { code } = toAppError(error);
      if (code === "CONNECTION_LOST") {
        await sleep(clock, TMUX_RETRY_MS, signal);
        return true;
      }
      if (code !== "NOT_FOUND" && code !== "INVALID_ARGUMENT") throw error;
      // It was gone before it could be followed.
      if (last === undefined || last.kind === "closed") return false;
      this.#add("closed", last.position, { code: "NOT_FOUND", message: `pane ${pane} is gone` });
    }
    for (;;) {
      const next = await this.#next(signal);
      let isStored = false;
      try {
        isStored = await this.#send(next, signal);
      } finally {
        this.#release(next);
      }
      if (!isStored) return this.#options.mayPublish(signal);
      if (next.kind === "closed") return false;
      if (this.#undrawn >= SNAPSHOT_EVERY_BYTES) this.#redraw();
    }
  }

  #redraw(): void {
    this.#undrawn = 0;
    this.#subscription?.redraw();
  }

  #sink(goesOn: boolean): SubscriptionSink {
    const { serverName: server, pane, observe } = this.#options;
    return {
      room: () => this.#room(),
      open: (position, { cols, rows }) => {
        if (goesOn) {
          // Since then it may have got another size; a gap's snapshot has it.
          if (this.#size.cols === 0) this.#size = { cols, rows };
          return;
        }
        this.#size = { cols, rows };
        this.#add("open", position, { server, pane, position: formatPosition(position), cols, rows });
      },
      output: ({ epoch, to, bytes }) => this.#addOutput({ epoch, outputSeq: to }, new Uint8Array(bytes)),
      gap: (gap) => {
        observe.gap();
        this.#add("gap", gap.to, formatGap(gap));
      },
      snapshot: (snapshot) => {
        const { cols, rows } = snapshot;
        this.#size = { cols, rows };
        this.#undrawn = 0;
        this.#add("snapshot", snapshot.position, screenFields(snapshot), snapshot.data);
      },
      resized: (cols, rows) => {
        if (cols === this.#size.cols && rows === this.#size.rows) return;
        this.#size = { cols, rows };
        this.#add("resize", this.#head, { cols, rows });
      },
      exited: (status) => this.#add("exit", this.#head, status),
      closed: ({ code, message }) => {
        // Ours alone is about us and not about the pane.
        if (code !== "SHUTTING_DOWN") this.#add("closed", this.#head, { code, message });
      },
    };
  }

  /** Nothing is taken from the ring before it can be sent: it gathers what comes meanwhile. */
  #room(): number {
    const { budget } = this.#options;
    if (!this.#isOpen && this.#wake !== undefined && this.#backlog >= MESSAGE_BYTES / 2) this.#isOpen = true;
    if (!this.#isOpen) return 0;
    if (budget.left > 0) return MESSAGE_BYTES - this.#queued;
    this.#leaveLine ??= budget.wait(() => {
      this.#leaveLine = undefined;
      this.#subscription?.pump();
    });
    return 0;
  }

  /** Bytes of output that wait in the ring. */
  get #backlog(): number {
    const source = this.#subscription?.feed.source;
    return source?.epoch === this.#head.epoch ? source.outputSeq - this.#head.outputSeq : 0;
  }

  #addOutput(position: Position, bytes: Uint8Array): void {
    const last = this.#queue.at(-1);
    this.#undrawn += bytes.length;
    this.#head = position;
    if (last?.kind !== "output" || last.bytes + bytes.length > MESSAGE_BYTES) {
      this.#add("output", position, {}, bytes);
      return;
    }
    last.pieces.push(bytes);
    last.bytes += bytes.length;
    last.position = position;
    this.#took(bytes.length);
  }

  #add(kind: FleetKind, position: Position, data: object, bytes: Uint8Array = new Uint8Array()): void {
    const pieces = bytes.length === 0 ? [] : [bytes];
    this.#head = position;
    this.#queue.push({ kind, position, ...this.#size, data, pieces, bytes: bytes.length });
    this.#took(bytes.length);
  }

  #took(bytes: number): void {
    this.#queued += bytes;
    this.#options.budget.take(bytes);
    this.#wake?.();
  }

  #release({ bytes }: Outgoing): void {
    this.#queued -= bytes;
    this.#options.budget.release(bytes);
  }

  /** Nothing of it is published by us any more. */
  #leave(): void {
    this.#subscription?.close();
    this.#subscription = undefined;
    this.#leaveLine?.();
    this.#leaveLine = undefined;
    for (const one of this.#queue.splice(0)) this.#release(one);
  }

  /** The next to be sent, when it is this pane's turn. */
  async #next(signal: AbortSignal): Promise<Outgoing> {
    const { clock, pace, refreshMs } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      const first = this.#queue.shift();
      if (first !== undefined) {
        this.#isOpen = false;
        return first;
      }
      const dueMs = pace.dueMs(this.#sentMs);
      this.#isOpen ||= dueMs <= clock.nowMs();
      if (this.#isOpen) this.#subscription?.pump();
      if (this.#queue.length > 0) continue;
      const refreshAtMs = this.#sentMs + refreshMs;
      if (refreshAtMs <= clock.nowMs()) {
        this.#sentMs = clock.nowMs();
        this.#redraw();
      }
      await this.#changed(this.#isOpen ? refreshAtMs : dueMs);
    }
  }

  /** Until something is to be sent, it is time, or the end. */
  #changed(dueMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.callAt(dueMs, () => this.#wake?.());
      this.#wake = () => {
        timer.cancel();
        this.#wake = undefined;
        this.#options.clock.callAt(this.#options.clock.nowMs() + LIVE_FIRST_MS, resolve);
      };
    });
  }

  /** False: the subject's last message is not ours. @throws the signal's reason */
  async #send(item: Outgoing, signal: AbortSignal): Promise<boolean> {
    const { link, clock } = this.#options;
    const { kind, position, cols, rows, data } = item;
    if (position.epoch !== this.#epoch) {
      this.#chain = { ...this.#chain, beforeEpoch: this.#seq };
      this.#epoch = position.epoch;
    }
    const whole = item.pieces.length === 1 ? (item.pieces[0] ?? new Uint8Array()) : Buffer.concat(item.pieces);
    const most = Math.max(1_024, link.maxPayload - HEADER_BYTES);
    this.#sentMs = clock.nowMs();
    for (let from = 0; from === 0 || from < whole.length; from += most) {
      const bytes = whole.subarray(from, from + most);
      const isPart = from + most < whole.length;
      const at =
        kind === "output"
          ? { ...position, outputSeq: position.outputSeq - whole.length + from + bytes.length }
          : position;
      const message = {
        kind,
        position: at,
        cols,
        rows,
        data,
        bytes,
        isPart: isPart && kind !== "output",
        chain: this.#chain,
        tmux: this.#tmux,
      };
      if (!(await this.#store(message, signal))) return false;
      if (kind === "snapshot" && from === 0) this.#chain = { ...this.#chain, snapshot: this.#seq };
    }
    return true;
  }

  async #store(given: Omit<FleetMessage, "origin">, signal: AbortSignal): Promise<boolean> {
    const { link, stream, subject, instance, pace, observe } = this.#options;
    const message = { ...given, origin: `${instance}/${(PanePublisher.#count += 1)}` };
    for (;;) {
      const request = { subject, bytes: message.bytes, headers: fleetHeaders(message), after: this.#seq };
      const outcome = await link.publish(request, signal);
      if (outcome.kind === "stored") this.#seq = outcome.seq;
      else {
        const last = await link.last(stream, subject, signal);
        // The stream has forgotten all of the pane: what follows is the first that it keeps.
        if (last === undefined) {
          this.#seq = 0;
          this.#undrawn = SNAPSHOT_EVERY_BYTES;
          continue;
        }
        // The answer to an earlier try was lost.
        if (storedMessage(last)?.message?.origin !== message.origin) return false;
        this.#seq = last.seq;
      }
      this.#stored = message;
      pace.published(this);
      observe.stored(message.bytes.length);
      return true;
    }
  }
}
