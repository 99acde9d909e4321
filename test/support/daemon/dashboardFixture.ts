/** The dashboard over a server, on a listener of its own: everything that stands between a socket and tmux. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentDirectory } from "../../../adapters/agents/running/agentDirectory.ts";
import { AgentStore } from "../../../adapters/agents/running/agentStore.ts";
import type { AgentNotifier } from "../../../adapters/agents/notify/agentNotifier.ts";
import { createDashboardApp } from "../../../adapters/dashboard/dashboardApp.ts";
import type { DashboardOptions } from "../../../adapters/dashboard/dashboardParts.ts";
import { MIGRATIONS } from "../../../adapters/dashboard/store/schema.ts";
import { operationsOn } from "../../../adapters/serving/operationContext.ts";
import type { StartContext } from "../../../adapters/serving/startContext.ts";
import { listen } from "../../../adapters/kit/listeners/listen.ts";
import { DeliveryEngine } from "../../../daemon/delivery/deliveryEngine.ts";
import { openDatabase } from "../../../daemon/ops/sql/database.ts";
import { silentLog } from "../../../bench/silentLog.ts";
import type { RecordingRegistry } from "../../../daemon/recordings/recordingRegistry.ts";
import { ReadinessEngine } from "../../../daemon/readiness/engine.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { callJson, type NativeAnswer } from "./nativeServer.ts";
import { Waiters } from "../clock/waiters.ts";
import { AGENTS, PROFILES } from "../agents/agentCatalogue.ts";

export interface DashboardFixture extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** JSON in, JSON out. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<NativeAnswer>;
  hook(name: string, body: object, headers?: Record<string, string>): Promise<NativeAnswer>;
  respond(agentId: number, body: unknown, key?: string): Promise<NativeAnswer>;
  events(query?: string, headers?: Record<string, string>): Promise<EventReader>;
  /** As a stop does: ends every stream. */
  end(): void;
  /** As a stop waits for it: tmux has every note on a pane. */
  settled(): Promise<void>;
}

export interface DashboardFixtureOptions extends Partial<DashboardOptions> {
  readonly recordings?: RecordingRegistry;
  readonly databasePath?: string;
  readonly port?: number;
}

export const UUID = "0b5d7f4e-8a1c-4c53-9f0a-3d9f4c1b2a10";

export const DASHBOARD_SETTINGS = {
  hooksEnabled: true,
  registersProjects: true,
  clearFirst: false,
  gapMs: undefined,
} as const;

const rethrow = (error: unknown): void => {
  throw error;
};

export async function dashboardFixture(
  server: TmuxServer,
  options: DashboardFixtureOptions = {},
): Promise<DashboardFixture> {
  const clock = options.clock ?? systemClock;
  const nowUnixMs = Date.now;
  const readiness = new ReadinessEngine({ profiles: PROFILES, clock, nowUnixMs, onError: rethrow });
  const delivery = new DeliveryEngine({ readiness, clock, nowUnixMs });
  const directory = databaseDirectory();
  const store = new AgentStore({ path: join(directory.path, "agents.db"), nowUnixMs, log: silentLog });
  const agents = new AgentDirectory({ catalogue: AGENTS, readiness, store, clock, nowUnixMs, onError: rethrow });
  agents.addServer("user", server);
  const database = openDatabase({
    path: options.databasePath ?? ":memory:",
    setting: "--dashboard-database",
    migrations: MIGRATIONS,
    nowUnixMs,
    onMovedAside: (_movedTo, error) => rethrow(error),
  });
  const origins = new Set<string>();
  const dashboard = createDashboardApp({
    server,
    readiness,
    delivery,
    listed: Promise.resolve(),
    running: agents,
    operations: operationsOn(
      () => new Map([["user", server]]),
      { readiness, delivery, agents } as unknown as StartContext,
      () => undefined,
      options.recordings,
    ),
    machines: () => undefined,
    // These tests press no button of a notification.
    notifier: {} as AgentNotifier,
    database,
    settings: DASHBOARD_SETTINGS,
    availability: {
      level: "process_tree",
      programs: new Set(["claude", "node"]),
    },
    pageDirectory: join(tmpdir(), "no-such-page"),
    clock,
    nowUnixMs,
    log: silentLog,
    hosts: new Set(),
    origins,
    ...options,
  });
  const listener = await listen({
    fetch: dashboard.app.fetch,
    websocket: dashboard.websocket,
    host: "127.0.0.1",
    port: options.port ?? 0,
    clock: systemClock,
  });
  origins.add(listener.url);
  const call: DashboardFixture["call"] = (method, path, body, headers = {}) =>
    callJson(listener.url, method, path, body, headers);
  const readers = new Set<EventReader>();
  return {
    url: listener.url,
    port: listener.port,
    call,
    hook: (name, body, headers) => call("POST", `/hook/${name}`, body, headers),
    respond: (agentId, body, key) =>
      call("POST", `/api/respond/${agentId}`, body, key === undefined ? {} : { "idempotency-key": key }),
    events: async (query = "", headers = {}) => {
      const reader = await EventReader.open(`${listener.url}/api/events/stream${query}`, headers);
      readers.add(reader);
      return reader;
    },
    end: dashboard.end,
    settled: dashboard.settled,
    [Symbol.asyncDispose]: async () => {
      for (const reader of readers) reader.close();
      dashboard.end();
      await listener.close();
      delivery.close();
      dashboard.close();
      agents.close();
      directory[Symbol.dispose]();
      readiness.close();
    },
  };
}

/** A directory for databases, gone at the end. */
export function databaseDirectory(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "tw-dash-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export interface DashboardEvent {
  readonly event: string;
  readonly id: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly atMs: number;
}

/** Reads an event stream; what has come stays. */
export class EventReader {
  readonly events: DashboardEvent[] = [];
  /** Everything as it came. */
  text = "";
  readonly status: number;
  readonly headers: Headers;
  readonly #abort: AbortController;
  readonly #waiters = new Waiters();
  #rest = "";
  ended: Promise<void>;

  private constructor(response: Response, abort: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    this.#abort = abort;
    this.ended = this.#read(response).catch(() => undefined);
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
    const abort = new AbortController();
    return new EventReader(await fetch(url, { headers, signal: abort.signal }), abort);
  }

  /** The first event at or after place `from` that matches. The test's own time-out ends a vain wait. */
  next(match: string | ((event: DashboardEvent) => boolean), from = 0): Promise<DashboardEvent> {
    const matches = typeof match === "string" ? (event: DashboardEvent) => event.event === match : match;
    return this.#waiters.until(() => this.events.slice(from).find(matches));
  }

  async until(holds: () => boolean): Promise<void> {
    await this.#waiters.until(() => (holds() ? true : undefined));
  }

  names(from = 0): readonly string[] {
    return this.events.slice(from).map(({ event }) => event);
  }

  close(): void {
    this.#abort.abort();
  }

  async #read(response: Response): Promise<void> {
    if (response.body === null) return;
    const decoder = new TextDecoder();
    for await (const chunk of response.body) {
      const text = decoder.decode(chunk as Uint8Array, { stream: true });
      this.text += text;
      const frames = (this.#rest + text).split("\n\n");
      this.#rest = frames.pop() ?? "";
      for (const frame of frames) this.#take(frame);
      this.#waiters.probe();
    }
  }

  #take(frame: string): void {
    const field = (name: string): string | undefined =>
      frame
        .split("\n")
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    const event = field("event");
    if (event === undefined) return;
    const data = JSON.parse(field("data") ?? "{}") as Record<string, unknown>;
    this.events.push({ event, id: Number(field("id")), data, atMs: performance.now() });
  }
}
