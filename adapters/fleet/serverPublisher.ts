/**
 * Publishes one tmux server: a publisher for each pane, and the tree, readiness and agents as last values. Panes that went
 * while no daemon looked are reported as closed.
 */
import type { Log } from "../../daemon/ops/log.ts";
import { Feeds, type OpenSubscription } from "../../daemon/panes/feeds.ts";
import type { ReadinessWatcher } from "../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { Timer } from "../../daemon/time/clock.ts";
import { sleep } from "../../daemon/time/within.ts";
import type { Frozen, NativeServerEvent } from "../../protocol/api/native/nativeTree.ts";
import type { NativeReadiness } from "../../protocol/api/native/nativeResponses.ts";
import { AppError } from "../../protocol/errors.ts";
import { isPaneId, type PaneId } from "../../protocol/ids.ts";
import type { AgentDirectory } from "../agents/running/agentDirectory.ts";
import { ServerEvents } from "../kit/streams/serverEvents.ts";
import { nativeAgents } from "../operations/agents/agentOutputs.ts";
import { nativeState } from "../operations/outputs.ts";
import type { PanePatterns } from "../operations/panes/panePatterns.ts";
import { outSubject, STATE_KINDS, type StateKind, stateSubject } from "./fleetSubjects.ts";
import { PanePublisher, type PanePublisherOptions } from "./panePublisher.ts";

/** Changes of that time are one message. */
const STATE_EVERY_MS = 100;
/** What changes which sessions a pane is in, or their names. */
const MOVES: ReadonlySet<NativeServerEvent["type"]> = new Set([
  "session-renamed",
  "session-windows-changed",
  "session-closed",
  "pane-moved",
]);
/** Before a pane whose publisher has failed is published again. */
const AFTER_FAULT_MS = 5_000;

/** What the publishers of all servers share. */
interface FleetParts extends Pick<
  PanePublisherOptions,
  "link" | "instance" | "pace" | "refreshMs" | "budget" | "clock" | "mayPublish" | "observe"
> {
  readonly host: string;
  readonly streams: { readonly output: string; readonly state: string };
  readonly panes: PanePatterns | undefined;
  readonly readiness: ReadinessWatcher;
  readonly agents: AgentDirectory;
  readonly log: Log;
}

interface Running {
  readonly publisher: PanePublisher;
  readonly ended: Promise<void>;
}

export class ServerPublisher {
  readonly #parts: FleetParts;
  readonly #name: string;
  readonly #server: TmuxServer;
  readonly #feeds: Feeds;
  readonly #stop = new AbortController();
  readonly #panes = new Map<PaneId, Running>();
  readonly #readiness = new Map<string, Frozen<NativeReadiness>>();
  readonly #changed = new Set<StateKind>();
  /** Those that do not fit into a message. */
  readonly #tooLarge = new Set<StateKind>();
  #timer: Timer | undefined;
  #telling = false;
  /** Reads the server's events from now on, with the readiness of those that are wanted now. */
  #open: (() => void) | undefined;
  #close: (() => void) | undefined;

  constructor(parts: FleetParts, name: string, server: TmuxServer) {
    this.#parts = parts;
    this.#name = name;
    this.#server = server;
    this.#feeds = new Feeds({ server, clock: parts.clock, onError: (error) => this.#failed(error) });
  }

  /** Panes that are followed. */
  get paneCount(): number {
    return this.#panes.size;
  }

  /** @throws the link's reason */
  async start(): Promise<void> {
    for (const pane of await this.#before()) this.#publish(pane);
    const { readiness, agents, clock } = this.#parts;
    const events = new ServerEvents({
      server: this.#server,
      readiness,
      agents,
      isWatched: (pane) => this.#isWanted(pane),
      clock,
      onError: (error) => this.#failed(error),
    });
    this.#open = () => {
      this.#close?.();
      const reader = events.open(
        {
          room: () => Number.POSITIVE_INFINITY,
          send: (_type, data) => this.#event(JSON.parse(data) as NativeServerEvent),
        },
        undefined,
        { readiness: true, agents: true },
      );
      this.#close = () => reader.close();
      reader.pump();
    };
    this.#open();
  }

