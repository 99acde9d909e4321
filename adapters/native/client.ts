/**
 * The typed client (`tmuxwire/client`): everything the native API offers, in Node 20 and in browsers. Streams are async
 * iterables that survive lost connections; every call takes an `AbortSignal`; errors are `TmuxwireError` with a code.
 *
 *     const pane = createClient({ url, token }).server("main").pane(5);
 *     await pane.type("make test", { enter: true });
 *     for await (const event of pane.follow({ from: "snapshot" })) …
 */
import type * as answers from "../../protocol/api/nativeAnswers.ts";
import type * as delivery from "../../protocol/api/nativeDelivery.ts";
import type * as requests from "../../protocol/api/nativeRequests.ts";
import type { NativeTreeAnswer, NativeWindow } from "../../protocol/api/nativeTree.ts";
import { decodeBase64, type FollowOptions, type PaneEvent } from "./clientEvents.ts";
import { followPane } from "./clientFollow.ts";
import { type CallOptions, type ClientOptions, HttpCaller } from "./clientHttp.ts";
import { LayoutClient } from "./clientLayout.ts";
import { followServer, type ServerEventsOptions, type ServerEventWithId } from "./clientServerEvents.ts";
import { ClientSocket, type SocketOptions } from "./clientSocket.ts";
import type { NativeWaitRequest } from "../operations/waitSchema.ts";

export type { FollowOptions, PaneEvent, SocketFollowOptions } from "./clientEvents.ts";
export { type CallOptions, type ClientOptions, TmuxwireError } from "./clientHttp.ts";
export type { LayoutClient } from "./clientLayout.ts";
export type { ServerEventsOptions, ServerEventWithId } from "./clientServerEvents.ts";
export type { ClientSocket, SocketOptions } from "./clientSocket.ts";
export { applyTreeEvent } from "../../protocol/api/applyTreeEvent.ts";
export type * from "../../protocol/api/nativeAnswers.ts";
export type * from "../../protocol/api/nativeDelivery.ts";
export type * from "../../protocol/api/nativeLayout.ts";
export type * from "../../protocol/api/nativeTree.ts";
export type * from "../../protocol/api/nativeRequests.ts";
export type { NativePredicates, NativeWaitRequest } from "../operations/waitSchema.ts";

export const createClient = (options: ClientOptions): TmuxwireClient => new TmuxwireClient(options);

export class TmuxwireClient {
  readonly #http: HttpCaller;

  constructor(options: ClientOptions) {
    this.#http = new HttpCaller(options);
  }

