/** The readiness engine: one observation per pane, shared by all who watch it, gone with the last of them. */
import { AppError, shuttingDown } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";
import { SharedPace } from "../time/sharedPace.ts";
import { ObservedPane, type ObservedPaneOptions } from "./observedPane.ts";
import type { Former } from "./paneClassifier.ts";
import type { Profiles } from "./profiles.ts";
import type { PaneReadiness, Readiness, ReadinessOptions, ReadinessWatcher } from "./readiness.ts";

/** Somebody who sends text to an agent may not know yet that it has ended. */
const AGENT_LEFT_MS = 5_000;

/** So many milliseconds for each pane that changes: up to sixty are captured as often as one, hundreds less often. */
const CAPTURE_MS = 1;

/** More than all surfaces together need for one pane; a leak shows before it hurts. */
const MAX_LISTENERS_PER_PANE = 4_096;

type ReadinessEngineOptions = Omit<ObservedPaneOptions, "server" | "pane" | "pace" | "unfollowed">;

interface Observed {
  readonly pane: ObservedPane;
  holders: number;
  /** Those of them for whom its output is followed. */
  followers: number;
}

export class ReadinessEngine implements ReadinessWatcher {
  readonly #options: ReadinessEngineOptions;
  readonly #servers = new Map<TmuxServer, Map<PaneId, Observed>>();
  /** Of panes that are there and that nobody observes any more; another tmux in its place has others under their ids. */
  readonly #former = new WeakMap<
    TmuxServer,
    { readonly identity: string | undefined; readonly panes: Map<PaneId, Former> }
  >();
  readonly #pace: SharedPace;
  #isClosed = false;

  constructor(options: ReadinessEngineOptions) {
    this.#options = options;
    this.#pace = new SharedPace(options.clock, CAPTURE_MS);
  }

  get profiles(): Profiles {
    return this.#options.profiles;
  }

  /** Panes under observation. */
  get watchedCount(): number {
    let count = 0;
    for (const panes of this.#servers.values()) count += panes.size;
    return count;
  }

  watch(server: TmuxServer, pane: PaneId, options: ReadinessOptions = {}): PaneReadiness {
    if (this.#isClosed) throw shuttingDown();
    const profile = options.profile === undefined ? undefined : this.profiles.named(options.profile);
    // Elsewhere it costs nothing to follow.
    const unfollowed = options.unfollowed === true && server.status().kind === "guest";
    const panes = this.#servers.get(server) ?? new Map<PaneId, Observed>();
    let observed = panes.get(pane);
    if (observed === undefined || observed.pane.isGone) {
      if (server.findPane(pane) === undefined)
        throw new AppError("NOT_FOUND", `there is no pane ${pane}; list the panes`);
      const former = this.#formerOf(server)?.get(pane);
      const made = new ObservedPane({ ...this.#options, pace: this.#pace, server, pane, unfollowed }, former);
      observed = { pane: made, holders: 0, followers: 0 };
      panes.set(pane, observed);
      this.#servers.set(server, panes);
    }
    if (!unfollowed) observed.pane.follow();
    observed.holders += 1;
    observed.followers += unfollowed ? 0 : 1;
    const withdraw = profile === undefined ? undefined : observed.pane.give(profile);
    return handleOf(observed, () => {
      observed.followers -= unfollowed ? 0 : 1;
      if (observed.holders > 0) {
        withdraw?.();
        if (observed.followers === 0) observed.pane.unfollow();
        return;
      }
      if (!observed.pane.isGone) this.#remember(server, pane, observed.pane.former);
      observed.pane.close();
      if (panes.get(pane) === observed) panes.delete(pane);
      if (panes.size === 0 && this.#servers.get(server) === panes) this.#servers.delete(server);
    });
  }

  known(server: TmuxServer, pane: PaneId, isFollowed = false): Readiness | undefined {
    const observed = this.#servers.get(server)?.get(pane);
    return isFollowed && observed?.followers === 0 ? undefined : observed?.pane.checkedNow();
  }

  hadAgent(server: TmuxServer, pane: PaneId): boolean {
    const observed = this.#servers.get(server)?.get(pane)?.pane.agentSeenMs ?? -Infinity;
    const before = this.#formerOf(server)?.get(pane)?.agentSeenMs ?? -Infinity;
    return Math.max(observed, before) > this.#options.clock.nowMs() - AGENT_LEFT_MS;
  }

  #formerOf(server: TmuxServer): Map<PaneId, Former> | undefined {
    const { identity, panes } = this.#former.get(server) ?? {};
    return identity === server.status().identity ? panes : undefined;
  }

  #remember(server: TmuxServer, pane: PaneId, former: Former): void {
    const panes = this.#formerOf(server) ?? new Map<PaneId, Former>();
    for (const other of panes.keys()) if (server.findPane(other) === undefined) panes.delete(other);
    panes.set(pane, former);
    this.#former.set(server, { identity: server.status().identity, panes });
  }

  /** Ends every observation; what was handed out keeps its last state. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    for (const panes of this.#servers.values()) for (const { pane } of panes.values()) pane.close();
    this.#servers.clear();
  }
}

/** One observer's view; its subscriptions end with it. */
function handleOf(observed: Observed, released: () => void): PaneReadiness {
  const { pane } = observed;
  const subscriptions = new Set<() => void>();
  let isHeld = true;
  return {
    get current() {
      return pane.current;
    },
    subscribe(listener) {
      if (!isHeld) return () => undefined;
      if (pane.listenerCount >= MAX_LISTENERS_PER_PANE) {
        throw new AppError(
          "RESOURCE_LIMIT",
          `a pane has at most ${MAX_LISTENERS_PER_PANE} readiness listeners; end some`,
        );
      }
      const unsubscribe = pane.subscribe((readiness) => listener(readiness));
      subscriptions.add(unsubscribe);
      return () => {
        subscriptions.delete(unsubscribe);
        unsubscribe();
      };
    },
    report: (evidence) => pane.report(evidence),
    probe: () => pane.probe(),
    [Symbol.dispose]() {
      if (!isHeld) return;
      isHeld = false;
      for (const unsubscribe of subscriptions) unsubscribe();
      observed.holders -= 1;
      released();
    },
  };
}
