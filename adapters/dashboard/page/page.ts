/**
 * The page's controller: holds the state, keeps the connection, and carries out what a person asks for. It knows nothing of
 * the document, so it can be tested without one.
 */
import type { Timed, Timer } from "../../../daemon/time/clock.ts";
import type { SseEvent } from "../../../protocol/text/sse.ts";
import { AgentActions } from "./agentActions.ts";
import { foldHostEvent, isHostEvent, withFar } from "./model/otherHosts.ts";
import { foldEvent, agentsFrom, goneSinceOf, waitingSinceOf } from "./model/agents.ts";
import { Refused } from "../../pages/askServer.ts";
import type { DashboardAgents } from "../../../protocol/api/dashboard.ts";
import type { HostEvent } from "../../../protocol/api/dashboardHosts.ts";
import type { Answer } from "./model/answers.ts";
import type { AnswerProgress, PageState } from "./model/pageState.ts";
import { beganAsking, firstState, withAgents, withEntry } from "./model/pageState.ts";
import type { AgentCard } from "./model/agentCard.ts";
import { needOf } from "./model/order.ts";
import type { Api } from "./net/api.ts";
import { sendAnswer } from "./net/sendAnswer.ts";
import type { LinkState } from "./model/pageState.ts";
import { SseLink } from "./net/sseLink.ts";
import { deliveredText, failureText, isUnconfirmed } from "./words/deliveryWords.ts";
import { nameOf, unseenWords } from "./words/stateWords.ts";

interface PageOptions extends Timed {
  readonly api: Api;
  readonly random: () => number;
  /** A unique key. */
  readonly newKey: () => string;
  readonly onChange: (state: PageState) => void;
  /** Once per new question. */
  readonly onAsking: (card: AgentCard) => void;
}

/** Ages count in seconds. */
const TICK_MS = 1_000;
/** Smaller differences between the clocks are ignored: the server's date has no fractions. */
const CLOCK_TOLERANCE_MS = 2_500;
/** Events kept to be folded again onto the listing; past it the listing is requested again. */
const MAX_HELD_EVENTS = 500;
const RELOAD_PAUSE_MS = 2_000;
/** From the last key in the filter to the search over screens: a person types a key every 100 to 250 ms. */
export const SEARCH_PAUSE_MS = 350;
/** One letter is on every screen. */
const MIN_SEARCH_CHARS = 2;
const MAX_SEARCH_CHARS = 256;

export class Page {
  /** What is done with agents besides answering them. */
  readonly actions: AgentActions;
  readonly #options: PageOptions;
  #state: PageState;
  #link: SseLink | undefined;
  #tick: Timer | undefined;
  #serverAheadMs = 0;
  #loading: AbortController | undefined;
  #search: { readonly timer: Timer; readonly abort: AbortController } | undefined;
  /** While a listing is under way: events since it was requested. */
  #held: SseEvent[] = [];

  constructor(options: PageOptions) {
    this.#options = options;
    this.#state = firstState(options.nowUnixMs());
    const { api, clock, newKey } = options;
    this.actions = new AgentActions({
      api,
      clock,
      newKey,
      state: () => this.#state,
      update: (change) => this.update(change),
      progress: (agentId, progress) => this.#progress(agentId, progress),
    });
  }

  get state(): PageState {
    return this.#state;
  }

  start(): void {
    this.#connect();
    this.#nextTick();
  }

  close(): void {
    this.#tick?.cancel();
    this.#link?.close();
    this.#loading?.abort();
    this.#endSearch();
  }

