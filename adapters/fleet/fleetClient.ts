/**
 * `tmuxwire/nats`: reads what daemons publish on NATS and calls operations there, from Node or a browser, with a connection of
 * the NATS client (`@nats-io/transport-node`, or `wsconnect` of `@nats-io/nats-core`). Needs no daemon of its own and no right to
 * publish but for calls.
 */
import {
  DeliverPolicy,
  jetstream,
  type JetStreamClient,
  type JetStreamManager,
  jetstreamManager,
} from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import type { NativeAgent } from "../../protocol/api/native/nativeAgents.ts";
import type { NativeReadiness } from "../../protocol/api/native/nativeResponses.ts";
import type { NativeTree } from "../../protocol/api/native/nativeTree.ts";
import type { OperationName } from "../../protocol/api/operationRoutes.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { fieldsOf, parseJson } from "../../protocol/text/jsonObject.ts";
import type { PaneEvent } from "../client/clientEvents.ts";
import { backOffMs } from "../../daemon/time/backOff.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { sleep } from "../../daemon/time/within.ts";
import { TmuxwireError } from "../client/clientHttp.ts";
import { fetchKept, streamWith } from "./fetchKept.ts";
import {
  callSubject,
  type FleetFollowOptions,
  hostStream,
  outSubject,
  STATE_STREAM,
  type StateKind,
  stateOf,
  stateSubjects,
} from "./fleetSubjects.ts";
import { FleetFollower, type KeepingStream, natsError } from "./fleetFollower.ts";

export type { FleetFollowOptions } from "./fleetSubjects.ts";
export type { PaneEvent } from "../client/clientEvents.ts";
export { TmuxwireError } from "../client/clientHttp.ts";

/** One tmux server as its daemon last told of it. */
export interface FleetServer {
  readonly host: string;
  readonly server: string;
  readonly tree: NativeTree;
  readonly readiness: Readonly<Record<string, NativeReadiness>>;
  readonly agents: readonly NativeAgent[];
  /** When the newest of these was told: Unix time in milliseconds. */
  readonly toldUnixMs: number;
  /** Its daemon has ended in order since, or publishes it no longer. One that was killed or cut off does not say so. */
  readonly ended: boolean;
}

interface FleetChangesOptions {
  /** Default: of all hosts. */
  readonly host?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface FleetCallRequest {
  readonly server?: string | undefined;
  readonly session?: string | undefined;
  readonly pane?: string | undefined;
  readonly agent?: string | undefined;
  readonly message?: string | undefined;
  readonly input?: object | undefined;
  /** An operation that takes one is done once per key. */
  readonly idempotencyKey?: string | undefined;
}

/** What a last value may hold, as it was sent. */
type Told = Partial<Pick<FleetServer, "readiness" | "agents">>;

/** `NatsConnection` of the NATS client, version 3. */
interface NatsConnectionLike {
  isClosed(): boolean;
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** How long a call may take by default. */
const CALL_MS = 30_000;
const RETRY = { minMs: 50, maxMs: 2_000 };

export class FleetClient {
  readonly #nc: NatsConnection;
  readonly #js: JetStreamClient;
  readonly #domain: { readonly domain?: string };
  #jsm: Promise<JetStreamManager> | undefined;
  readonly #onReconnect = new Set<() => void>();
  #isWatching = false;

  /**
   * @param connection one that reconnects for ever (`maxReconnectAttempts: -1`) lets `follow` go on after any outage; the caller closes it
   * @param options.domain JetStream's, where the connection leads to a leaf node of the servers that keep the streams
   */
  constructor(connection: NatsConnectionLike, { domain }: { readonly domain?: string | undefined } = {}) {
    // The package's types need no other package this way.
    this.#nc = connection as unknown as NatsConnection;
    this.#domain = domain === undefined ? {} : { domain };
    this.#js = jetstream(this.#nc, this.#domain);
  }

