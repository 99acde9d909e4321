/**
 * Between agents and their panes: which agents are reachable, reported the moment it changes, and what the screen says of
 * them. A pane id means something on one tmux server only: after that server has gone, an agent is unreachable until a
 * hook names its pane again. Nothing polls; availability is measured again when something has happened.
 */
import type { AddresseeRequest } from "../../../daemon/delivery/pane/addressee.ts";
import type { HookEvidence, PaneReadiness, ReadinessWatcher } from "../../../daemon/readiness/readiness.ts";
import { SingleFlight } from "../../../daemon/time/singleFlight.ts";
import type { Timed, Timer } from "../../../daemon/time/clock.ts";
import type { ServerEvent } from "../../../daemon/tmux/inventory.ts";
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { AgentDirectory, AgentReport } from "../../agents/running/agentDirectory.ts";
import type { Agent } from "../agents/agent.ts";
import { PANE_RETRY_MS, UNSEEN_MS } from "../dashboardLimits.ts";
import { isFound } from "../store/records.ts";
import { AgentPlaces, type AgentPlacesOptions, type ReportedPane } from "./agentPlaces.ts";
import { type AvailabilityOptions, measureAvailability } from "./availability.ts";
import { ContextGauge } from "./contextGauge.ts";
import { ServerPresence } from "./serverPresence.ts";
import { ScreenStates } from "./screenStates.ts";

export interface PaneLinksOptions extends Omit<AgentPlacesOptions, "programs" | "onGone" | "onIdentified">, Timed {
  /** Told what hooks say; looks once a second. */
  readonly running: Pick<AgentDirectory, "reported" | "onCheck">;
  /** Resolves when panes can be matched to agents. Never rejects. */
  readonly listed: Promise<void>;
  readonly readiness: ReadinessWatcher;
  readonly availability: Omit<AvailabilityOptions, "server">;
}

export class PaneLinks {
  readonly presence: ServerPresence;
  readonly places: AgentPlaces;
  readonly screens: ScreenStates;
  readonly #options: PaneLinksOptions;
  readonly #links = new Map<number, PaneLink>();
  /** Notes that tmux does not have yet. */
  readonly #notes = new Set<Promise<void>>();
  readonly #context: ContextGauge;
  readonly #isAvailable: ReturnType<typeof measureAvailability>;
  readonly #unsubscribe: readonly (() => void)[];
  #closed = false;