  /** By what is known at once, and a moment later by what is on the screens: one request when a person has stopped typing. */
  filter(filter: string): void {
    const { clock } = this.#options;
    this.#endSearch();
    this.update({ listing: { ...this.#state.listing, filter, screens: undefined, unseen: undefined } });
    const text = filter.trim();
    if (text.length < MIN_SEARCH_CHARS || text.length > MAX_SEARCH_CHARS) return;
    const abort = new AbortController();
    const timer = clock.callAt(clock.nowMs() + SEARCH_PAUSE_MS, () => void this.#findOnScreens(text, abort.signal));
    this.#search = { timer, abort };
  }

  update(change: Partial<PageState>): void {
    this.#set({ ...this.#state, ...change });
  }

  /** On request, when the network is back, or when the tab is visible again. */
  retryNow(): void {
    const { link, problem } = this.#state;
    if (link.kind === "refused") this.#connect();
    else if (link.kind === "live" && problem !== undefined) void this.#load();
    else this.#link?.retryNow();
  }

  /** Resolves with what is wrong; undefined when the dashboard has accepted it and loading has begun. */
  async giveToken(token: string): Promise<string | undefined> {
    try {
      await this.#options.api.giveToken(token);
    } catch (error) {
      return error instanceof Error ? error.message : "the token could not be sent";
    }
    this.retryNow();
    return undefined;
  }

  draft(agentId: number, text: string): void {
    this.update({ drafts: withEntry(this.#state.drafts, agentId, text === "" ? undefined : text) });
  }

  /** One at a time per agent; a press on a question that has just replaced another is ignored. */
  async answer(agentId: number, answer: Answer): Promise<void> {
    const card = this.#state.agents.get(agentId);
    if (card === undefined || this.#state.answers.get(agentId)?.kind === "sending") return;
    if (needOf(card) === "asking" && this.#nowUnixMs() < (this.#state.settling.get(agentId) ?? 0)) {
      this.#progress(agentId, {
        kind: "failed",
        words: "nothing was sent: the question had just changed, read it again",
      });
      return;
    }
    const draft = this.#state.drafts.get(agentId);
    const { api, clock, newKey } = this.#options;
    this.#progress(agentId, { kind: "sending", tries: 1 });
    const result = await sendAnswer({
      api,
      card,
      answer,
      idempotencyKey: newKey(),
      clock,
      onRetry: (tries: number) => this.#progress(agentId, { kind: "sending", tries }),
    });
    if (!this.#state.agents.has(agentId)) return;
    if (result.kind === "failed") {
      this.#progress(agentId, { kind: "failed", words: failureText(result) });
      return;
    }
    const typed = answer.kind === "text" || answer.kind === "other";
    if (typed && this.#state.drafts.get(agentId) === draft) this.draft(agentId, "");
    const delivery = answer.kind === "keys" && result.delivery === "submitted" ? "key sent" : result.delivery;
    const words = deliveredText(delivery, result.latencyMs, result.screenNote);
    this.#progress(agentId, { kind: "delivered", words, isSure: !isUnconfirmed(delivery) });
  }

  #endSearch(): void {
    this.#search?.timer.cancel();
    this.#search?.abort.abort();
    this.#search = undefined;
  }

  /** What cannot be looked for leaves the list as it is: the filter works without it. */
  async #findOnScreens(text: string, signal: AbortSignal): Promise<void> {
    const found = await this.#options.api.screens(text, signal).catch(() => undefined);
    if (found === undefined || signal.aborted) return;
    const elsewhere = new Map(found.elsewhere.map(({ agent, row }) => [agent, row]));
    const screens = new Map(found.found.map(({ agent_id: agentId, row }) => [agentId, row]));
    for (const [agentId, { far, running }] of this.#state.agents) {
      const row = far === undefined ? undefined : elsewhere.get(running?.id ?? "");
      if (row !== undefined) screens.set(agentId, row);
    }
    this.update({ listing: { ...this.#state.listing, screens, unseen: unseenWords(found) } });
  }

  #progress(agentId: number, progress: AnswerProgress): void {
    const card = this.#state.agents.get(agentId);
    const words = progress.kind === "sending" || card === undefined ? undefined : `${nameOf(card)}: ${progress.words}`;
    this.update({
      answers: withEntry(this.#state.answers, agentId, progress),
      ...(words === undefined ? {} : { announcement: words }),
    });
  }

  #connect(): void {
    const { api, clock, nowUnixMs, random } = this.#options;
    this.#link?.close();
    const link: SseLink = new SseLink({
      open: (lastEventId, signal) => api.events(lastEventId, signal),
      clock,
      nowUnixMs,
      random,
      onState: (state) => {
        if (state.kind !== "closed") this.#linked(state);
      },
      onEvent: (event) => this.#received(event),
    });
    this.#link = link;
  }

  #linked(link: LinkState): void {
    this.update({ link, tokenWanted: link.kind === "refused" && link.status === 401 });
    // The listing has what happened while the stream was down.
    if (link.kind === "live") void this.#load();
  }

  #received(event: SseEvent): void {
    if (event.event === "gap") {
      void this.#load();
      return;
    }
    if (this.#loading !== undefined) {
      this.#held.push(event);
      if (this.#held.length > MAX_HELD_EVENTS) void this.#load();
    }
    this.#fold([event], this.#state);
  }

  /** A newer call replaces the one under way. */
  async #load(): Promise<void> {
    this.#loading?.abort();
    const abort = new AbortController();
    this.#loading = abort;
    this.#held = [];
    try {
      const { body, serverUnixMs } = await this.#options.api.agents(abort.signal);
      if (this.#loading !== abort) return;
      this.#loading = undefined;
      if (serverUnixMs !== undefined) this.#learnTime(serverUnixMs);
      const now = { ...this.#state, nowUnixMs: this.#nowUnixMs() };
      const listed = withAgents(now, withFar(agentsFrom(body as DashboardAgents), now.agents));
      const { server, gone_since_unix_ms: goneSinceUnixMs } = body as DashboardAgents;
      const waitingSinceUnixMs = waitingSinceOf(body as DashboardAgents);
      const seen = {
        ...listed,
        server,
        waitingSinceUnixMs,
        goneSinceUnixMs,
        loaded: true,
        problem: undefined,
        tokenWanted: false,
      };
      this.#fold(this.#held, seen);
    } catch (error) {
      if (this.#loading !== abort) return;
      this.#loading = undefined;
      const message = error instanceof Error ? error.message : "the agents cannot be listed";
      const tokenWanted = error instanceof Refused && error.status === 401;
      this.update({ problem: message, tokenWanted });
      this.#reloadLater();
    }
  }

  #reloadLater(): void {
    const { clock } = this.#options;
    clock.callAt(clock.nowMs() + RELOAD_PAUSE_MS, () => {
      if (this.#state.link.kind === "live" && this.#state.problem !== undefined && this.#loading === undefined) {
        void this.#load();
      }
    });
  }

  #fold(events: readonly SseEvent[], from: PageState): void {
    let { agents, hosts, waitingSinceUnixMs, goneSinceUnixMs } = from;
    let unknown = false;
    for (const { event, data } of events) {
      const fields = JSON.parse(data) as object;
      if (isHostEvent(event)) {
        ({ agents, hosts } = foldHostEvent({ agents, hosts }, fields as HostEvent));
        continue;
      }
      if (event === "server_waiting") waitingSinceUnixMs = waitingSinceOf(fields);
      if (event === "server_gone") goneSinceUnixMs = goneSinceOf(fields);
      const folded = foldEvent(agents, event, fields);
      agents = folded.agents;
      unknown ||= folded.unknown;
    }
    const { host } = from.listing;
    const isGone = host !== undefined && host !== "" && !hosts.has(host);
    const isSame =
      from === this.#state &&
      agents === from.agents &&
      hosts === from.hosts &&
      waitingSinceUnixMs === from.waitingSinceUnixMs &&
      goneSinceUnixMs === from.goneSinceUnixMs &&
      !isGone;
    // Of the events about a question, only the first has anything that is not on the page yet.
    if (!isSame) {
      const nowUnixMs = this.#nowUnixMs();
      const listing = isGone ? { ...from.listing, host: undefined } : from.listing;
      this.#set(withAgents({ ...from, listing, hosts, waitingSinceUnixMs, goneSinceUnixMs, nowUnixMs }, agents));
    }
    if (unknown && this.#loading === undefined) void this.#load();
  }

  #set(next: PageState): void {
    const before = this.#state;
    const began = before.agents === next.agents ? [] : beganAsking(before.agents, next.agents);
    this.#state = began.length === 0 ? next : { ...next, announcement: askingWords(began) };
    this.#options.onChange(this.#state);
    for (const card of began) this.#options.onAsking(card);
  }

  #nowUnixMs(): number {
    return this.#options.nowUnixMs() + this.#serverAheadMs;
  }

  #learnTime(serverUnixMs: number): void {
    const aheadMs = serverUnixMs - this.#options.nowUnixMs();
    this.#serverAheadMs = Math.abs(aheadMs) < CLOCK_TOLERANCE_MS ? 0 : aheadMs;
  }

  #nextTick(): void {
    const { clock } = this.#options;
    this.#tick = clock.callAt(clock.nowMs() + TICK_MS, () => {
      this.update({ nowUnixMs: this.#nowUnixMs() });
      this.#link?.woke();
      this.#nextTick();
    });
  }
}

function askingWords(began: readonly AgentCard[]): string {
  const [first, ...more] = began;
  if (first === undefined || more.length > 0) return `${began.length} agents need an answer`;
  const question = first.question?.text ?? "";
  return `${nameOf(first)} needs an answer${question === "" ? "" : `: ${question}`}`;
}