  async servers(options: CallOptions = {}): Promise<readonly answers.NativeServer[]> {
    const request = { method: "GET", path: ["v1", "servers"], ...options } as const;
    return (await this.#http.json<{ servers: answers.NativeServer[] }>(request)).servers;
  }

  server(name: string): ServerClient {
    return new ServerClient(this.#http, name);
  }

  /** One WebSocket for many panes: less per pane than `follow`, and input on the same connection. */
  openSocket(options: SocketOptions = {}): ClientSocket {
    return new ClientSocket(this.#http, options);
  }
}

export class ServerClient {
  readonly #http: HttpCaller;
  readonly #path: readonly string[];
  /** Operations on windows and panes. */
  readonly layout: LayoutClient;

  constructor(http: HttpCaller, name: string) {
    this.#http = http;
    this.#path = ["v1", "servers", name];
    this.layout = new LayoutClient(http, this.#path);
  }

  async sessions(options: CallOptions = {}): Promise<readonly answers.NativeSession[]> {
    const request = { method: "GET", path: [...this.#path, "sessions"], ...options } as const;
    return (await this.#http.json<{ sessions: answers.NativeSession[] }>(request)).sessions;
  }

  createSession(body: requests.NativeCreateSession = {}, options: CallOptions = {}): Promise<answers.NativeSession> {
    return this.#http.json({ method: "POST", path: [...this.#path, "sessions"], body, ...options });
  }

  /** By name, or by id (`$3`). */
  async killSession(session: string, options: CallOptions = {}): Promise<void> {
    await this.#http.json({ method: "DELETE", path: [...this.#path, "sessions", session], ...options });
  }

  async windows(options: CallOptions = {}): Promise<readonly NativeWindow[]> {
    const request = { method: "GET", path: [...this.#path, "windows"], ...options } as const;
    return (await this.#http.json<{ windows: NativeWindow[] }>(request)).windows;
  }

  /** Everything there is to draw; `events({ after: tree.id })` goes on from it. */
  tree(options: CallOptions = {}): Promise<NativeTreeAnswer> {
    return this.#http.json({ method: "GET", path: [...this.#path, "tree"], ...options });
  }

  /** What happens to sessions, windows and panes; the whole tree first. Ends when the loop is left. */
  events(options: ServerEventsOptions = {}): AsyncGenerator<ServerEventWithId, void, void> {
    return followServer(this.#http, [...this.#path, "events"], options);
  }

  async panes(options: CallOptions = {}): Promise<readonly answers.NativePane[]> {
    const request = { method: "GET", path: [...this.#path, "panes"], ...options } as const;
    return (await this.#http.json<{ panes: answers.NativePane[] }>(request)).panes;
  }

  /** By number (5 or `%5`), or by session: its active pane. */
  pane(pane: number | string): PaneClient {
    return new PaneClient(this.#http, [...this.#path, "panes", String(pane)]);
  }
}

export interface CaptureOptions extends CallOptions {
  readonly lines?: number | undefined;
  readonly joined?: boolean | undefined;
  readonly ansi?: boolean | undefined;
}

export interface RunOptions extends CallOptions, Omit<requests.NativeRunRequest, "command"> {}

export interface DeliveryOptions extends CallOptions {
  /** The same key for the same pane: what the first request did, and nothing typed again. Such as a UUID. */
  readonly idempotencyKey?: string | undefined;
}
export interface SubmitOptions extends DeliveryOptions, Omit<delivery.NativeSubmitRequest, "text"> {}
export interface ChooseOptions extends DeliveryOptions, Omit<delivery.NativeChooseRequest, "answer"> {}

export class PaneClient {
  readonly #http: HttpCaller;
  readonly #path: readonly string[];

  constructor(http: HttpCaller, path: readonly string[]) {
    this.#http = http;
    this.#path = path;
  }

  info(options: CallOptions = {}): Promise<answers.NativePaneDetails> {
    return this.#http.json({ method: "GET", path: this.#path, ...options });
  }

  /** One job: nothing of another sender comes between its parts. */
  input(parts: requests.NativeInputPart[], options: CallOptions = {}): Promise<answers.NativeReceipt> {
    return this.#post("input", { parts } satisfies requests.NativeInputRequest, options);
  }

  /** Types text byte for byte. */
  type(text: string, options: CallOptions & { readonly enter?: boolean } = {}): Promise<answers.NativeReceipt> {
    return this.input(
      [{ kind: "text", text }, ...(options.enter === true ? [{ kind: "enter" as const }] : [])],
      options,
    );
  }

  /** tmux's key names: `Enter`, `C-c`, `Up`. */
  keys(keys: string[], options: CallOptions = {}): Promise<answers.NativeReceipt> {
    return this.input([{ kind: "keys", keys }], options);
  }

  /** Bracketed when the program asked for that. */
  paste(text: string, options: CallOptions & { readonly enter?: boolean } = {}): Promise<answers.NativeReceipt> {
    return this.input(
      [{ kind: "paste", text }, ...(options.enter === true ? [{ kind: "enter" as const }] : [])],
      options,
    );
  }

  capture(options: CaptureOptions = {}): Promise<answers.NativeCapture> {
    const { signal, lines, joined, ansi } = options;
    return this.#http.json({ method: "GET", path: [...this.#path, "capture"], query: { lines, joined, ansi }, signal });
  }

  async snapshot(
    options: CallOptions = {},
  ): Promise<Omit<answers.NativeSnapshot, "data"> & { readonly bytes: Uint8Array }> {
    const request = { method: "GET", path: [...this.#path, "snapshot"], ...options } as const;
    const { data, ...rest } = await this.#http.json<answers.NativeSnapshot>(request);
    return { ...rest, bytes: decodeBase64(data) };
  }

  /** @throws TmuxwireError TIMEOUT with `details.predicates` */
  wait(request: NativeWaitRequest, options: CallOptions = {}): Promise<answers.NativeWaitAnswer> {
    return this.#post("wait", request, options);
  }

  /** In a shell at its prompt. */
  run(command: string, options: RunOptions = {}): Promise<answers.NativeRunAnswer> {
    const { signal, ...rest } = options;
    return this.#post("run", { command, ...rest } satisfies requests.NativeRunRequest, { signal });
  }

  /**
   * Gives a prompt to the program: typed, seen, entered by itself, confirmed. Read `outcome`.
   * @throws TmuxwireError WRONG_STATE with `details.state` while it is busy, asks, starts or has ended
   */
  submit(text: string, options: SubmitOptions = {}): Promise<delivery.NativeDelivery> {
    const { signal, idempotencyKey, ...rest } = options;
    return this.#once("submit", { text, ...rest } satisfies delivery.NativeSubmitRequest, signal, idempotencyKey);
  }

  /** Answers the dialog that is open. */
  choose(
    answer: delivery.NativeChooseRequest["answer"],
    options: ChooseOptions = {},
  ): Promise<delivery.NativeDelivery> {
    const { signal, idempotencyKey, ...rest } = options;
    return this.#once("choose", { answer, ...rest } satisfies delivery.NativeChooseRequest, signal, idempotencyKey);
  }

  /** Stops what the program works on. */
  async interrupt(options: CallOptions = {}): Promise<void> {
    await this.#post("interrupt", {}, options);
  }

  /** Empties the prompt box. */
  async clear(options: CallOptions = {}): Promise<void> {
    await this.#post("clear", {}, options);
  }

  async resize(cols: number, rows: number, options: CallOptions = {}): Promise<void> {
    await this.#post("size", { cols, rows } satisfies requests.NativeSize, options);
  }

  /** Ends when the pane does, or when the loop is left. */
  follow(options: FollowOptions = {}): AsyncGenerator<PaneEvent, void, void> {
    return followPane(this.#http, [...this.#path, "stream"], options);
  }

  #once(
    action: string,
    body: object,
    signal: AbortSignal | undefined,
    idempotencyKey: string | undefined,
  ): Promise<delivery.NativeDelivery> {
    const headers = idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey };
    return this.#http.json({ method: "POST", path: [...this.#path, action], body, signal, headers });
  }

  #post<Answer>(action: string, body: object, options: CallOptions): Promise<Answer> {
    return this.#http.json({ method: "POST", path: [...this.#path, action], body, ...options });
  }
}
