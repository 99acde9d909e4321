/**
 * The typed client (`tmuxwire/client`): everything the native API offers, in Node 20 and in browsers. Streams are async
 * iterables that survive lost connections; every call takes an `AbortSignal`; errors are `TmuxwireError` with a code.
 *
 *     const pane = createClient({ url, token }).server("main").pane(5);
 *     await pane.type("make test", { enter: true });
 *     for await (const event of pane.follow({ from: "snapshot" })) …
 */
import type * as responses from "../../protocol/api/nativeResponses.ts";
import type * as delivery from "../../protocol/api/nativeDelivery.ts";
import type * as recordings from "../../protocol/api/nativeRecordings.ts";
import type * as requests from "../../protocol/api/nativeRequests.ts";
import type { OperationName, OperationNames } from "../../protocol/api/operationRoutes.ts";
import type { NativeTreeResponse, NativeWindow } from "../../protocol/api/nativeTree.ts";
import { decodeBase64, type FollowOptions, type PaneEvent } from "./clientEvents.ts";
import { followPane } from "./clientFollow.ts";
import { type RunListener, runAndListen } from "./clientRun.ts";
import { type CallOptions, type ClientOptions, HttpCaller, type PerformOptions } from "./clientHttp.ts";
import { type LayoutClient, layoutClient } from "./clientLayout.ts";
import { followServer, type ServerEventsOptions, type ServerEventWithId } from "./clientServerEvents.ts";
import { ClientSocket, type SocketOptions } from "./clientSocket.ts";
import type { NativeWaitRequest } from "../operations/waitSchema.ts";

export type { FollowOptions, PaneEvent, SocketFollowOptions } from "./clientEvents.ts";
export { type CallOptions, type ClientOptions, type PerformOptions, TmuxwireError } from "./clientHttp.ts";
export type { LayoutClient } from "./clientLayout.ts";
export type { ServerEventsOptions, ServerEventWithId } from "./clientServerEvents.ts";
export type { ClientSocket, SocketOptions } from "./clientSocket.ts";
export type { OperationName, OperationNames } from "../../protocol/api/operationRoutes.ts";
export { applyTreeEvent } from "../../protocol/api/applyTreeEvent.ts";
export type * from "../../protocol/api/nativeResponses.ts";
export type * from "../../protocol/api/nativeDelivery.ts";
export type * from "../../protocol/api/nativeLayout.ts";
export type * from "../../protocol/api/nativeRecordings.ts";
export type * from "../../protocol/api/nativeTree.ts";
export type * from "../../protocol/api/nativeRequests.ts";
export type { NativePredicates, NativeWaitRequest } from "../operations/waitSchema.ts";

export const createClient = (options: ClientOptions): TmuxwireClient => new TmuxwireClient(options);

export class TmuxwireClient {
  readonly #http: HttpCaller;

  constructor(options: ClientOptions) {
    this.#http = new HttpCaller(options);
  }