  /**
   * The events of a pane's stream, with the positions that its daemon gives: every byte once and in order, or a declared gap.
   * Goes on after a lost connection, and ends when the pane does. A gap is followed by a snapshot where one is kept.
   * @throws TmuxwireError NOT_FOUND, INVALID_ARGUMENT, FORBIDDEN, DAEMON_UNREACHABLE
   */
  async *follow(options: FleetFollowOptions): AsyncGenerator<PaneEvent, void, void> {
    const find = () => this.#streamOf(outSubject(options), hostStream(options.host).republish?.dest ?? "");
    const parts = { nc: this.#nc, js: this.#js, jsm: await this.#manager(), find, stream: await find() };
    const onReconnect = (call: () => void) => {
      this.#watch();
      this.#onReconnect.add(call);
      return () => this.#onReconnect.delete(call);
    };
    yield* new FleetFollower({ ...parts, onReconnect }, options).events();
  }

  /** Every server that is known of, by host and name. @throws TmuxwireError FORBIDDEN, DAEMON_UNREACHABLE */
  async servers(): Promise<readonly FleetServer[]> {
    return serversOf(await this.#states());
  }

  /**
   * The same at first, and whenever something of it has changed; only the newest is kept for a slow reader. Goes on after
   * any outage that begins later.
   * @throws TmuxwireError FORBIDDEN, TIMEOUT, DAEMON_UNREACHABLE
   */
  async *changes({ host, signal }: FleetChangesOptions = {}): AsyncGenerator<readonly FleetServer[], void, void> {
    const known = new Map<string, State>();
    /** What has come since the look began, and so is newer: the clocks of two machines cannot tell. */
    const arrived = new Set<string>();
    let isStale = true;
    let failedTries: number | undefined;
    let failure: Error | undefined;
    let wake: () => void = () => undefined;
    let next = new Promise<void>((resolve) => (wake = resolve));
    const reread = (): void => {
      isStale = true;
      wake();
    };
    this.#watch();
    this.#onReconnect.add(reread);
    const end = (): void => wake();
    signal?.addEventListener("abort", end);
    const subscriptions = stateSubjects(host).map((subject) =>
      this.#nc.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) failure = error;
          else {
            const json = jsonOf(message.data);
            if (json !== undefined) known.set(message.subject, { subject: message.subject, time: Date.now(), json });
            arrived.add(message.subject);
          }
          wake();
        },
      }),
    );
    try {
      for (;;) {
        if (signal?.aborted === true) return;
        if (failure !== undefined || this.#nc.isClosed()) throw natsError(failure ?? new Error("it is closed"));
        if (isStale) {
          isStale = false;
          arrived.clear();
          try {
            for (const state of await this.#states()) {
              const isOfHost = host === undefined || stateOf(state.subject)?.host === host;
              if (isOfHost && !arrived.has(state.subject)) known.set(state.subject, state);
            }
          } catch (error) {
            if (failedTries === undefined || (error as TmuxwireError).code === "FORBIDDEN") throw error;
            isStale = true;
            await sleep(systemClock, backOffMs(failedTries, RETRY), signal).catch(() => undefined);
            failedTries += 1;
            continue;
          }
          failedTries = 0;
        }
        yield serversOf([...known.values()]);
        await next;
        next = new Promise((resolve) => (wake = resolve));
      }
    } finally {
      this.#onReconnect.delete(reread);
      signal?.removeEventListener("abort", end);
      for (const subscription of subscriptions) if (!this.#nc.isClosed()) subscription.unsubscribe();
    }
  }

  /**
   * Performs an operation of the API on a published server, at most once. The daemon's settings must allow it.
   * @throws TmuxwireError of the operation; DAEMON_UNREACHABLE if no daemon answers such calls there
   */
  async call<Output extends object>(
    host: string,
    operation: OperationName,
    request: FleetCallRequest,
    { timeoutMs = CALL_MS }: { readonly timeoutMs?: number | undefined } = {},
  ): Promise<Output> {
    let reply;
    try {
      reply = await this.#nc.request(callSubject(host, operation), JSON.stringify(request), { timeout: timeoutMs });
    } catch (error) {
      if (error instanceof Error && /no responders/i.test(error.message)) {
        const message = `no daemon answers ${operation} for ${host}: it does not run, or its --nats-calls does not allow it`;
        throw new TmuxwireError("DAEMON_UNREACHABLE", message);
      }
      throw natsError(error);
    }
    const { output, error } = reply.json<{
      readonly output?: Output;
      readonly error?: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly details?: Record<string, unknown>;
      };
    }>();
    if (output !== undefined) return output;
    const { code = "PROTOCOL_ERROR", message = "that is no reply of a daemon", details } = error ?? {};
    throw new TmuxwireError(code, message, { details });
  }

  #manager(): Promise<JetStreamManager> {
    return (this.#jsm ??= jetstreamManager(this.#nc, { ...this.#domain, checkAPI: false }));
  }

