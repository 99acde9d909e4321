/**
 * Sends notices to channels, and takes them back where a channel can. Each channel has one request under way. What cannot be
 * sent waits in the store and is tried again for hours; then it counts as lost.
 */
import type { Surroundings } from "../../../daemon/ops/log.ts";
import { backOffMs } from "../../../daemon/time/backOff.ts";
import type { Timer } from "../../../daemon/time/clock.ts";
import {
  type AddPush,
  DEFAULT_NOTICES,
  type NativeAddChannel,
  type NativeChannel,
  NOTICE_KINDS,
  type NoticeKind,
} from "../../../protocol/api/native/nativeNotifications.ts";
import { AppError, toAppError } from "../../../protocol/errors.ts";
import { notFound } from "../../../protocol/text/nearestName.ts";
import {
  type Channel,
  MAX_CHANNELS,
  type PushChannel,
  requireAddress,
  sendsText,
  withoutSecrets,
} from "./channelBook.ts";
import type { Send, Sent } from "./httpSender.ts";
import {
  type HttpRequest,
  isTogether,
  type Notice,
  type NoticeText,
  referenceIn,
  tellRequest,
  withdrawRequest,
} from "./notices.ts";
import type { KeptNotice, NoticeStore, Sending } from "./noticeStore.ts";

const SEND_TIMEOUT_MS = 10_000;
const RETRY = { minMs: 2_000, maxMs: 600_000 };
/** After this it is lost. */
const MAX_AGE_MS = 6 * 3_600_000;
/** Of all channels, a few hundred bytes each; what is more is lost, the oldest first. */
const MAX_NOTICES = 500;
/** What an earlier daemon has left is told only once its agent was seen again, or after this: it may have been answered meanwhile. */
const SEEN_AGAIN_WITHIN_MS = 10_000;
/** Before the next look at the clock of the quiet hours. */
const QUIET_LOOK_MS = 60_000;

export interface OutboxOptions extends Surroundings {
  readonly channels: readonly Channel[];
  /** Keeps the list. */
  readonly save: (channels: readonly Channel[]) => void;
  readonly store: NoticeStore;
  /** As it is when it is sent. */
  readonly textOf: (notice: Notice, channel: Channel) => NoticeText;
  /** It is not true any more. */
  readonly takenBack: (notice: Notice) => void;
  readonly send: Send;
  /** Encrypts what goes to a browser. @throws AppError */
  readonly seal: (channel: PushChannel, request: HttpRequest) => Promise<HttpRequest>;
  /** Removes a channel that its receiver has ended. */
  readonly gone: (name: string) => void;
}

/** A channel while the daemon runs. */
interface Open {
  channel: Channel;
  sending: AbortController | undefined;
  lost: number;
  sentUnixMs: number | undefined;
  /** Nothing is tried before `nextUnixMs`. */
  failing:
    | { readonly sinceUnixMs: number; readonly why: string; readonly tries: number; readonly nextUnixMs: number }
    | undefined;
}