  async servers(options: CallOptions = {}): Promise<readonly responses.NativeServer[]> {
    return (await this.#http.perform<{ servers: responses.NativeServer[] }>("listServers", {}, {}, options)).servers;
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
  readonly #names: { readonly server: string };
  /** Operations on windows and panes. */
  readonly layout: LayoutClient;

  /** As given to `server()`. */
  get name(): string {
    return this.#names.server;
  }

  constructor(http: HttpCaller, server: string) {
    this.#http = http;
    this.#names = { server };
    this.layout = layoutClient(http, server);
  }

  /** Any operation by its name, as in `GET /v1/openapi.json`. A server is named where the operation takes one. */
  perform<Output>(
    name: OperationName,
    names: OperationNames = {},
    input: object = {},
    options: PerformOptions = {},
  ): Promise<Output> {
    return this.#http.perform(name, { ...this.#names, ...names }, input, options);
  }

  async sessions(options: CallOptions = {}): Promise<readonly responses.NativeSession[]> {
    return (await this.perform<{ sessions: responses.NativeSession[] }>("listSessions", {}, {}, options)).sessions;
  }

  createSession(input: requests.NativeCreateSession = {}, options: CallOptions = {}): Promise<responses.NativeSession> {
    return this.perform("createSession", {}, input, options);
  }

  /** By name, or by id (`$3`). */
  async killSession(session: string, options: CallOptions = {}): Promise<void> {
    await this.perform("killSession", { session }, {}, options);
  }

  async windows(options: CallOptions = {}): Promise<readonly NativeWindow[]> {
    return (await this.perform<{ windows: NativeWindow[] }>("listWindows", {}, {}, options)).windows;
  }

  /** Everything there is to draw; `events({ after: tree.id })` continues from it. */
  tree(options: CallOptions = {}): Promise<NativeTreeResponse> {
    return this.perform("tree", {}, {}, options);
  }

  /** What happens to sessions, windows and panes; the whole tree first. Ends when the loop is left. */
  events(options: ServerEventsOptions = {}): AsyncGenerator<ServerEventWithId, void, void> {
    return followServer(this.#http, ["v1", "servers", this.#names.server, "events"], options);
  }

  async panes(options: CallOptions = {}): Promise<readonly responses.NativePane[]> {
    return (await this.perform<{ panes: responses.NativePane[] }>("listPanes", {}, {}, options)).panes;
  }

  /** By number (5 or `%5`), or by session: its active pane. */
  pane(pane: number | string): PaneClient {
    return new PaneClient(this.#http, this.#names.server, String(pane));
  }
}

export interface CaptureOptions extends CallOptions {
  readonly lines?: number | undefined;
  readonly joined?: boolean | undefined;
  readonly ansi?: boolean | undefined;
}

/** With `onOutput` the output is also streamed. */
export interface RunOptions extends CallOptions, Omit<requests.NativeRunRequest, "command">, Partial<RunListener> {}

export interface SubmitOptions extends PerformOptions, Omit<delivery.NativeSubmitRequest, "text"> {}
export interface ChooseOptions extends PerformOptions, Omit<delivery.NativeChooseRequest, "answer"> {}

export class PaneClient {
  readonly #http: HttpCaller;
  readonly #names: { readonly server: string; readonly pane: string };

  constructor(http: HttpCaller, server: string, pane: string) {
    this.#http = http;
    this.#names = { server, pane };
  }

  info(options: CallOptions = {}): Promise<responses.NativePaneDetails> {
    return this.#perform("describePane", {}, options);
  }

  /** One job: no other sender's input comes between its parts. */
  input(parts: requests.NativeInputPart[], options: CallOptions = {}): Promise<responses.NativeReceipt> {
    return this.#perform("input", { parts } satisfies requests.NativeInputRequest, options);
  }

  /** Types text byte for byte. */
  type(text: string, options: CallOptions & { readonly enter?: boolean } = {}): Promise<responses.NativeReceipt> {
    return this.input(
      [{ kind: "text", text }, ...(options.enter === true ? [{ kind: "enter" as const }] : [])],
      options,
    );
  }

  /** tmux's key names: `Enter`, `C-c`, `Up`. */
  keys(keys: string[], options: CallOptions = {}): Promise<responses.NativeReceipt> {
    return this.input([{ kind: "keys", keys }], options);
  }

  /** Bracketed when the program has enabled bracketed paste. */
  paste(text: string, options: CallOptions & { readonly enter?: boolean } = {}): Promise<responses.NativeReceipt> {
    return this.input(
      [{ kind: "paste", text }, ...(options.enter === true ? [{ kind: "enter" as const }] : [])],
      options,
    );
  }

  capture(options: CaptureOptions = {}): Promise<responses.NativeCapture> {
    const { signal, lines, joined, ansi } = options;
    return this.#perform("capture", { lines, joined, ansi } satisfies requests.NativeCaptureRequest, { signal });
  }

  async snapshot(
    options: CallOptions = {},
  ): Promise<Omit<responses.NativeSnapshot, "data"> & { readonly bytes: Uint8Array }> {
    const { data, ...rest } = await this.#perform<responses.NativeSnapshot>("snapshot", {}, options);
    return { ...rest, bytes: decodeBase64(data) };
  }

  /** @throws TmuxwireError TIMEOUT with `details.predicates` */
  wait(request: NativeWaitRequest, options: CallOptions = {}): Promise<responses.NativeWaitResponse> {
    return this.#perform("wait", request, options);
  }

  /** In a shell at its prompt. */
  run(command: string, options: RunOptions = {}): Promise<responses.NativeRunResponse> {
    const { signal, onOutput, onTyped, onSkipped, ...rest } = options;
    if (onOutput !== undefined) {
      return runAndListen(this.#http, this.#names, { command, ...rest }, { onOutput, onTyped, onSkipped }, signal);
    }
    return this.#perform("run", { command, ...rest } satisfies requests.NativeRunRequest, { signal });
  }

  /**
   * Gives a prompt to the program: typed, seen on the screen, entered separately, confirmed. Read `outcome`.
   * @throws TmuxwireError WRONG_STATE with `details.state` while it is busy, asks, starts or has ended
   */
  submit(text: string, options: SubmitOptions = {}): Promise<delivery.NativeDelivery> {
    const { signal, idempotencyKey, ...rest } = options;
    return this.#perform("submit", { text, ...rest } satisfies delivery.NativeSubmitRequest, {
      signal,
      idempotencyKey,
    });
  }

  /** Answers the dialog that is open. */
  choose(
    answer: delivery.NativeChooseRequest["answer"],
    options: ChooseOptions = {},
  ): Promise<delivery.NativeDelivery> {
    const { signal, idempotencyKey, ...rest } = options;
    return this.#perform("choose", { answer, ...rest } satisfies delivery.NativeChooseRequest, {
      signal,
      idempotencyKey,
    });
  }

  /** Stops the program's current work. */
  async interrupt(options: CallOptions = {}): Promise<void> {
    await this.#perform("interrupt", {}, options);
  }

  /** Empties the prompt box. */
  async clear(options: CallOptions = {}): Promise<void> {
    await this.#perform("clear", {}, options);
  }

  /** The daemon writes it, even when this client leaves. `perform("stopRecording", { recording: id })` ends it. */
  startRecording(
    input: recordings.NativeStartRecording = {},
    options: CallOptions = {},
  ): Promise<recordings.NativeRecording> {
    return this.#perform("startRecording", input, options);
  }

  async resize(cols: number, rows: number, options: CallOptions = {}): Promise<void> {
    await this.#perform("resize", { cols, rows } satisfies requests.NativeSize, options);
  }

  /** Ends when the pane does, or when the loop is left. */
  follow(options: FollowOptions = {}): AsyncGenerator<PaneEvent, void, void> {
    const { server, pane } = this.#names;
    return followPane(this.#http, ["v1", "servers", server, "panes", pane, "stream"], options);
  }

  #perform<Output>(name: OperationName, input: object, options: PerformOptions): Promise<Output> {
    return this.#http.perform(name, this.#names, input, options);
  }
}