  /** The stream that keeps a pane, if live viewers can use it. @throws TmuxwireError NOT_FOUND, INCONSISTENT_STATE, FORBIDDEN, … */
  async #streamOf(subject: string, repeatedTo: string): Promise<KeepingStream> {
    const jsm = await this.#manager();
    try {
      for await (const { config, created } of jsm.streams.list(subject)) {
        if (config.allow_direct && config.republish?.dest === repeatedTo) return { name: config.name, created };
        const message = `the stream ${config.name} lacks allow_direct or its republishing to ${repeatedTo}: see \`tmuxwire doctor\` there`;
        throw new TmuxwireError("INCONSISTENT_STATE", message);
      }
    } catch (error) {
      throw error instanceof TmuxwireError ? error : natsError(error);
    }
    throw new TmuxwireError(
      "NOT_FOUND",
      `nothing is published for ${subject}: run \`tmuxwire ls --nats URL\` for what is`,
    );
  }

  /** @throws TmuxwireError FORBIDDEN, TIMEOUT, DAEMON_UNREACHABLE */
  async #states(): Promise<readonly State[]> {
    const jsm = await this.#manager();
    const stream = await streamWith(jsm, STATE_STREAM.subjects[0] ?? "").catch((error: unknown) => {
      throw natsError(error);
    });
    if (stream === undefined) return [];
    // nats-server 2.9 can wait, about once in ten thousand times, for one that has been replaced while it sent: a new look has it.
    const states = (await this.#keptStates(jsm, stream.name)) ?? (await this.#keptStates(jsm, stream.name));
    if (states === undefined) throw new TmuxwireError("TIMEOUT", "NATS has not sent all that is known: try again");
    return states;
  }

  /** Undefined: not all of them have come. */
  async #keptStates(jsm: JetStreamManager, stream: string): Promise<readonly State[] | undefined> {
    const states: State[] = [];
    const reading = fetchKept(
      { js: this.#js, jsm, stream },
      { deliver_policy: DeliverPolicy.LastPerSubject, filter_subject: ">" },
    );
    for (;;) {
      const next = await reading.next();
      if (next.done === true) return next.value ? states : undefined;
      const { subject, time, data } = next.value;
      const json = jsonOf(data);
      if (json !== undefined) states.push({ subject, time: time.getTime(), json });
    }
  }

  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    void (async () => {
      for await (const { type } of this.#nc.status()) {
        if (type === "reconnect" || type === "close") for (const call of this.#onReconnect) call();
      }
      for (const call of this.#onReconnect) call();
    })();
  }
}

/** A last value. */
interface State {
  readonly subject: string;
  /** When it was told: Unix time in milliseconds. */
  readonly time: number;
  readonly json: object;
}

function serversOf(states: readonly State[]): readonly FleetServer[] {
  const found = new Map<
    string,
    { host: string; server: string; toldUnixMs: number; parts: Partial<Record<StateKind, Told>> }
  >();
  /** By host: the servers that its daemon publishes, or did when it was killed. */
  const published = new Map<string, readonly unknown[]>();
  for (const { subject, time, json } of states) {
    const of = stateOf(subject);
    if (of?.server === undefined || of.kind === undefined) {
      const { ended, servers } = json as { readonly ended?: unknown; readonly servers?: unknown };
      if (of !== undefined && (ended === true || Array.isArray(servers)))
        published.set(of.host, ended === true ? [] : (servers as readonly unknown[]));
      continue;
    }
    const key = `${of.host}\n${of.server}`;
    const known = found.get(key) ?? { host: of.host, server: of.server, toldUnixMs: 0, parts: {} };
    found.set(key, {
      ...known,
      toldUnixMs: Math.max(known.toldUnixMs, time),
      parts: { ...known.parts, [of.kind]: json },
    });
  }
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { host, server, toldUnixMs, parts }]) => {
      const { tree, readiness, agents } = parts;
      return {
        host,
        server,
        tree: { ...NO_TREE, ...tree },
        readiness: readiness?.readiness ?? {},
        agents: agents?.agents ?? [],
        toldUnixMs,
        ended: published.get(host)?.includes(server) === false,
      };
    });
}

const NO_TREE: NativeTree = { sessions: [], windows: [], panes: [] };

const jsonOf = (bytes: Uint8Array): object | undefined => fieldsOf(parseJson(new TextDecoder().decode(bytes)));
