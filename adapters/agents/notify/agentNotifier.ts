/**
 * Tells people outside of any page what their agents need: a question, the end of a turn, the end of a program, a stall, a
 * host that is away. A question that is answered within `SETTLE_MS` is not told; one that was told is taken back where the
 * channel can. Each channel has one request under way; what cannot be sent is tried again for hours and then counted as lost.
 */
import { randomBytes } from "node:crypto";
import { basename } from "node:path";
import type { Log } from "../../../daemon/ops/log.ts";
import { backOffMs } from "../../../daemon/time/backOff.ts";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import {
  DEFAULT_NOTICES,
  type NativeAddChannel,
  type NativeChannel,
  NOTICE_KINDS,
  type NoticeKind,
} from "../../../protocol/api/nativeNotifications.ts";
import { AppError, shuttingDown, toAppError } from "../../../protocol/errors.ts";
import { nearestName } from "../../../protocol/text/nearestName.ts";
import type { AgentDirectory } from "../running/agentDirectory.ts";
import { stateOf } from "../running/agentState.ts";
import type { RunningAgent } from "../running/runningAgent.ts";
import { type Channel, MAX_CHANNELS, requireAddress, withoutSecrets } from "./channelBook.ts";
import { isAllowedAt } from "./quietHours.ts";
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
import { type KeptNotice, type LastSeen, NoticeStore, type Sending } from "./noticeStore.ts";

/** A state that lasts no longer is not told. */
const SETTLE_MS = 2_000;
/** A host that is back before is not told. */
const HOST_SETTLE_MS = 30_000;
const STALLED_SEC = 600;
const SEND_TIMEOUT_MS = 10_000;
const RETRY = { minMs: 2_000, maxMs: 600_000 };
/** After this it is lost. */
const MAX_AGE_MS = 6 * 3_600_000;
/** Of all channels; what is more is lost, the oldest first. */
const MAX_NOTICES = 500;
/** Between two looks for agents that have ended while no daemon ran. */
const GONE_EVERY_MS = 10_000;
/** Before the next look at the clock of the quiet hours. */
const QUIET_LOOK_MS = 60_000;

interface NotifierOptions {
  readonly agents: AgentDirectory;
  readonly channels: readonly Channel[];
  /** Keeps the list. */
  readonly save: (channels: readonly Channel[]) => void;
  /** Resolves when the agent has been busy for so long without output. @throws when that will not happen */
  readonly stalled: (agent: RunningAgent, seconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Whether somebody ends the agent through the daemon: nobody needs to be told. */
  readonly isBeingEnded: (agent: RunningAgent) => boolean;
  readonly send: Send;
  readonly clock: Clock;
  readonly nowUnixMs: () => number;
  readonly log: Log;
}

/** A channel while the daemon runs. */
interface Open {
  readonly channel: Channel;
  sending: AbortController | undefined;
  lost: number;
  sentUnixMs: number | undefined;
  failing: { readonly sinceUnixMs: number; readonly why: string } | undefined;
  /** Nothing is tried before. */
  notBeforeUnixMs: number;
}

export class AgentNotifier {
  readonly #options: NotifierOptions;
  readonly #channels = new Map<string, Open>();
  readonly #notices = new Map<string, KeptNotice>();
  readonly #seen = new Map<string, LastSeen>();
  /** Those that an earlier daemon has seen and this one has not. */
  readonly #unmet = new Set<string>();
  readonly #stalls = new Map<string, AbortController>();
  readonly #away = new Set<string>();
  readonly #unsubscribes: readonly (() => void)[];
  #store: NoticeStore | undefined;
  #timer: Timer | undefined;
  #goneLookedMs = -Infinity;
  #isClosed = false;

