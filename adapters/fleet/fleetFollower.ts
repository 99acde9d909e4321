/**
 * Follows one pane from NATS: the kept messages from where it begins, then the live ones. A live viewer is a plain subscription
 * to what the stream repeats; what it misses is read from the stream by sequence. Each byte comes once and in order, by its
 * position: what is known already is skipped, what no message has any more is a gap.
 */
import { DeliverPolicy, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection, Subscription } from "@nats-io/nats-core";
import { backOffMs } from "../../daemon/time/backOff.ts";
import { Changes } from "../../daemon/time/changes.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { sleep } from "../../daemon/time/within.ts";
import { messageOf } from "../../protocol/errors.ts";
import { formatPosition, parsePosition, type Position } from "../../protocol/position.ts";
import type { PaneEvent } from "../client/clientEvents.ts";
import { TmuxwireError } from "../client/clientHttp.ts";
import { fetchKept, streamWith } from "./fetchKept.ts";
import type { FleetMessage } from "./fleetMessages.ts";
import { type FleetFollowOptions, liveSubject, outSubject, stateSubject } from "./fleetSubjects.ts";
import { storedMessage, type Stored } from "./storedMessage.ts";

/** Live messages that wait for the reader; beyond, they are read from the stream when it comes to them. */
const QUEUE_BYTES = 4_194_304;
/** From so many missing messages on a consumer of the stream is quicker than a request for each. */
const MANY = 32;
/** After so many more it is tried again. */
const AGAIN = 512;
/** A replica of the stream may be behind the one that repeats it. */
const REPLICA_TRIES = 50;
const REPLICA_MS = 20;
const RETRY = { minMs: 50, maxMs: 2_000 };

export interface KeepingStream {
  readonly name: string;
  /** When it was made: another one counts from the beginning. */
  readonly created: string;
}

interface ReaderParts {
  readonly nc: NatsConnection;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  /** The stream that keeps the pane; `find` looks again. */
  readonly stream: KeepingStream;
  readonly find: () => Promise<KeepingStream>;
  /** Returns the function that ends it. */
  readonly onReconnect: (call: () => void) => () => void;
}

interface Live extends Stored {
  /** The pane's message before it. */
  readonly before: number;
  readonly length: number;
}

interface Ours extends Stored {
  readonly message: FleetMessage;
}

/** How long nothing comes until the stream is asked whether there is something; less often as long as there is nothing. */
const MIN_DOUBT_MS = 2_000;
const MAX_DOUBT_MS = 60_000;

export class FleetFollower {
  readonly #parts: ReaderParts;
  readonly #options: FleetFollowOptions;
  readonly #subject: string;
  readonly #queue: Live[] = [];
  #queued = 0;
  #stream: KeepingStream;
  /** Something may have been missed. */
  #isBehind = true;
  /** NATS may have lost the stream since, and have another one. */
  #isDoubted = false;
  readonly #changes = new Changes();
  /** The newest message that has been read. */
  #seq = 0;
  #at: Position | undefined;
  #life: number | undefined;
  #tmux: string | undefined;
  /** Of the newest message that has been read. */
  #origin: string | undefined;
  #parted: Uint8Array[] = [];
  #isOpen = false;
  #isOver = false;
  #doubtMs = MIN_DOUBT_MS;

  constructor(parts: ReaderParts, options: FleetFollowOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#subject = outSubject(options);
    this.#stream = parts.stream;
  }

