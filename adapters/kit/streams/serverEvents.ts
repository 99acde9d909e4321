/**
 * The events of one tmux server, in one order for all readers: changes of the tree, of the connection's state, of
 * readiness and of agents. A reader that needs events no longer kept, or whose cursor is unknown, gets the whole tree instead (`reset`).
 * Events are kept from the first reader until `GRACE_MS` after the last one, so that readers can reconnect.
 */
import { randomBytes } from "node:crypto";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import type { PaneReadiness, ReadinessWatcher } from "../../../daemon/readiness/readiness.ts";
import type { ServerState } from "../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { TreeEvent } from "../../../daemon/tmux/layout.ts";
import type { NativeReadiness } from "../../../protocol/api/native/nativeResponses.ts";
import type { NativeServerEvent, NativeTreeResponse, RESET_REASONS } from "../../../protocol/api/native/nativeTree.ts";
import { isPaneId, type PaneId } from "../../../protocol/ids.ts";
import { EventLog, type EventReader } from "./eventLog.ts";
import type { AgentDirectory } from "../../agents/running/agentDirectory.ts";
import type { RunningAgent } from "../../agents/running/runningAgent.ts";
import { nativeAgent, nativeAgents } from "../../operations/agents/agentOutputs.ts";
import { nativeReadiness, nativeState } from "../../operations/outputs.ts";

/** Kept for readers that reconnect or are slow: minutes of a busy person's work. */
const MAX_EVENTS = 4_096;
const MAX_EVENT_CHARS = 4_194_304;
/** A reader that lost its connection reconnects sooner, or needs the whole tree anyway. */
const GRACE_MS = 60_000;

/** What a reader may ask for besides the tree and the state. */
export interface EventWishes {
  readonly readiness?: boolean | undefined;
  readonly agents?: boolean | undefined;
}
type Wish = keyof EventWishes;

/** Which wish an event is for; undefined: it is for all. */
const wishOf = (type: NativeServerEvent["type"]): Wish | undefined =>
  type === "readiness" ? "readiness" : type.startsWith("agent-") ? "agents" : undefined;

type ResetReason = (typeof RESET_REASONS)[number];

interface Kept {
  readonly event: NativeServerEvent["type"];
  readonly data: string;
}

interface ServerEventSink {
  /** Bytes that may be written now. */
  room(): number;
  /** @param data JSON without a newline */
  send(event: NativeServerEvent["type"], data: string, id: string): void;
}

export interface ServerEventsOptions {
  readonly server: TmuxServer;
  readonly readiness: ReadinessWatcher | undefined;
  readonly agents: AgentDirectory | undefined;
  /** Whose readiness is watched, which follows the pane; absent: all. */
  readonly isWatched?: ((pane: PaneId) => boolean) | undefined;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  readonly maxEvents?: number | undefined;
  readonly maxChars?: number | undefined;
}