  constructor(options: NotifierOptions) {
    this.#options = options;
    for (const channel of options.channels) this.#open(channel);
    if (this.#channels.size > 0) this.#load();
    const { agents } = options;
    this.#unsubscribes = [
      agents.subscribe(({ kind, agent }) => this.#guarded(() => this.#look(agent, kind === "ended"))),
      agents.onCheck(() => this.#guarded(() => this.#lookForGone())),
    ];
    this.#guarded(() => this.#pump());
  }

  list(): readonly NativeChannel[] {
    const waiting = (name: string): number =>
      [...this.#notices.values()].filter(({ sendings }) => sendings[name]?.state === "waiting").length;
    return [...this.#channels.values()]
      .map((open) => shown(open, waiting(open.channel.name)))
      .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** @throws AppError INVALID_ARGUMENT, ALREADY_EXISTS, RESOURCE_LIMIT */
  add(given: NativeAddChannel): NativeChannel {
    if (this.#isClosed) throw shuttingDown();
    requireAddress(given);
    const name = given.name ?? this.#freeName(given.kind);
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
    const open = this.#open(channel);
    // What is open already is on somebody's screen.
    if (this.#channels.size === 1) {
      this.#load();
      for (const agent of this.#options.agents.agents()) this.#meet(agent);
    }
    this.#watchStalls();
    return shown(open, 0);
  }

  /** @throws AppError NOT_FOUND */
  remove(name: string): void {
    const open = this.#channel(name);
    this.#options.save(this.#records().filter((channel) => channel.name !== name));
    this.#channels.delete(name);
    open.sending?.abort();
    for (const kept of this.#notices.values()) this.#settle(kept, name, undefined);
    this.#watchStalls();
    if (this.#channels.size > 0) return;
    this.#seen.clear();
    this.#unmet.clear();
    this.#store?.clear();
  }

  /** Sends one now. @throws AppError NOT_FOUND, DAEMON_UNREACHABLE: why it could not be sent */
  async test(name: string): Promise<void> {
    const open = this.#channel(name);
    const notice: Notice = {
      id: newId(),
      kind: "asking",
      subject: "agent-000000000000",
      name: "test",
      program: "tmuxwire",
      project: undefined,
      sinceUnixMs: this.#options.nowUnixMs(),
    };
    const text = { text: "This is a test: whoever reads it is told about agents.", options: [] };
    const outcome = await this.#request(open, tellRequest(open.channel, notice, text), new AbortController());
    if ("status" in outcome) return;
    throw new AppError("DAEMON_UNREACHABLE", `the test was not sent: ${outcome.why}`);
  }

  /** Call when a host's state changes. @param name of the host */
  hostChanged(name: string, isAway: boolean): void {
    this.#guarded(() => {
      if (this.#channels.size === 0 || this.#away.has(name) === isAway) return;
      if (isAway) {
        this.#away.add(name);
        const notice = this.#notice("host", name, { name, program: undefined, project: undefined });
        this.#tell(notice, HOST_SETTLE_MS);
      } else {
        this.#away.delete(name);
        this.#takeBack(name, ["host"]);
      }
      this.#pump();
    });
  }

  /** What has to be sent stays, for the next daemon. Safe to call twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    this.#timer?.cancel();
    for (const stall of this.#stalls.values()) stall.abort();
    for (const { sending } of this.#channels.values()) sending?.abort();
  }

  #look(agent: RunningAgent, hasEnded: boolean): void {
    if (this.#channels.size === 0 || this.#isClosed) return;
    if (hasEnded) this.#end(agent.id, this.#options.isBeingEnded(agent));
    else this.#change(agent);
    this.#pump();
  }

  #change(agent: RunningAgent): void {
    const isUnmet = this.#unmet.has(agent.id);
    const before = this.#seen.get(agent.id);
    const now = this.#meet(agent);
    if (now === undefined) return;
    if (before?.state === now.state && isSameQuestion(before, now, isUnmet)) return;
    if (before?.state === "asking") this.#takeBack(agent.id, ["asking"]);
    if (now.state === "asking") this.#tell(this.#notice("asking", agent.id, now), SETTLE_MS);
    if (now.state !== "ready") this.#takeBack(agent.id, ["done"]);
    if (now.state !== "busy") this.#endStall(agent.id);
    else this.#watchStall(agent);
    // Of one that was never seen at work nothing is known.
    const hasWorked = before?.state === "busy" || before?.state === "asking";
    if (now.state === "ready" && hasWorked) this.#tell(this.#notice("done", agent.id, now), SETTLE_MS);
  }

  /** Notes what it does. Undefined: nothing is known now. */
  #meet(agent: RunningAgent): LastSeen | undefined {
    const { state } = stateOf(agent);
    if (state !== "ready" && state !== "busy" && state !== "asking") return undefined;
    const known = this.#seen.get(agent.id);
    const seen: LastSeen = {
      state,
      // Until the next dialog has been read it is the same.
      dialog: state === "asking" ? (agent.readiness?.dialog?.id ?? known?.dialog) : undefined,
      name: agent.name,
      program: agent.kind.title,
      project: agent.cwd === undefined ? undefined : basename(agent.cwd),
    };
    this.#unmet.delete(agent.id);
    if (JSON.stringify(known) !== JSON.stringify(seen)) {
      this.#seen.set(agent.id, seen);
      this.#kept((store) => store.see(agent.id, seen));
    }
    return seen;
  }

  #end(agent: string, isExpected: boolean): void {
    const seen = this.#seen.get(agent);
    this.#endStall(agent);
    this.#takeBack(agent, ["asking", "done", "stalled"]);
    this.#seen.delete(agent);
    this.#unmet.delete(agent);
    this.#kept((store) => store.forget(agent));
    if (seen !== undefined && !isExpected) this.#tell(this.#notice("ended", agent, seen), SETTLE_MS);
  }

  /** Agents that ended while no daemon looked. */
  #lookForGone(): void {
    const nowMs = this.#options.clock.nowMs();
    if (this.#unmet.size === 0 || nowMs - this.#goneLookedMs < GONE_EVERY_MS) return;
    this.#goneLookedMs = nowMs;
    const kept = new Map(this.#options.agents.remembered().map((agent) => [agent.id, agent]));
    for (const id of this.#unmet) {
      const agent = kept.get(id);
      if (agent === undefined || agent.endedUnixMs !== undefined) this.#end(id, agent === undefined);
    }
    this.#pump();
  }

  #watchStalls(): void {
    for (const agent of this.#options.agents.agents()) {
      if (this.#seen.get(agent.id)?.state === "busy") this.#watchStall(agent);
    }
  }

  #watchStall(agent: RunningAgent): void {
    const isWanted = [...this.#channels.values()].some(({ channel }) => wants(channel, "stalled"));
    if (!isWanted) return this.#endStall(agent.id);
    if (this.#stalls.has(agent.id)) return;
    const stall = new AbortController();
    this.#stalls.set(agent.id, stall);
    void this.#untilStalled(agent, stall.signal);
  }

  async #untilStalled(agent: RunningAgent, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.stalled(agent, STALLED_SEC, signal);
      const seen = this.#seen.get(agent.id);
      if (signal.aborted || seen?.state !== "busy") return;
      this.#tell(this.#notice("stalled", agent.id, seen), 0);
      this.#pump();
    } catch (error) {
      // The agent, its pane or the connection to tmux has gone; its next turn is watched anew.
      if (toAppError(error).code === "INTERNAL_ERROR") this.#failed(error);
    }
  }

  #endStall(agent: string): void {
    this.#stalls.get(agent)?.abort();
    this.#stalls.delete(agent);
    this.#takeBack(agent, ["stalled"]);
  }

  #notice(kind: NoticeKind, subject: string, of: Pick<Notice, "name" | "program" | "project">): Notice {
    const { name, program, project } = of;
    return { id: newId(), kind, subject, name, program, project, sinceUnixMs: this.#options.nowUnixMs() };
  }

  #of(subject: string, kinds: readonly NoticeKind[]): readonly KeptNotice[] {
    return [...this.#notices.values()].filter(
      ({ notice }) => notice.subject === subject && kinds.includes(notice.kind),
    );
  }

  #tell(notice: Notice, afterMs: number): void {
    const dueUnixMs = notice.sinceUnixMs + afterMs;
    const sendings = Object.fromEntries(
      [...this.#channels.values()]
        .filter(({ channel }) => wants(channel, notice.kind))
        .map(({ channel }): [string, Sending] => [channel.name, { state: "waiting", tries: 0, dueUnixMs }]),
    );
    if (Object.keys(sendings).length === 0) return;
    this.#put({ notice, sendings });
    for (const oldest of this.#notices.values()) {
      if (this.#notices.size <= MAX_NOTICES) break;
      this.#lose(oldest);
    }
  }

  #lose(kept: KeptNotice): void {
    for (const [name, { state }] of Object.entries(kept.sendings)) {
      const open = this.#channels.get(name);
      if (open !== undefined && state === "waiting") open.lost += 1;
    }
    this.#put({ ...kept, sendings: {} });
  }

  #takeBack(subject: string, kinds: readonly NoticeKind[]): void {
    for (const kept of this.#of(subject, kinds)) this.#takeBackOne(kept);
  }

  /** What was not sent never is; what was sent is taken back where the channel can. */
  #takeBackOne(kept: KeptNotice): void {
    const sendings = Object.entries(kept.sendings).flatMap(([name, sending]): [string, Sending][] => {
      if (sending.state === "waiting") return [];
      const taken = sending.state === "sent" ? this.#takenBack(kept.notice, name, sending) : sending;
      return taken === undefined ? [] : [[name, taken]];
    });
    this.#put({ ...kept, sendings: Object.fromEntries(sendings) });
  }

  /** Undefined: the channel cannot. */
  #takenBack(notice: Notice, name: string, { reference }: Sending): Sending | undefined {
    const channel = this.#channels.get(name)?.channel;
    const can = channel !== undefined && withdrawRequest(channel, notice, reference) !== undefined;
    return can ? { state: "taking back", tries: 0, dueUnixMs: 0, reference } : undefined;
  }

  /** Without sendings it is over. */
  #put(kept: KeptNotice): void {
    if (Object.keys(kept.sendings).length > 0) {
      this.#notices.set(kept.notice.id, kept);
      this.#kept((store) => store.keep(kept));
    } else if (this.#notices.delete(kept.notice.id)) {
      this.#kept((store) => store.drop(kept));
    }
  }

  /** @param sending undefined: nothing more is done on this channel */
  #settle({ notice }: KeptNotice, name: string, sending: Sending | undefined): void {
    const kept = this.#notices.get(notice.id);
    if (kept === undefined) return;
    const { [name]: before, ...others } = kept.sendings;
    if (before === undefined) return;
    this.#put({ ...kept, sendings: sending === undefined ? others : { ...others, [name]: sending } });
  }