  /** What is not stored yet is published by the next one. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#close?.();
    this.#timer?.cancel();
    const running = [...this.#panes.values()];
    for (const { publisher } of running) publisher.close();
    await Promise.all(running.map(({ ended }) => ended));
  }

  /** The panes that were there when the last daemon told of them. */
  async #before(): Promise<readonly PaneId[]> {
    const { link, host, streams } = this.#parts;
    const last = await link.last(streams.state, stateSubject(host, this.#name, "tree"), link.signal);
    if (last === undefined) return [];
    try {
      const { panes = [] } = JSON.parse(Buffer.from(last.data).toString()) as {
        readonly panes?: readonly { id: string }[];
      };
      return panes.map(({ id }) => id).filter(isPaneId);
    } catch {
      return [];
    }
  }

  #event(event: NativeServerEvent): void {
    const { type } = event;
    if (type === "readiness") {
      this.#readiness.set(event.pane, event.readiness);
      this.#changes("readiness");
    } else if (type === "agent-appeared" || type === "agent-changed" || type === "agent-ended") this.#changes("agents");
    else {
      if (type === "reset") {
        this.#readiness.clear();
        for (const [pane, readiness] of Object.entries(event.readiness ?? {})) this.#readiness.set(pane, readiness);
        for (const kind of STATE_KINDS) this.#changes(kind);
      }
      if (type === "pane-closed" && this.#readiness.delete(event.pane)) this.#changes("readiness");
      if (type === "reset" || type === "pane-created" || type === "server-state") this.#publishNew();
      if (MOVES.has(type)) this.#reconsider();
      this.#changes("tree");
    }
  }

  /** Other panes than before may match the patterns. */
  #reconsider(): void {
    if (this.#parts.panes === undefined || this.#stop.signal.aborted) return;
    const wanted = new Set(this.#server.panes().flatMap(({ id }) => (this.#isWanted(id) ? [id] : [])));
    const ended = [...this.#panes].filter(([id]) => !wanted.has(id) && this.#server.findPane(id) !== undefined);
    for (const [, { publisher }] of ended) publisher.end();
    if (ended.length > 0 || [...wanted].some((id) => !this.#panes.has(id))) this.#open?.();
  }

  /** Whatever an earlier daemon has published, only what is wanted now is followed. @throws AppError NOT_FOUND, CONNECTION_LOST */
  #subscribe(...[pane, start, sinkFor]: Parameters<Feeds["subscribe"]>): OpenSubscription {
    if (!this.#isWanted(pane)) throw new AppError("NOT_FOUND", `pane ${pane} is not published`);
    return this.#feeds.subscribe(pane, start, sinkFor);
  }

  #isWanted(id: PaneId): boolean {
    const { panes } = this.#parts;
    const pane = this.#server.findPane(id);
    return panes === undefined || (pane !== undefined && panes.matchesPane(this.#server, pane));
  }

  #publishNew(): void {
    for (const { id } of this.#server.panes()) if (this.#isWanted(id)) this.#publish(id);
  }

  #publish(pane: PaneId): void {
    if (this.#stop.signal.aborted || this.#panes.has(pane)) return;
    const { link, host, streams, ...rest } = this.#parts;
    const publisher = new PanePublisher({
      ...rest,
      link,
      feeds: { subscribe: (...wanted) => this.#subscribe(...wanted) },
      pane,
      stream: streams.output,
      subject: outSubject({ host, server: this.#name, pane }),
      serverName: this.#name,
      tmux: () => {
        const { state, identity = "" } = this.#server.status();
        return state === "connecting" ? undefined : identity.replaceAll(/[^\x21-\x7e]/g, "_");
      },
    });
    this.#panes.set(pane, { publisher, ended: this.#run(pane, publisher) });
  }

  async #run(pane: PaneId, publisher: PanePublisher): Promise<void> {
    const { signal } = this.#stop;
    try {
      await publisher.run();
    } catch (error) {
      this.#failed(error);
      await sleep(this.#parts.clock, AFTER_FAULT_MS, signal).catch(() => undefined);
    }
    this.#panes.delete(pane);
    // One with the same id, of another tmux server, may have come meanwhile.
    if (!signal.aborted && this.#server.findPane(pane) !== undefined) this.#publishNew();
  }

  #changes(kind: StateKind): void {
    const { clock } = this.#parts;
    this.#changed.add(kind);
    this.#timer ??= clock.callAt(clock.nowMs() + STATE_EVERY_MS, () => {
      this.#timer = undefined;
      void this.#tell().catch((error: unknown) => this.#failed(error));
    });
  }

  /** One at a time; what changes meanwhile is told afterwards. */
  async #tell(): Promise<void> {
    if (this.#telling) return;
    this.#telling = true;
    const { link, host, log } = this.#parts;
    try {
      for (const kind of this.#changed) {
        this.#changed.delete(kind);
        const bytes = JSON.stringify(this.#state(kind));
        if (Buffer.byteLength(bytes) > link.maxPayload) {
          if (!this.#tooLarge.has(kind))
            log.warn("nats.state.large", { server: this.#name, kind, bytes: bytes.length });
          this.#tooLarge.add(kind);
          continue;
        }
        await link.publish({ subject: stateSubject(host, this.#name, kind), bytes }, this.#stop.signal);
      }
    } finally {
      this.#telling = false;
    }
  }

  /** A pane that is not published is seen in the tree alone. */
  #state(kind: StateKind): object {
    const server = this.#server;
    switch (kind) {
      case "tree":
        return { ...nativeState(server), ...server.layout.tree() };
      case "readiness":
        return { readiness: Object.fromEntries(this.#readiness) };
      case "agents":
        return {
          agents: nativeAgents(
            this.#parts.agents.agents().filter((agent) => agent.server === server && this.#panes.has(agent.pane)),
          ),
        };
    }
  }

  #failed(error: unknown): void {
    const { link, log } = this.#parts;
    if (!this.#stop.signal.aborted && !link.signal.aborted)
      log.error("nats.publish.failed", { server: this.#name, error });
  }
}