  constructor(options: PaneLinksOptions) {
    this.#options = options;
    this.#isAvailable = measureAvailability({ ...options.availability, server: options.server });
    this.places = new AgentPlaces({
      ...options,
      programs: options.availability.programs,
      onGone: (agent) => this.#processGone(agent),
      onIdentified: (agent) => this.evaluate(agent),
    });
    this.#context = new ContextGauge(options);
    this.presence = new ServerPresence({ ...options, onChange: (sinceUnixMs) => this.#presenceChanged(sinceUnixMs) });
    this.screens = new ScreenStates({
      ...options,
      watchOf: (agent) => this.watchOf(agent),
      onAsked: (agent) => this.places.asked(agent),
    });
    this.#unsubscribe = [
      options.server.subscribe((event) => this.#serverEvent(event)),
      options.running.onCheck(() => this.#endUnseen()),
    ];
    if (options.server.status().state === "ready") this.#serverReady();
  }

  /** A hook of the agent has come. The pane it names counts once it is known not to be another server's. */
  reported(agent: Agent, reported: ReportedPane): void {
    const { pane, tmuxSession } = reported;
    const reportedSec = this.places.uptimeSec();
    if (pane === undefined) {
      const there = this.places.livePane(agent);
      if (there === undefined) return;
      this.moved(agent, there, agent.record.tmuxSession);
      this.#isIn(agent, there, reportedSec);
      return;
    }
    this.presence.whenListed(agent, () => {
      const isActive = this.#options.book.active(agent.record.id) === agent;
      if (!isActive || this.places.placeOf(reported) === "elsewhere" || this.places.isBehindAnother(agent, pane))
        return;
      this.moved(agent, pane, tmuxSession);
      this.#isIn(agent, pane, reportedSec);
    });
  }

  /** Tells what the program in its pane has said of itself, unless that is on another server, where its pane is another. */
  tellRunning(agent: Agent, reported: ReportedPane, report: AgentReport): void {
    const { running, server } = this.#options;
    const pane = this.places.paneHere(agent);
    const isElsewhere = reported.pane !== undefined && this.places.placeOf(reported) === "elsewhere";
    if (pane !== undefined && !isElsewhere) running.reported(server, pane, report);
  }

  #isIn(agent: Agent, pane: PaneId, reportedSec: number): void {
    this.refollow(agent);
    const link = this.#links.get(agent.record.id);
    if (link !== undefined) link.reportedSec = reportedSec;
    this.places.identify(agent, pane, reportedSec);
    this.#context.reported(agent, pane);
  }

  /** It is in this pane, perhaps since now, or again after its end. */
  moved(agent: Agent, pane: PaneId, tmuxSession: string | undefined): void {
    const isNew = this.places.move(agent, pane, tmuxSession, (other) => this.#leave(other));
    if (isNew || !this.#links.has(agent.record.id)) this.#attach(agent);
  }

  /** It may have its first hook, or have been registered: its screen is followed otherwise then. */
  refollow(agent: Agent): void {
    const link = this.#links.get(agent.record.id);
    if (link?.watch !== undefined && link.isUnfollowed !== isUnfollowed(agent)) this.#watch(link);
  }

  /** Who an answer to the agent is for. */
  addresseeOf(agent: Agent): AddresseeRequest {
    return { isAgent: true, programs: this.#options.availability.programs, process: agent.record.process };
  }

  watchOf(agent: Agent): PaneReadiness | undefined {
    return this.#links.get(agent.record.id)?.watch;
  }

  /** A hook says what the agent does. Returns whether that changes its pane's readiness. */
  report(agent: Agent, state: HookEvidence["state"]): boolean {
    return this.screens.duringHook(agent, () => this.watchOf(agent)?.report({ state }));
  }

  /** A dialog may have been on the screen before its hook came: captured once the hook has its response. */
  showDialog(agent: Agent): void {
    const { clock } = this.#options;
    clock.callAt(clock.nowMs(), () => void this.screens.captureDialog(agent));
  }

  evaluate(agent: Agent): void {
    this.#links.get(agent.record.id)?.measure();
  }

  /** Call it before reporting its end, which itself says that the agent can no longer be answered. */
  ended(agent: Agent): void {
    const pane = this.places.livePane(agent);
    if (pane !== undefined) this.#note(pane, undefined);
    this.#detach(agent);
    agent.isAvailable = false;
  }

  close(): void {
    this.#closed = true;
    this.presence.close();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.places.close();
    for (const { agent } of this.#links.values()) this.#detach(agent);
    this.screens.close();
  }

  /** Resolves once tmux has every note: closing the connection earlier would lose them. */
  async settled(): Promise<void> {
    while (this.#notes.size > 0) await Promise.all(this.#notes);
  }

  /**
   * Which agent is in a pane, on the pane itself (`@tmuxwire_agent`) for whoever looks at tmux: it outlives the daemon. Anyone
   * with the tmux socket can write such a note, so none is read here. No request waits for it.
   * @param agent undefined: the pane has none any more
   */
  #note(pane: PaneId, agent: Agent | undefined): void {
    const { server, log } = this.#options;
    const value = agent === undefined ? undefined : `${agent.record.id}:${agent.record.sessionUuid}`;
    const done: Promise<void> = server
      .setPaneUserOption(pane, "agent", value)
      .catch((error: unknown) => {
        log.debug("dashboard.pane.unmarked", { pane, code: toAppError(error).code });
      })
      .finally(() => this.#notes.delete(done));
    this.#notes.add(done);
  }

  #leave(agent: Agent): void {
    // What has ended without a word is over once another is in its place.
    if (isFound(agent.record) || this.places.hasEnded(agent)) return this.#end(agent, "process_ended");
    this.#detach(agent);
    this.#options.book.update(agent, { tmuxPaneId: undefined, paneServer: undefined });
    if (!this.#setAvailable(agent, false)) this.#options.desk.refreshCard(agent, "pane_taken");
  }

  #attach(agent: Agent): void {
    this.#detach(agent);
    const pane = this.places.paneHere(agent);
    if (this.#closed || pane === undefined) return;
    const link = new PaneLink(agent, pane, (one) => this.#measure(one));
    this.#links.set(agent.record.id, link);
    this.#open(link);
  }

  #open(link: PaneLink): void {
    const { server, book, clock, log } = this.#options;
    const { agent, pane } = link;
    link.retry = undefined;
    if (server.findPane(pane) === undefined) {
      const waitMs = PANE_RETRY_MS[link.retries++];
      if (waitMs !== undefined) link.retry = clock.callAt(clock.nowMs() + waitMs, () => this.#open(link));
      return;
    }
    if (agent.record.paneServer === undefined) book.update(agent, { paneServer: server.status().identity });
    if (link.reportedSec !== undefined) this.places.identify(agent, pane, link.reportedSec);
    try {
      this.#watch(link);
    } catch (error) {
      log.warn("dashboard.pane.unwatched", { agent: agent.record.id, pane, error });
    }
    this.#note(pane, agent);
    link.measure();
  }

  /** @throws AppError NOT_FOUND, CONNECTION_LOST */
  #watch(link: PaneLink): void {
    const { server, readiness } = this.#options;
    const { agent, pane } = link;
    const [former, unsubscribe] = [link.watch, link.unsubscribe];
    link.isUnfollowed = isUnfollowed(agent);
    link.watch = readiness.watch(server, pane, { unfollowed: link.isUnfollowed });
    link.unsubscribe = link.watch.subscribe((state) => {
      // Before the screen of whoever is there now.
      if (this.places.endIfGone(agent) && this.#endFound(agent)) return;
      this.screens.changed(agent, state);
      link.measure();
    });
    unsubscribe?.();
    former?.[Symbol.dispose]();
    if (former === undefined) this.screens.changed(agent, link.watch.current);
  }

  #detach(agent: Agent): void {
    const link = this.#links.get(agent.record.id);
    if (link === undefined) return;
    this.#links.delete(agent.record.id);
    link.close();
    this.screens.forget(agent);
    agent.readiness = undefined;
  }

  async #measure(link: PaneLink): Promise<void> {
    const { agent, pane } = link;
    const { log, server } = this.#options;
    // Nothing is known of panes while the connection is made anew; they are measured when it is there.
    if (server.status().state === "connecting") return;
    try {
      const isAvailable = this.places.livePane(agent) === pane && (await this.#isAvailable(pane));
      // It may have gone meanwhile.
      if (this.#links.get(agent.record.id) !== link || server.status().state === "connecting") return;
      if (this.places.endIfGone(agent) && this.#endFound(agent)) return;
      this.#setAvailable(agent, isAvailable && this.places.livePane(agent) === pane);
    } catch (error) {
      log.debug("dashboard.pane.unmeasured", { agent: agent.record.id, pane, error });
    }
  }

  /** Nothing else has told of it. Readiness asks for the process as well, and captures what is there instead. */
  #processGone(agent: Agent): void {
    if (this.#endFound(agent)) return;
    const link = this.#links.get(agent.record.id);
    if (link === undefined) return;
    this.#options.readiness.known(this.#options.server, link.pane);
    link.measure();
  }

  /** One that is known by its process alone is over with it. */
  #endFound(agent: Agent): boolean {
    if (!isFound(agent.record)) return false;
    this.#end(agent, "process_ended");
    return true;
  }

  #end(agent: Agent, eventType: string): void {
    this.ended(agent);
    this.#options.desk.ended(agent, eventType);
  }

  /** Some do not tell of their end: they were killed, or have no hook for it. The next hook of one brings it back. */
  #endUnseen(): void {
    const { server, book, nowUnixMs } = this.#options;
    if (!this.presence.isListed || server.status().state !== "ready") return;
    const sinceUnixMs = nowUnixMs() - UNSEEN_MS;
    for (const agent of book.all()) {
      if (agent.record.lastSeenUnixMs >= sinceUnixMs || this.places.livePane(agent) !== undefined) continue;
      this.#end(agent, "session_end");
    }
  }

  /** Whether that was a change. */
  #setAvailable(agent: Agent, isAvailable: boolean): boolean {
    if (agent.isAvailable === isAvailable) return false;
    agent.isAvailable = isAvailable;
    this.#options.desk.availabilityChanged(agent);
    this.#options.desk.refreshCard(agent, "availability");
    return true;
  }

  #serverEvent(event: ServerEvent): void {
    if (event.kind === "pane-exited" || event.kind === "pane-closed") {
      for (const link of this.#links.values()) if (link.pane === event.pane) this.#setAvailable(link.agent, false);
    }
    if (event.kind === "waiting") this.#options.desk.serverWaiting(event.waiting);
    if (event.kind === "state" && event.state === "ready") this.#serverReady();
  }

  #presenceChanged(goneSinceUnixMs: number | undefined): void {
    this.#options.desk.serverGone(goneSinceUnixMs);
    if (goneSinceUnixMs === undefined) return;
    for (const { agent } of this.#links.values()) this.#setAvailable(agent, false);
  }

  /** Runs after every reconnect, too: links to this server are kept, links to another are dropped. */
  #serverReady(): void {
    const { book } = this.#options;
    for (const agent of book.all()) {
      const link = this.#links.get(agent.record.id);
      if (link !== undefined && this.places.paneHere(agent) === undefined) {
        this.#detach(agent);
        this.#setAvailable(agent, false);
      } else if (link?.watch === undefined) this.#attach(agent);
      else link.measure();
    }
  }
}

/** Its hooks say what it does; and nobody has asked for one that was found: no client attaches to its session for it. */
const isUnfollowed = ({ hasHooks, record }: Agent): boolean => hasHooks || isFound(record);

/** One agent's tie to a pane: what is watched there, and its availability, which is measured once at a time. */
class PaneLink {
  readonly agent: Agent;
  readonly pane: PaneId;
  watch: PaneReadiness | undefined;
  isUnfollowed = false;
  /** When its agent last said that it is there, in seconds since boot. */
  reportedSec: number | undefined;
  unsubscribe: (() => void) | undefined;
  retries = 0;
  retry: Timer | undefined;
  readonly #measuring: SingleFlight;

  /** @param measure never rejects */
  constructor(agent: Agent, pane: PaneId, measure: (link: PaneLink) => Promise<void>) {
    this.agent = agent;
    this.pane = pane;
    this.#measuring = new SingleFlight(() => measure(this));
  }

  /** Measures, and once more when called meanwhile. */
  measure(): void {
    this.#measuring.soon();
  }

  close(): void {
    this.retry?.cancel();
    this.unsubscribe?.();
    this.watch?.[Symbol.dispose]();
  }
}