  /** Sends what is due, and comes back when the next is. */
  #pump(): void {
    if (this.#isClosed) return;
    const nowUnixMs = this.#options.nowUnixMs();
    let nextUnixMs = Infinity;
    for (const open of this.#channels.values()) {
      if (open.sending !== undefined) continue;
      const next = this.#next(open);
      if (next === undefined) continue;
      const dueUnixMs = Math.max(next.sending.dueUnixMs, open.notBeforeUnixMs);
      if (dueUnixMs > nowUnixMs) nextUnixMs = Math.min(nextUnixMs, dueUnixMs);
      else if (!isAllowedAt(open.channel.quiet, nowUnixMs))
        nextUnixMs = Math.min(nextUnixMs, nowUnixMs + QUIET_LOOK_MS);
      else void this.#sendOne(open, next.kept, next.sending);
    }
    this.#timer?.cancel();
    if (nextUnixMs === Infinity) return;
    const { clock } = this.#options;
    this.#timer = clock.callAt(clock.nowMs() + (nextUnixMs - nowUnixMs), () => this.#guarded(() => this.#pump()));
  }

  /** The one that is due first. */
  #next({ channel }: Open): { readonly kept: KeptNotice; readonly sending: Sending } | undefined {
    let first: { readonly kept: KeptNotice; readonly sending: Sending } | undefined;
    for (const kept of this.#notices.values()) {
      const sending = kept.sendings[channel.name];
      if (sending === undefined || sending.state === "sent") continue;
      if (first === undefined || sending.dueUnixMs < first.sending.dueUnixMs) first = { kept, sending };
    }
    return first;
  }

