/** Freshell over a tmux server, on a listener of its own: everything that stands between a socket and tmux. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WebSocket } from "ws";
import {
  createFreshellApp,
  type FreshellApp,
  type FreshellAppOptions,
} from "../../../adapters/freshell/freshellApp.ts";
import type { FreshellConfig } from "../../../adapters/freshell/freshellConfig.ts";
import { listen } from "../../../adapters/kit/listeners/listen.ts";
import { silentLog } from "../../../bench/silentLog.ts";
import { paneEnvironment } from "../../../daemon/ops/environment.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { DEFAULT_WAIT_LIMITS } from "../../../daemon/waits/waitLimits.ts";
import { WaitManager } from "../../../daemon/waits/waitManager.ts";
import type { TerminalEntry } from "../../../protocol/api/freshell/freshellHttp.ts";
import { callJson, type NativeAnswer } from "./nativeServer.ts";
import { AGENTS } from "../agents/agentCatalogue.ts";

export const FRESHELL_TOKEN = "bootstrap-token-of-a-test";
export const CAPABILITIES = { layoutOwnershipV1: true, layoutRpcV1: true, devicePresenceV1: true };

export interface FreshellFixtureOptions {
  readonly config?: Partial<FreshellConfig>;
  readonly app?: Partial<FreshellAppOptions>;
  readonly env?: Readonly<Record<string, string>>;
  /** `AUTH_TOKEN`; default `FRESHELL_TOKEN`. */
  readonly token?: string;
}

interface Frame {
  readonly type: string;
  readonly [field: string]: unknown;
}

export class FreshellFixture implements AsyncDisposable {
  readonly freshell: FreshellApp;
  readonly waits: WaitManager;
  readonly url: string;
  readonly port: number;
  /** What it keeps: `.freshell` and the results. */
  readonly home: string;
  readonly #close: () => Promise<void>;
  readonly #clients = new Set<FreshellClient>();

  private constructor(
    parts: Pick<FreshellFixture, "freshell" | "waits" | "url" | "port" | "home">,
    close: () => Promise<void>,
  ) {
    this.freshell = parts.freshell;
    this.waits = parts.waits;
    this.url = parts.url;
    this.port = parts.port;
    this.home = parts.home;
    this.#close = close;
  }

  static async start(server: TmuxServer, options: FreshellFixtureOptions = {}): Promise<FreshellFixture> {
    const waits = new WaitManager({ clock: systemClock });
    const { maxGlobal, maxPerTarget, maxTimeoutSec, maxPatternBytes, maxRegexPerTarget } = DEFAULT_WAIT_LIMITS;
    const origins = new Set<string>();
    let url = "";
    const home = mkdtempSync(join(tmpdir(), "freshell-"));
    const freshell = await createFreshellApp({
      server,
      waits,
      config: {
        host: "127.0.0.1",
        port: 0,
        allowLan: false,
        allowedOrigins: [],
        tmuxSocketPath: "",
        sessionsPath: "",
        resultsPath: join(home, "results.jsonl"),
        homePath: join(home, ".freshell"),
        maxTerminals: 50,
        maxConnections: 50,
        helloTimeoutMs: 5_000,
        presenceTtlMs: 15_000,
        rpcAckTimeoutMs: 3_000,
        ownerTimeoutMs: 15_000,
        deviceTokenTtlSec: 900,
        maxAttachChunkBytes: 512_000,
        waits: { maxGlobal, maxPerTarget, maxTimeoutSec, maxPatternBytes, maxRegexPerTarget },
        disableRegex: false,
        ...options.config,
        token: options.token ?? FRESHELL_TOKEN,
      },
      programs: {
        env: { ...paneEnvironment(process.env), SHELL: "/bin/bash", ...options.env },
        daemonEnv: options.env ?? {},
        agents: AGENTS,
      },
      homeDir: tmpdir(),
      pageDirectory: "",
      sessions: { read: () => [], write: () => undefined },
      version: "0.0.0",
      clock: systemClock,
      nowUnixMs: Date.now,
      log: silentLog,
      hosts: new Set(["127.0.0.1"]),
      origins,
      url: () => url,
      ...options.app,
    });
    const listener = await listen({
      fetch: freshell.app.fetch,
      websocket: freshell.websocket,
      host: "127.0.0.1",
      port: 0,
      clock: systemClock,
    });
    ({ url } = listener);
    origins.add(url);
    const { port } = listener;
    return new FreshellFixture({ freshell, waits, url, port, home }, async () => {
      freshell.end();
      await freshell.close();
      waits.close();
      await listener.close();
      rmSync(home, { recursive: true, force: true });
    });
  }

  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<NativeAnswer> {
    return callJson(this.url, method, path, body, headers ?? { "x-auth-token": FRESHELL_TOKEN });
  }

  async create(body: object = {}): Promise<TerminalEntry> {
    const { status, json, text } = await this.call("POST", "/api/terminals", body);
    if (status !== 201) throw new Error(`create: ${status} ${text}`);
    return json as unknown as TerminalEntry;
  }

  /** Said hello, unless it is not to. */
  async connect(hello: object | false = {}): Promise<FreshellClient> {
    const client = await FreshellClient.open(this.url);
    this.#clients.add(client);
    if (hello !== false) {
      client.send({ type: "hello", token: FRESHELL_TOKEN, capabilities: CAPABILITIES, ...hello });
      await client.next("ready");
    }
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.socket.terminate();
    await this.#close();
  }
}

/** Frames in the order in which they came. */
export class FreshellClient {
  readonly socket: WebSocket;
  readonly frames: Frame[] = [];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  #waiting: (() => void)[] = [];
  #read = 0;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data: Buffer) => {
      this.frames.push(JSON.parse(data.toString()) as Frame);
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      socket.on("close", (code, reason) => {
        resolve({ code, reason: reason.toString() });
        this.#wake();
      });
    });
    socket.on("error", () => undefined);
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<FreshellClient> {
    const client = new FreshellClient(new WebSocket(`${url.replace("http", "ws")}/ws`, { headers }));
    await new Promise((resolve, reject) => client.socket.once("open", resolve).once("error", reject));
    return client;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === "string" || Buffer.isBuffer(message) ? message : JSON.stringify(message));
  }

  /** The next frame of this type behind those that were read; what is before it is passed over. */
  async next(type: string, fits: (frame: Frame) => boolean = () => true): Promise<Frame> {
    for (;;) {
      while (this.#read < this.frames.length) {
        const frame = this.frames[this.#read]!;
        this.#read += 1;
        if (frame.type === type && fits(frame)) return frame;
      }
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`closed before ${type}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Output and snapshots of a terminal so far. */
  text(terminalId: string): string {
    return this.frames
      .filter((frame) => frame["terminalId"] === terminalId)
      .flatMap(({ data, snapshot, chunk }) => [data, snapshot, chunk].filter((part) => typeof part === "string"))
      .join("");
  }

  /** Until the output, snapshots included, holds this. */
  async shows(terminalId: string, part: string): Promise<void> {
    while (!this.text(terminalId).includes(part)) {
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`closed before ${part}`);
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