  async *events(): AsyncGenerator<PaneEvent, void, void> {
    const { nc, onReconnect } = this.#parts;
    const { signal } = this.#options;
    const live = nc.subscribe(liveSubject(this.#options), {
      callback: (error, message) => {
        if (error === null) this.#arrived(message);
      },
    });
    const stopTelling = onReconnect(() => this.#doubtStream());
    const abort = (): void => this.#changes.changed();
    signal?.addEventListener("abort", abort);
    try {
      yield* this.#begin();
      while (!this.#isOver) {
        signal?.throwIfAborted();
        if (nc.isClosed()) throw new TmuxwireError("DAEMON_UNREACHABLE", "the connection to NATS is closed");
        if (this.#isBehind) yield* this.#catchUp();
        else yield* this.#next(live);
      }
    } finally {
      signal?.removeEventListener("abort", abort);
      stopTelling();
      live.unsubscribe();
    }
  }

  async *#begin(): AsyncGenerator<PaneEvent, void, void> {
    const { from = "now" } = this.#options;
    const last = await this.#last();
    if (last === undefined) {
      await this.#requireKnown();
      return;
    }
    // Somebody else's: what is kept is read from its beginning.
    if (!isOurs(last)) return;
    const { chain } = last.message;
    switch (from) {
      case "now":
        this.#goOn(last);
        break;
      case "snapshot":
        this.#seq = chain.snapshot > 0 ? chain.snapshot - 1 : last.seq - 1;
        break;
      case "start":
        this.#seq = chain.beforeLife;
        break;
      default:
        await this.#beginAt(positionOf(from), last);
    }
    this.#life = chain.beforeLife;
    if (from === "now") {
      yield this.#open(last.message);
      if (last.message.kind === "closed") yield this.#closed(last.message.data);
    }
  }

  /** Nothing of it is kept: it is new, or there is no such pane. @throws TmuxwireError NOT_FOUND */
  async #requireKnown(): Promise<void> {
    const { host, server, pane } = this.#options;
    const { jsm } = this.#parts;
    const subject = stateSubject(host, server, "tree");
    const told = await this.#insist(async () => {
      const stream = await streamWith(jsm, subject);
      return stream === undefined ? null : jsm.direct.getMessage(stream.name, { last_by_subj: subject });
    });
    const tree = told === null ? {} : told.json<{ readonly panes?: readonly { readonly id: string }[] }>();
    if (tree.panes?.some(({ id }) => id === pane) === true) return;
    throw new TmuxwireError(
      "NOT_FOUND",
      `there is no pane ${pane} on ${server} of ${host}: run \`tmuxwire ls --nats URL\``,
    );
  }

  #open({ cols, rows }: FleetMessage): PaneEvent {
    const { server, pane } = this.#options;
    this.#isOpen = true;
    return {
      kind: "open",
      server,
      pane,
      position: formatPosition(this.#at ?? { epoch: "0", outputSeq: 0 }),
      cols,
      rows,
    };
  }

  /** Reads on after this position, which is in the last message's epoch or in one before it. */
  async #beginAt(wanted: Position, last: Ours): Promise<void> {
    this.#at = wanted;
    let high = last;
    while (high.message.position.epoch !== wanted.epoch) {
      const { beforeEpoch } = high.message.chain;
      const older = beforeEpoch === 0 ? undefined : await this.#get(beforeEpoch);
      if (older?.seq !== beforeEpoch || !isOurs(older)) {
        // It is kept no longer, or never was: everything that is kept comes after it.
        this.#seq = beforeEpoch;
        return;
      }
      high = older;
    }
    if (high.message.position.outputSeq < wanted.outputSeq && high.seq === last.seq) {
      const at = formatPosition(last.message.position);
      throw new TmuxwireError("INVALID_ARGUMENT", `that position is ahead of the pane's output, which is at ${at}`);
    }
    // After the last message that ends before it: what else is at that position comes once more, such as a resize.
    let low = high.message.chain.beforeEpoch;
    let end = high.seq + 1;
    while (end - low > 1) {
      const middle = low + Math.floor((end - low) / 2);
      const found = await this.#ours(middle);
      if (found !== undefined && found.seq < end && found.message.position.outputSeq < wanted.outputSeq)
        low = found.seq;
      else end = middle;
    }
    this.#seq = low;
  }

  /** What the stream has beyond the newest that was read. */
  async *#catchUp(): AsyncGenerator<PaneEvent, void, void> {
    this.#isBehind = false;
    if (this.#isDoubted) await this.#checkStream();
    for (let count = 0; !this.#isOver; count += 1) {
      if (count % AGAIN === MANY) {
        yield* this.#readMany();
        continue;
      }
      const next = await this.#get(this.#seq + 1);
      if (next !== undefined) yield* this.#deliver(next);
      else return;
    }
  }

  /** Where NATS has lost what it kept, all of the new stream is read; what of it is known already is skipped by its position. */
  async #checkStream(): Promise<void> {
    this.#isDoubted = false;
    if (this.#seq === 0) return;
    const newest = await this.#get(this.#seq);
    if (newest?.seq === this.#seq && newest.message?.origin === this.#origin) return;
    // A stream that has forgotten it looks the same, and a replica that is behind.
    const stream = await this.#insist(this.#parts.find);
    if (stream.created === this.#stream.created) return;
    this.#stream = stream;
    this.#seq = 0;
    this.#life = undefined;
  }

  /** Many at a time; the rest is asked for one by one, which goes on after a lost connection. */
  async *#readMany(): AsyncGenerator<PaneEvent, void, void> {
    const config = {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.#seq + 1,
      filter_subject: this.#subject,
    };
    const { js, jsm } = this.#parts;
    const source = { js, jsm, stream: this.#stream.name };
    for await (const { seq, headers: header = NO_HEADERS, data } of fetchKept(source, config)) {
      const stored = storedMessage({ seq, header, data });
      if (stored !== undefined) yield* this.#deliver(stored);
      this.#options.signal?.throwIfAborted();
      if (this.#isOver) return;
    }
  }

  /** The next live message, with what was missed before it. */
  async *#next(live: Subscription): AsyncGenerator<PaneEvent, void, void> {
    const first = this.#queue.shift();
    if (first === undefined) {
      if (live.isClosed()) throw new TmuxwireError("DAEMON_UNREACHABLE", "NATS has ended the subscription");
      const doubtedMs = systemClock.nowMs() + this.#doubtMs;
      if (!(await this.#changes.next(this.#changes.count, systemClock, doubtedMs))) this.#doubt();
      return;
    }
    this.#queued -= first.length;
    if (first.seq <= this.#seq) {
      if (this.#isUnknown(first)) this.#doubtStream();
      return;
    }
    for (let tries = 0; first.before > this.#seq && tries < REPLICA_TRIES && !this.#isOver;) {
      const missed = await this.#get(this.#seq + 1);
      if (missed !== undefined && missed.seq <= first.before) {
        yield* this.#deliver(missed);
        tries = 0;
      } else if (missed !== undefined) break;
      else {
        tries += 1;
        await sleep(systemClock, REPLICA_MS, this.#options.signal);
      }
    }
    if (!this.#isOver && first.seq > this.#seq) yield* this.#deliver(first);
  }

  *#deliver(stored: Stored): Generator<PaneEvent, void, void> {
    const { message } = stored;
    this.#seq = stored.seq;
    this.#origin = message?.origin;
    if (message === undefined) return;
    const { kind, position, bytes, data, chain, tmux } = message;
    if ((this.#life ?? chain.beforeLife) !== chain.beforeLife || (this.#tmux ?? tmux) !== tmux) {
      yield this.#closed({ code: "NOT_FOUND", message: "the pane is gone, and another one has its id" });
      return;
    }
    this.#life = chain.beforeLife;
    this.#tmux = tmux;
    const length = kind === "output" ? bytes.length : 0;
    const starts = { epoch: position.epoch, outputSeq: position.outputSeq - length };
    this.#at ??= kind === "gap" ? parsePosition(fromOf(data)) : starts;
    if (!this.#isOpen) yield this.#open(message);
    if (kind === "open") return;
    const at = this.#at ?? starts;
    if (position.epoch === at.epoch && position.outputSeq < at.outputSeq) return;
    if (kind !== "snapshot") this.#parted = [];
    if (kind === "gap") {
      if (same(position, at)) return;
      this.#at = position;
      yield { kind, ...data, from: formatPosition(at) } as PaneEvent;
      return;
    }
    const known = at.epoch === position.epoch ? at.outputSeq - starts.outputSeq : 0;
    if (at.epoch !== position.epoch || known < 0) {
      yield {
        kind: "gap",
        from: formatPosition(at),
        to: formatPosition(starts),
        reason: at.epoch === position.epoch ? "evicted" : "epoch",
      };
    }
    this.#at = position;
    switch (kind) {
      case "output": {
        const rest = known > 0 ? bytes.subarray(known) : bytes;
        if (rest.length > 0) yield { kind, bytes: rest, position: formatPosition(position) };
        return;
      }
      case "snapshot":
        this.#parted.push(bytes);
        if (message.isPart) return;
        yield { kind, ...data, bytes: joined(this.#parted.splice(0)) } as PaneEvent;
        return;
      case "closed":
        yield this.#closed(data);
        return;
      case "resize":
      case "exit":
        yield { kind, ...data } as PaneEvent;
    }
  }

  #closed(data: object): PaneEvent {
    this.#isOver = true;
    return { kind: "closed", code: "NOT_FOUND", message: "the pane is gone", ...data };
  }

  #goOn({ seq, message }: Ours): void {
    this.#seq = seq;
    this.#origin = message.origin;
    this.#at = message.position;
    this.#tmux = message.tmux;
  }

  /** Output of which nothing was delivered, although its place in the stream was read. */
  #isUnknown({ message }: Live): boolean {
    const at = this.#at;
    if (message === undefined || at === undefined) return false;
    return message.position.epoch !== at.epoch || message.position.outputSeq > at.outputSeq;
  }

  #doubtStream(): void {
    this.#isDoubted = true;
    this.#fallBehind();
  }

  #arrived(raw: { readonly headers?: Headers | undefined; readonly data: Uint8Array }): void {
    const header = raw.headers ?? NO_HEADERS;
    const seq = Number(header.get("Nats-Sequence"));
    const before = Number(header.get("Nats-Last-Sequence"));
    const stored = storedMessage({ seq, header, data: raw.data });
    if (stored === undefined || !Number.isSafeInteger(seq) || !Number.isSafeInteger(before)) return;
    this.#doubtMs = MIN_DOUBT_MS;
    if (this.#queued + raw.data.length > QUEUE_BYTES) this.#fallBehind();
    else {
      this.#queue.push({ ...stored, before, length: raw.data.length });
      this.#queued += raw.data.length;
      this.#changes.changed();
    }
  }

  /** Servers that lose each other for a while tell no viewer, and what they have not repeated is missed by nobody yet. */
  #doubt(): void {
    this.#doubtMs = Math.min(2 * this.#doubtMs, MAX_DOUBT_MS);
    this.#fallBehind();
  }

  #fallBehind(): void {
    this.#isBehind = true;
    this.#queue.length = 0;
    this.#queued = 0;
    this.#changes.changed();
  }

  async #last(): Promise<Stored | undefined> {
    const { jsm } = this.#parts;
    const query = { last_by_subj: this.#subject };
    return storedMessage(await this.#insist(() => jsm.direct.getMessage(this.#stream.name, query)));
  }

  /** The pane's first message from this sequence on. */
  async #get(seq: number): Promise<Stored | undefined> {
    const { jsm } = this.#parts;
    const query = { seq, next_by_subj: this.#subject };
    return storedMessage(await this.#insist(() => jsm.direct.getMessage(this.#stream.name, query)));
  }

  /** The first of ours from this sequence on. */
  async #ours(seq: number): Promise<Ours | undefined> {
    for (let found = await this.#get(seq); found !== undefined; found = await this.#get(found.seq + 1)) {
      if (isOurs(found)) return found;
    }
    return undefined;
  }

  /** While the connection is lost, requests fail; they are made again until it is closed. */
  async #insist<Result>(ask: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await ask();
      } catch (error) {
        this.#options.signal?.throwIfAborted();
        if (this.#parts.nc.isClosed() || isRefused(error)) throw natsError(error);
        await sleep(systemClock, backOffMs(tries, RETRY), this.#options.signal);
      }
    }
  }
}

const isOurs = (stored: Stored): stored is Ours => stored.message !== undefined;

interface Headers {
  get(name: string): string;
}
const NO_HEADERS: Headers = { get: () => "" };

const same = (a: Position, b: Position): boolean => a.epoch === b.epoch && a.outputSeq === b.outputSeq;

const fromOf = (data: object): string => String((data as { readonly from?: unknown }).from);

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1) return pieces[0] ?? new Uint8Array();
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** @throws TmuxwireError INVALID_ARGUMENT */
function positionOf(text: string): Position {
  try {
    return parsePosition(text);
  } catch {
    const message = `from must be now, snapshot, start or a position such as k3Jd9:1024, not ${JSON.stringify(text)}`;
    throw new TmuxwireError("INVALID_ARGUMENT", message);
  }
}

/** No later try will be answered otherwise. */
const isRefused = (error: unknown): boolean =>
  error instanceof Error && /permission|stream not found/i.test(error.message);

/** NATS's error as one of ours. */
export function natsError(error: unknown): TmuxwireError {
  const reason = messageOf(error);
  if (/permission|authorization/i.test(reason)) return new TmuxwireError("FORBIDDEN", `NATS refuses it: ${reason}`);
  if (/timeout/i.test(reason)) return new TmuxwireError("TIMEOUT", `NATS did not answer: ${reason}`);
  return new TmuxwireError("DAEMON_UNREACHABLE", `NATS cannot do it: ${reason}`);
}