  async #sendOne(open: Open, kept: KeptNotice, sending: Sending): Promise<void> {
    const { channel } = open;
    const isTaking = sending.state === "taking back";
    const together = isTaking ? [] : this.#together(channel, kept);
    const request = isTaking
      ? withdrawRequest(channel, kept.notice, sending.reference)
      : tellRequest(
          channel,
          kept.notice,
          this.#textOf(kept.notice),
          together.map(({ notice }) => notice),
        );
    if (request === undefined) return this.#settle(kept, channel.name, undefined);
    open.sending = new AbortController();
    try {
      const outcome = await this.#request(open, request, open.sending);
      open.sending = undefined;
      if (this.#isClosed || this.#channels.get(channel.name) !== open) return;
      for (const each of [kept, ...together]) this.#sent(open, each, sending, outcome);
    } catch (error) {
      this.#failed(error);
    }
    this.#guarded(() => this.#pump());
  }

  /** Others that are due and are told in the same message. */
  #together(channel: Channel, { notice }: KeptNotice): readonly KeptNotice[] {
    if (!isTogether(channel, notice)) return [];
    const nowUnixMs = this.#options.nowUnixMs();
    return [...this.#notices.values()].filter((other) => {
      const sending = other.sendings[channel.name];
      const isSame = other.notice.kind === notice.kind && other.notice.id !== notice.id;
      return isSame && sending?.state === "waiting" && sending.dueUnixMs <= nowUnixMs;
    });
  }

  #sent(open: Open, kept: KeptNotice, sending: Sending, outcome: Sent | Failure): void {
    const { channel } = open;
    const { notice } = kept;
    const { nowUnixMs } = this.#options;
    if ("status" in outcome && sending.state === "waiting") {
      const sent: Sending = { ...sending, state: "sent", reference: referenceIn(channel.kind, outcome.body) };
      const now = this.#notices.get(notice.id)?.sendings ?? {};
      const isTrue = now[channel.name] !== undefined;
      const stays = notice.kind !== "done" && notice.kind !== "ended";
      // What was answered while it was on its way is taken back.
      const next = !stays ? undefined : isTrue ? sent : this.#takenBack(notice, channel.name, sent);
      if (next !== undefined) return this.#put({ notice, sendings: { ...now, [channel.name]: next } });
      return this.#settle(kept, channel.name, undefined);
    }
    // Nobody is hurt by a notification that stays: an older ntfy cannot take one back.
    if (sending.state !== "waiting" || "status" in outcome) return this.#settle(kept, channel.name, undefined);
    if (outcome.isFinal || nowUnixMs() - notice.sinceUnixMs > MAX_AGE_MS) {
      open.lost += 1;
      return this.#settle(kept, channel.name, undefined);
    }
    const waitMs = outcome.retryAfterMs ?? backOffMs(sending.tries, RETRY);
    open.notBeforeUnixMs = nowUnixMs() + Math.min(waitMs, RETRY.maxMs);
    this.#settle(kept, channel.name, { ...sending, tries: sending.tries + 1, dueUnixMs: open.notBeforeUnixMs });
  }

  /** As it is now: what an agent's hook says last comes after its state. */
  #textOf({ kind, subject }: Notice): NoticeText {
    const agent = this.#options.agents.known(subject);
    const dialog = kind === "asking" ? agent?.readiness?.dialog : undefined;
    const text = kind === "done" ? agent?.lastMessage : dialog?.text;
    return { text, options: dialog?.options.map(({ label }) => label) ?? [] };
  }

  async #request(open: Open, request: HttpRequest, sending: AbortController): Promise<Sent | Failure> {
    const { clock, nowUnixMs, send, log } = this.#options;
    const timer = clock.callAt(clock.nowMs() + SEND_TIMEOUT_MS, () => sending.abort(new Error("no response")));
    const outcome = await send(request, sending.signal).then(outcomeOf, (error: unknown) => noResponse(sending, error));
    timer.cancel();
    if (this.#isClosed) return outcome;
    const { name } = open.channel;
    if ("status" in outcome) {
      if (open.failing !== undefined) log.info("notify.recovered", { channel: name });
      open.failing = undefined;
      open.notBeforeUnixMs = 0;
      open.sentUnixMs = nowUnixMs();
    } else {
      if (open.failing === undefined) log.warn("notify.failed", { channel: name, why: outcome.why });
      open.failing = { sinceUnixMs: open.failing?.sinceUnixMs ?? nowUnixMs(), why: outcome.why };
    }
    return outcome;
  }

  #open(channel: Channel): Open {
    const open: Open = {
      channel,
      sending: undefined,
      lost: 0,
      sentUnixMs: undefined,
      failing: undefined,
      notBeforeUnixMs: 0,
    };
    this.#channels.set(channel.name, open);
    return open;
  }

  /** What an earlier daemon has left. */
  #load(): void {
    this.#kept((store) => {
      for (const kept of store.notices()) {
        this.#notices.set(kept.notice.id, kept);
        if (kept.notice.kind === "host") this.#away.add(kept.notice.subject);
      }
      for (const [agent, seen] of store.seen()) {
        this.#seen.set(agent, seen);
        this.#unmet.add(agent);
      }
    });
    for (const kept of this.#notices.values()) {
      const left = Object.entries(kept.sendings).filter(([name]) => this.#channels.has(name));
      if (left.length < Object.keys(kept.sendings).length) this.#put({ ...kept, sendings: Object.fromEntries(left) });
    }
  }

  #records(): Channel[] {
    return [...this.#channels.values()].map(({ channel }) => channel);
  }

  #channel(name: string): Open {
    const open = this.#channels.get(name);
    if (open !== undefined) return open;
    const nearest = nearestName(name, [...this.#channels.keys()]);
    const message = `there is no channel ${JSON.stringify(name)}; run \`tmuxwire notify\``;
    throw new AppError("NOT_FOUND", message, nearest === undefined ? {} : { details: { nearest } });
  }

  #freeName(kind: string): string {
    if (!this.#channels.has(kind)) return kind;
    for (let number = 2; ; number += 1) if (!this.#channels.has(`${kind}-${number}`)) return `${kind}-${number}`;
  }

  /** A disk that is full ends nothing but the record. */
  #kept(use: (store: NoticeStore) => void): void {
    try {
      if (!this.#isClosed) use((this.#store ??= new NoticeStore(this.#options.agents.database)));
    } catch (error) {
      this.#failed(error);
    }
  }

  #guarded(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#options.log.error("notify.error", { error: toAppError(error) });
  }
}