export class ServerEvents {
  readonly #options: ServerEventsOptions;
  /** Distinguishes our ids from those of another daemon or of an earlier start. */
  #name = newName();
  #log: EventLog<Kept>;
  readonly #watched = new Map<string, PaneReadiness>();
  #state: ServerState | undefined;
  #stop: (() => void) | undefined;
  #grace: Timer | undefined;
  /** The number of readers that want it, and the event since which it has been reported without interruption. */
  readonly #wanted = {
    readiness: { readers: 0, since: Number.POSITIVE_INFINITY },
    agents: { readers: 0, since: Number.POSITIVE_INFINITY },
  };
  #unsubscribeAgents: (() => void) | undefined;

  constructor(options: ServerEventsOptions) {
    this.#options = options;
    this.#log = newLog(options, 0);
  }

  /** The tree, with the id of the newest event. */
  tree(): NativeTreeResponse {
    this.#begin();
    this.#endSoon();
    const { server } = this.#options;
    return { id: this.#idOf(this.#log.lastId), ...nativeState(server), ...server.layout.tree() };
  }

  /** @param after the id of the last event that the reader has received */
  open(sink: ServerEventSink, after: string | undefined, wishes: EventWishes = {}): EventReader {
    this.#begin();
    this.#grace?.cancel();
    this.#grace = undefined;
    const wanted = (["readiness", "agents"] as const).filter((wish) => wishes[wish] === true);
    // Before `#want`, because what is wanted was not reported at earlier events.
    const known = after === undefined ? undefined : this.#seqOf(after, wanted);
    const reason: ResetReason = after === undefined ? "start" : "unknown";
    const reader = this.#log.read(known, {
      room: () => sink.room(),
      event: ({ event, data }, seq) => {
        const wish = wishOf(event);
        if (wish === undefined || wanted.includes(wish)) sink.send(event, data, this.#idOf(seq));
      },
      missed: (at) => {
        const { lastId } = this.#log;
        sink.send("reset", this.#resetData(at === undefined ? reason : "behind", wanted), this.#idOf(lastId));
        return lastId;
      },
    });
    for (const wish of wanted) this.#want(wish);
    let isClosed = false;
    return {
      pump: () => reader.pump(),
      close: () => {
        if (isClosed) return;
        isClosed = true;
        reader.close();
        for (const wish of wanted) this.#release(wish);
        this.#endSoon();
      },
    };
  }

  #idOf(seq: number): string {
    return `${this.#name}:${seq}`;
  }

  #resetData(reason: ResetReason, wanted: readonly Wish[]): string {
    const { server } = this.#options;
    const readiness: Record<string, NativeReadiness> = {};
    for (const [pane, { current }] of this.#watched) readiness[pane] = nativeReadiness(current);
    const event: NativeServerEvent = {
      type: "reset",
      reason,
      ...nativeState(server),
      ...server.layout.tree(),
      ...(wanted.includes("readiness") ? { readiness } : {}),
      ...(wanted.includes("agents") ? { agents: nativeAgents(this.#agents()) } : {}),
    };
    return JSON.stringify(event);
  }

  #begin(): void {
    if (this.#state !== undefined) return;
    const { server } = this.#options;
    this.#state = server.status().state;
    const unwatch = server.layout.watch((events) => this.#tell(events));
    const unsubscribe = server.subscribe((event) => {
      if (event.kind === "state" ? event.state === this.#state : event.kind !== "waiting") return;
      const state = nativeState(server);
      this.#state = state.state;
      this.#tell([{ type: "server-state", ...state }]);
    });
    this.#stop = () => {
      unwatch();
      unsubscribe();
    };
  }

  /** Without readers, events are dropped after a while; their ids are then unknown. */
  #endSoon(): void {
    if (this.#log.readerCount > 0) return;
    const { clock } = this.#options;
    this.#grace?.cancel();
    this.#grace = clock.callAt(clock.nowMs() + GRACE_MS, () => {
      this.#stop?.();
      this.#state = undefined;
      this.#log = newLog(this.#options, this.#log.lastId);
      this.#name = newName();
    });
  }

  #tell(events: readonly (TreeEvent | NativeServerEvent)[]): void {
    for (const event of events) {
      this.#keep(event);
      if (this.#wanted.readiness.readers === 0) continue;
      if (event.type === "pane-created" && isPaneId(event.pane.id)) this.#watch(event.pane.id);
      if (event.type === "pane-closed") this.#unwatch(event.pane);
    }
    this.#log.pump();
  }

  #keep(event: NativeServerEvent): void {
    const data = JSON.stringify(event);
    this.#log.add({ event: event.type, data }, data.length);
  }

  #seqOf(id: string, wanted: readonly Wish[]): number | undefined {
    const [, name, digits] = /^([0-9a-f]{12}):(\d{1,15})$/.exec(id) ?? [];
    const seq = Number(digits);
    if (name !== this.#name || !this.#log.goesOnAfter(seq)) return undefined;
    return wanted.some((wish) => seq < this.#wanted[wish].since) ? undefined : seq;
  }

  #want(wish: Wish): void {
    const wanted = this.#wanted[wish];
    wanted.readers += 1;
    if (wanted.readers > 1) return;
    wanted.since = this.#log.lastId;
    if (wish === "readiness") for (const { id } of this.#options.server.layout.tree().panes) this.#watch(id);
    else this.#subscribeAgents();
  }

  #release(wish: Wish): void {
    const wanted = this.#wanted[wish];
    wanted.readers -= 1;
    if (wanted.readers > 0) return;
    wanted.since = Number.POSITIVE_INFINITY;
    if (wish === "readiness") for (const pane of this.#watched.keys()) this.#unwatch(pane);
    else this.#unsubscribeAgents?.();
  }

  #agents(): readonly RunningAgent[] {
    return (this.#options.agents?.agents() ?? []).filter(({ server }) => server === this.#options.server);
  }

  #subscribeAgents(): void {
    const { agents, server } = this.#options;
    this.#unsubscribeAgents = agents?.subscribe(({ kind, agent }) => {
      if (agent.server === server) this.#tell([{ type: `agent-${kind}`, agent: nativeAgent(agent) }]);
    });
  }

  #watch(pane: PaneId): void {
    if (this.#watched.has(pane) || this.#options.isWatched?.(pane) === false) return;
    try {
      const watched = this.#options.readiness?.watch(this.#options.server, pane);
      if (watched === undefined) return;
      this.#watched.set(pane, watched);
      watched.subscribe((readiness) =>
        this.#tell([{ type: "readiness", pane, readiness: nativeReadiness(readiness) }]),
      );
    } catch (error) {
      // The pane has just closed, which its own event reports already.
      this.#options.onError(error);
    }
  }

  #unwatch(pane: string): void {
    this.#watched.get(pane)?.[Symbol.dispose]();
    this.#watched.delete(pane);
  }
}

const newName = (): string => randomBytes(6).toString("hex");

const newLog = ({ maxEvents = MAX_EVENTS, maxChars = MAX_EVENT_CHARS, onError }: ServerEventsOptions, lastId: number) =>
  new EventLog<Kept>({ lastId, maxEvents, maxSize: maxChars, onError });