export class NoticeOutbox {
  readonly #options: OutboxOptions;
  readonly #channels = new Map<string, Open>();
  /** By id, the oldest first. */
  readonly #notices = new Map<string, KeptNotice>();
  /** Subjects that an earlier daemon has left notices about, and nobody has seen since. */
  readonly #unsure = new Set<string>();
  readonly #sureUnixMs: number;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#sureUnixMs = options.nowUnixMs() + SEEN_AGAIN_WITHIN_MS;
    for (const channel of options.channels) this.#open(channel);
    if (this.hasChannels) for (const kept of options.store.notices()) this.#load(kept);
    this.#pump();
  }

  get hasChannels(): boolean {
    return this.#channels.size > 0;
  }

  /** Whether any channel wants these. */
  wants(kind: NoticeKind): boolean {
    return [...this.#channels.values()].some(({ channel }) => wants(channel, kind));
  }

  list(): readonly NativeChannel[] {
    return [...this.#channels.values()]
      .map((open) => this.#shown(open))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** A browser that is there already is changed. @throws AppError INVALID_ARGUMENT, ALREADY_EXISTS, RESOURCE_LIMIT */
  add(given: NativeAddChannel | AddPush): NativeChannel {
    requireAddress(given);
    const known = given.kind === "push" ? this.#browser(given.url) : undefined;
    if (known !== undefined) {
      const { name } = known.channel;
      const changed = { ...given, name };
      this.#options.save(this.#records().map((channel) => (channel.name === name ? changed : channel)));
      known.channel = changed;
      return this.#shown(known);
    }
    // Whoever subscribes gave no name that they know: two browsers may have one.
    const name =
      given.kind === "push" ? this.#freeName(given.name ?? given.kind) : (given.name ?? this.#freeName(given.kind));
    if (this.#channels.has(name)) {
      throw new AppError(
        "ALREADY_EXISTS",
        `there is a channel ${JSON.stringify(name)} already; remove it with \`tmuxwire notify rm ${name}\``,
      );
    }
    if (this.#channels.size >= MAX_CHANNELS) {
      throw new AppError("RESOURCE_LIMIT", `there are ${MAX_CHANNELS} channels at most; remove one first`);
    }
    const channel = { ...given, name };
    this.#options.save([...this.#records(), channel]);
    return this.#shown(this.#open(channel));
  }

  /** That of a browser. @param url its push service's address for it. @throws AppError NOT_FOUND */
  browser(url: string): NativeChannel {
    const open = this.#browser(url);
    if (open !== undefined) return this.#shown(open);
    throw new AppError("NOT_FOUND", 'this browser is not notified; press "Notify me" on the dashboard');
  }

  /** What waits for it is not sent. @throws AppError NOT_FOUND */
  remove(name: string): void {
    const open = this.#channel(name);
    this.#options.save(this.#records().filter((channel) => channel.name !== name));
    this.#channels.delete(name);
    open.sending?.abort();
    for (const kept of this.#notices.values()) this.#settle(kept, name, undefined);
  }

  /** Sends this now; what waits follows. @throws AppError NOT_FOUND, DAEMON_UNREACHABLE: why it could not be sent */
  async test(name: string, notice: Notice, text: NoticeText): Promise<void> {
    const open = this.#channel(name);
    const outcome = await this.#request(open, tellRequest(open.channel, notice, text), new AbortController());
    this.#pump();
    if ("isOver" in outcome && this.#channels.get(name) === open) this.#options.gone(name);
    if ("why" in outcome) throw new AppError("DAEMON_UNREACHABLE", `the test was not sent: ${outcome.why}`);
  }

  /** Sends it after `afterMs`, unless it was taken back by then. */
  tell(notice: Notice, afterMs: number): void {
    const sending: Sending = { state: "waiting", dueUnixMs: this.#options.nowUnixMs() + afterMs };
    const names = [...this.#channels.values()].filter(({ channel }) => wants(channel, notice.kind));
    this.#put({ notice, sendings: Object.fromEntries(names.map(({ channel }) => [channel.name, sending])) });
    for (const oldest of this.#notices.values()) {
      if (this.#notices.size <= MAX_NOTICES) break;
      this.#lose(oldest);
    }
    this.#pump();
  }

  /** What was not sent never is; what was sent is taken back where the channel can. */
  takeBack(subject: string, kinds: readonly NoticeKind[]): void {
    for (const kept of this.#notices.values()) {
      const { notice, note } = kept;
      if (notice.subject !== subject || !kinds.includes(notice.kind)) continue;
      const sendings = Object.entries(kept.sendings).flatMap(([name, sending]): [string, Sending][] => {
        const next = sending.state === "sent" ? this.#takenBack(notice, name, sending) : sending;
        return next === undefined || next.state === "waiting" ? [] : [[name, next]];
      });
      this.#put({ notice, sendings: Object.fromEntries(sendings), note });
      this.#options.takenBack(notice);
    }
    this.#pump();
  }

  /** It was seen again: what is left to be told of it is true. */
  seenAgain(subject: string): void {
    if (this.#unsure.delete(subject)) this.#pump();
  }

  /** What is shown once it is taken back; undefined: nothing in particular. @param id of the notice */
  note(id: string, note: string | undefined): void {
    const kept = this.#notices.get(id);
    if (kept !== undefined) this.#put({ ...kept, note });
  }

  /** Subjects of those of a kind that were told and not taken back. */
  open(kind: NoticeKind): readonly string[] {
    return [...this.#notices.values()].flatMap(({ notice }) => (notice.kind === kind ? [notice.subject] : []));
  }

  /** What has to be sent stays, for the next daemon. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const { sending } of this.#channels.values()) sending?.abort();
  }

  /** Sends what is due, and comes back when the next is. */
  #pump(): void {
    this.#timer?.cancel();
    if (this.#isClosed) return;
    const nowUnixMs = this.#options.nowUnixMs();
    const nextUnixMs = Math.min(...[...this.#channels.values()].map((open) => this.#start(open, nowUnixMs)));
    if (nextUnixMs === Infinity) return;
    const { clock } = this.#options;
    this.#timer = clock.callAt(clock.nowMs() + (nextUnixMs - nowUnixMs), () => this.#pump());
  }

  /** Begins with what is due first, if it may. Returns when to look again. */
  #start(open: Open, nowUnixMs: number): number {
    const { channel, failing } = open;
    const next = open.sending === undefined ? this.#next(channel) : undefined;
    if (next === undefined) return Infinity;
    const dueUnixMs = Math.max(this.#dueUnixMs(next.kept, next.sending), failing?.nextUnixMs ?? 0);
    if (dueUnixMs > nowUnixMs) return dueUnixMs;
    if (!isAllowedAt(channel.quiet, nowUnixMs)) return nowUnixMs + QUIET_LOOK_MS;
    open.sending = new AbortController();
    void this.#sendOne(open, next, open.sending);
    return Infinity;
  }

  #next({ name }: Channel): { readonly kept: KeptNotice; readonly sending: Sending } | undefined {
    let first: { readonly kept: KeptNotice; readonly sending: Sending } | undefined;
    for (const kept of this.#notices.values()) {
      const sending = kept.sendings[name];
      if (sending === undefined || sending.state === "sent") continue;
      const isEarlier =
        first === undefined || this.#dueUnixMs(kept, sending) < this.#dueUnixMs(first.kept, first.sending);
      if (isEarlier) first = { kept, sending };
    }
    return first;
  }

  #dueUnixMs({ notice }: KeptNotice, { state, dueUnixMs }: Sending): number {
    return state === "waiting" && this.#unsure.has(notice.subject) ? Math.max(dueUnixMs, this.#sureUnixMs) : dueUnixMs;
  }

  async #sendOne(
    open: Open,
    { kept, sending }: { readonly kept: KeptNotice; readonly sending: Sending },
    abort: AbortController,
  ): Promise<void> {
    const { channel } = open;
    const { notice } = kept;
    try {
      const isTold = sending.state === "waiting";
      const others = isTold && isTogether(channel, notice) ? this.#due(channel, notice) : [];
      const request = isTold
        ? tellRequest(channel, notice, this.#options.textOf(notice, channel), others)
        : withdrawRequest(channel, notice, sending.reference, kept.note);
      const outcome = request === undefined ? GONE : await this.#request(open, request, abort);
      if (this.#isClosed || this.#channels.get(channel.name) !== open) return;
      for (const each of [notice, ...others]) this.#sent(open, each, sending, outcome);
      if ("isOver" in outcome) this.#options.gone(channel.name);
    } catch (error) {
      this.#options.log.error("notify.error", { error: toAppError(error) });
    } finally {
      open.sending = undefined;
    }
    this.#pump();
  }

  /** Others of its kind that are due. */
  #due({ name }: Channel, { id, kind }: Notice): readonly Notice[] {
    const nowUnixMs = this.#options.nowUnixMs();
    return [...this.#notices.values()].flatMap((kept) => {
      const { notice, sendings } = kept;
      const sending = sendings[name];
      const isDue = sending?.state === "waiting" && this.#dueUnixMs(kept, sending) <= nowUnixMs;
      return isDue && notice.kind === kind && notice.id !== id ? [notice] : [];
    });
  }

  #sent(open: Open, notice: Notice, sending: Sending, outcome: Outcome): void {
    const { name, kind } = open.channel;
    const nowUnixMs = this.#options.nowUnixMs();
    const kept = this.#notices.get(notice.id) ?? { notice, sendings: {} };
    if (sending.state !== "waiting") {
      // A notification that stays hurts nobody: an older ntfy cannot take one back.
      this.#settle(kept, name, undefined);
    } else if (!("why" in outcome)) {
      const sent: Sending = { ...sending, state: "sent", reference: referenceIn(kind, outcome.body) };
      // What was taken back while it was on its way is taken back now.
      const isTrue = kept.sendings[name] !== undefined;
      const next = STAYS_TRUE.has(notice.kind) ? undefined : isTrue ? sent : this.#takenBack(notice, name, sent);
      this.#settle(kept, name, next);
    } else if (kept.sendings[name] === undefined) {
      // It is not true any more.
    } else if (outcome.isFinal || nowUnixMs - notice.sinceUnixMs > MAX_AGE_MS) {
      open.lost += 1;
      this.#settle(kept, name, undefined);
    } else {
      // Behind others that wait: it may be the reason.
      this.#settle(kept, name, { ...sending, dueUnixMs: nowUnixMs });
    }
  }

  /** Undefined: the channel cannot. */
  #takenBack(notice: Notice, name: string, { reference }: Sending): Sending | undefined {
    const channel = this.#channels.get(name)?.channel;
    const can = channel !== undefined && withdrawRequest(channel, notice, reference) !== undefined;
    return can ? { state: "taking back", dueUnixMs: 0, reference } : undefined;
  }

  async #request(open: Open, request: HttpRequest, abort: AbortController): Promise<Outcome> {
    const { clock, seal, send } = this.#options;
    const { channel } = open;
    let sealed: HttpRequest;
    try {
      sealed = channel.kind === "push" ? await seal(channel, request) : request;
    } catch (error) {
      return this.#noted(open, { why: toAppError(error).message, isFinal: false, retryAfterMs: undefined });
    }
    const timer = clock.callAt(clock.nowMs() + SEND_TIMEOUT_MS, () => abort.abort(new Error("no response")));
    const sent = await send(sealed, abort.signal).then(
      (response) => outcomeOf(channel, response),
      (error: unknown) => noResponse(abort, error),
    );
    timer.cancel();
    return this.#noted(open, sent);
  }

  /** What became of a request is what `list` says of its channel. */
  #noted(open: Open, outcome: Outcome): Outcome {
    const { nowUnixMs, log } = this.#options;
    if (this.#isClosed) return outcome;
    const { failing } = open;
    const { name } = open.channel;
    if (!("why" in outcome)) {
      if (failing !== undefined) log.info("notify.recovered", { channel: name });
      open.failing = undefined;
      open.sentUnixMs = nowUnixMs();
      return outcome;
    }
    const { why, retryAfterMs } = outcome;
    if (failing === undefined) log.warn("notify.failed", { channel: name, why });
    const { sinceUnixMs = nowUnixMs(), tries = 0 } = failing ?? {};
    const waitMs = outcome.isFinal ? 0 : Math.min(retryAfterMs ?? backOffMs(tries, RETRY), RETRY.maxMs);
    open.failing = { sinceUnixMs, why, tries: tries + 1, nextUnixMs: nowUnixMs() + waitMs };
    return outcome;
  }

  #lose(kept: KeptNotice): void {
    for (const [name, { state }] of Object.entries(kept.sendings)) {
      const open = this.#channels.get(name);
      if (open !== undefined && state === "waiting") open.lost += 1;
    }
    this.#put({ ...kept, sendings: {} });
  }

  /** @param sending undefined: nothing more is done on this channel */
  #settle({ notice, sendings, note }: KeptNotice, name: string, sending: Sending | undefined): void {
    const { [name]: _before, ...others } = sendings;
    this.#put({ notice, note, sendings: sending === undefined ? others : { ...others, [name]: sending } });
  }

  /** Without sendings it is over. */
  #put(kept: KeptNotice): void {
    const { store } = this.#options;
    if (Object.keys(kept.sendings).length > 0) {
      this.#notices.set(kept.notice.id, kept);
      store.keep(kept);
    } else if (this.#notices.delete(kept.notice.id)) {
      store.drop(kept);
    }
  }

  /** What an earlier daemon has left, for the channels that there are. */
  #load(kept: KeptNotice): void {
    const left = Object.entries(kept.sendings).filter(([name]) => this.#channels.has(name));
    this.#notices.set(kept.notice.id, kept);
    if (PASSES.has(kept.notice.kind)) this.#unsure.add(kept.notice.subject);
    if (left.length < Object.keys(kept.sendings).length) this.#put({ ...kept, sendings: Object.fromEntries(left) });
  }

  #open(channel: Channel): Open {
    const open: Open = { channel, sending: undefined, lost: 0, sentUnixMs: undefined, failing: undefined };
    this.#channels.set(channel.name, open);
    return open;
  }

  #records(): Channel[] {
    return [...this.#channels.values()].map(({ channel }) => channel);
  }

  #channel(name: string): Open {
    const open = this.#channels.get(name);
    if (open !== undefined) return open;
    const message = `there is no channel ${JSON.stringify(name)}; run \`tmuxwire notify\``;
    throw notFound(message, name, this.#channels.keys());
  }

  #browser(url: string): Open | undefined {
    return [...this.#channels.values()].find(({ channel }) => channel.kind === "push" && channel.url === url);
  }

  #freeName(kind: string): string {
    if (!this.#channels.has(kind)) return kind;
    for (let number = 2; ; number += 1) if (!this.#channels.has(`${kind}-${number}`)) return `${kind}-${number}`;
  }

  #shown({ channel, lost, sentUnixMs, failing }: Open): NativeChannel {
    const { name, kind, url, quiet, answers = false } = channel;
    return {
      name,
      kind,
      url: withoutSecrets(url),
      on: NOTICE_KINDS.filter((notice) => wants(channel, notice)),
      answers: answers !== false,
      text: sendsText(channel),
      quiet: quiet ?? null,
      waiting: [...this.#notices.values()].filter(({ sendings }) => sendings[name]?.state === "waiting").length,
      lost,
      sentUnixMs: sentUnixMs ?? null,
      failingSinceUnixMs: failing?.sinceUnixMs ?? null,
      why: failing?.why ?? null,
    };
  }
}

/** What may be over at any moment, of agents. */
const PASSES: ReadonlySet<NoticeKind> = new Set(["asking", "done", "stalled"]);
/** What has happened is not taken back. */
const STAYS_TRUE: ReadonlySet<NoticeKind> = new Set(["done", "ended"]);

interface Failure {
  readonly why: string;
  /** Trying again is of no use. */
  readonly isFinal: boolean;
  /** The receiver wants nothing more: the channel is removed. */
  readonly isOver?: true;
  readonly retryAfterMs: number | undefined;
}

type Outcome = Sent | Failure;

/** There is nothing to take back. */
const GONE: Sent = { status: 204, retryAfterMs: undefined, body: "" };

/** 4xx that pass by themselves. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

function outcomeOf({ kind }: Channel, sent: Sent): Outcome {
  const { status, retryAfterMs } = sent;
  if (status >= 200 && status < 300) return sent;
  if (kind === "push" && ENDED.has(status))
    return { why: SUBSCRIPTION_ENDED, isFinal: true, isOver: true, retryAfterMs };
  const isFinal = status < 500 && !PASSING.has(status);
  const advice = !isFinal
    ? ""
    : kind === "push"
      ? '; press "Notify me" on the dashboard again'
      : "; check its url and token";
  return { why: `it responds with status ${status}${advice}`, isFinal, retryAfterMs };
}

/** What a push service says of a subscription that is over (RFC 8030 §7.3). */
const ENDED: ReadonlySet<number> = new Set([404, 410]);
const SUBSCRIPTION_ENDED =
  'the browser has ended its subscription, and it was removed; press "Notify me" on the dashboard there to add it again';

function noResponse({ signal }: AbortController, error: unknown): Failure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException).code;
  const why = signal.aborted
    ? `no response within ${SEND_TIMEOUT_MS / 1_000} s`
    : `no connection (${code ?? "failed"})`;
  return { why, isFinal: false, retryAfterMs: undefined };
}

const wants = ({ on }: Channel, kind: NoticeKind): boolean => (on ?? DEFAULT_NOTICES).includes(kind);

/** By this machine's clock. @param quiet such as `22:00-07:00`; undefined: none */
function isAllowedAt(quiet: string | undefined, unixMs: number): boolean {
  const range = /^(\d\d):(\d\d)-(\d\d):(\d\d)$/.exec(quiet ?? "");
  if (range === null) return true;
  const [from = 0, fromMinute = 0, to = 0, toMinute = 0] = range.slice(1).map(Number);
  const now = new Date(unixMs);
  const minute = now.getHours() * 60 + now.getMinutes();
  const [start, end] = [from * 60 + fromMinute, to * 60 + toMinute];
  return start <= end ? minute < start || minute >= end : minute < start && minute >= end;
}