interface Failure {
  readonly why: string;
  /** Trying again is of no use. */
  readonly isFinal: boolean;
  readonly retryAfterMs: number | undefined;
}

/** 4xx that pass by themselves. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

function outcomeOf(sent: Sent): Sent | Failure {
  const { status, retryAfterMs } = sent;
  if (status >= 200 && status < 300) return sent;
  const isFinal = status < 500 && !PASSING.has(status);
  const advice = isFinal ? "; check its url and token" : "";
  return { why: `it responds with status ${status}${advice}`, isFinal, retryAfterMs };
}

function noResponse({ signal }: AbortController, error: unknown): Failure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = (cause as NodeJS.ErrnoException).code;
  const why = signal.aborted
    ? `no response within ${SEND_TIMEOUT_MS / 1_000} s`
    : `no connection (${code ?? "failed"})`;
  return { why, isFinal: false, retryAfterMs: undefined };
}

const wants = ({ on }: Channel, kind: NoticeKind): boolean => (on ?? DEFAULT_NOTICES).includes(kind);

/** A dialog that has not been read yet is the one that is read next. */
function isSameQuestion({ dialog: one }: LastSeen, { dialog: other }: LastSeen, isAfterRestart: boolean): boolean {
  if (one === undefined || other === undefined || one === other) return true;
  return isAfterRestart && digestOf(one) === digestOf(other);
}

/** Of a dialog's id: the same for the same text and options. */
const digestOf = (id: string): string => id.slice(id.indexOf("-") + 1);

const newId = (): string => `notice-${randomBytes(8).toString("hex")}`;

function shown({ channel, lost, sentUnixMs, failing }: Open, waiting: number): NativeChannel {
  const { name, kind, url, text = false, quiet } = channel;
  return {
    name,
    kind,
    url: withoutSecrets(url),
    on: NOTICE_KINDS.filter((notice) => wants(channel, notice)),
    text,
    quiet: quiet ?? null,
    waiting,
    lost,
    sentUnixMs: sentUnixMs ?? null,
    failingSinceUnixMs: failing?.sinceUnixMs ?? null,
    why: failing?.why ?? null,
  };
}
