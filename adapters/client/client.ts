/**
 * The typed client (`tmuxwire/client`): everything the native API offers, in Node 20 and in browsers. Streams are async
 * iterables that survive lost connections; every call takes an `AbortSignal`; errors are `TmuxwireError` with a code.
 *
 *     const pane = createClient({ url, token }).server("main").pane(5);
 *     await pane.type("make test", { enter: true });
 *     for await (const event of pane.follow({ from: "snapshot" })) …
 */
import type { NativeLayoutRequest, NativeLayoutResult } from "../../protocol/api/native/nativeLayout.ts";
import type * as responses from "../../protocol/api/native/nativeResponses.ts";
import type * as messages from "../../protocol/api/native/nativeAgentMessages.ts";
import type * as delivery from "../../protocol/api/native/nativeDelivery.ts";
import type { AgentStateName, NativeAgent } from "../../protocol/api/native/nativeAgents.ts";
import type * as hosts from "../../protocol/api/native/nativeHosts.ts";
import type * as timelines from "../../protocol/api/native/nativeTimeline.ts";
import type * as notifications from "../../protocol/api/native/nativeNotifications.ts";
import type * as start from "../../protocol/api/native/nativeAgentStart.ts";
import type * as recordings from "../../protocol/api/native/nativeRecordings.ts";
import type * as requests from "../../protocol/api/native/nativeRequests.ts";
import {
  type OperationName,
  type OperationNames,
  LAYOUT_OPERATION_NAMES,
  type LayoutOperationName,
} from "../../protocol/api/operationRoutes.ts";
import type { NativeTreeResponse, NativeWindow } from "../../protocol/api/native/nativeTree.ts";
import { decodeBase64, type FollowOptions, type PaneEvent } from "./clientEvents.ts";
import { type RunListener, runAndListen } from "./clientRun.ts";
import { type CallOptions, type ClientOptions, HttpCaller, type PerformOptions } from "./clientHttp.ts";
import {
  type AgentEventsOptions,
  type FollowedAgentEvent,
  followAgents,
  followPane,
  followServer,
  type ServerEventsOptions,
  type ServerEventWithId,
} from "./clientStreams.ts";
import { ClientSocket, type SocketOptions } from "./clientSocket.ts";
import type { NativeWaitRequest } from "../operations/panes/waitSchema.ts";

export type { FollowOptions, PaneEvent, SocketFollowOptions } from "./clientEvents.ts";
export { type CallOptions, type ClientOptions, type PerformOptions, TmuxwireError } from "./clientHttp.ts";
export type {
  AgentEventsOptions,
  FollowedAgentEvent,
  ServerEventsOptions,
  ServerEventWithId,
} from "./clientStreams.ts";
export type { ClientSocket, SocketOptions } from "./clientSocket.ts";
export type { OperationName, OperationNames } from "../../protocol/api/operationRoutes.ts";
export { applyTreeEvent } from "../../protocol/api/native/applyTreeEvent.ts";
export type * from "../../protocol/api/native/nativeResponses.ts";
export type * from "../../protocol/api/native/nativeDelivery.ts";
export type * from "../../protocol/api/native/nativeAgents.ts";
export type * from "../../protocol/api/native/nativeAgentEvents.ts";
export type * from "../../protocol/api/native/nativeAgentStart.ts";
export type * from "../../protocol/api/native/nativeAgentMessages.ts";
export type * from "../../protocol/api/native/nativeTimeline.ts";
export type * from "../../protocol/api/native/nativeHosts.ts";
export type * from "../../protocol/api/native/nativeNotifications.ts";
export type * from "../../protocol/api/native/nativeLayout.ts";
export type * from "../../protocol/api/native/nativeRecordings.ts";
export type * from "../../protocol/api/native/nativeTree.ts";
export type * from "../../protocol/api/native/nativeRequests.ts";
export type { NativePredicates, NativeWaitRequest } from "../operations/panes/waitSchema.ts";

export const createClient = (options: ClientOptions): TmuxwireClient => new TmuxwireClient(options);

export class TmuxwireClient {
  readonly #http: HttpCaller;

  constructor(options: ClientOptions) {
    this.#http = new HttpCaller(options);
  }

  async servers(options: CallOptions = {}): Promise<readonly responses.NativeServer[]> {
    return (await this.#http.perform<{ servers: responses.NativeServer[] }>("listServers", {}, {}, options)).servers;
  }

  /** The other machines whose servers are served from here, as they are now. */
  async hosts(options: CallOptions = {}): Promise<readonly hosts.NativeCheckedHost[]> {
    return (await this.#http.perform<{ hosts: hosts.NativeCheckedHost[] }>("listHosts", {}, {}, options)).hosts;
  }

  /** Resolves also for a host that cannot be used now: `state`, and `why`. */
  addHost(input: hosts.NativeAddHost, options: CallOptions = {}): Promise<hosts.NativeCheckedHost> {
    return this.#http.perform("addHost", {}, input, options);
  }

  /** Connects if need be, and measures how long its daemon takes to respond. */
  host(host: string, options: CallOptions = {}): Promise<hosts.NativeCheckedHost> {
    return this.#http.perform("showHost", { host }, {}, options);
  }

  /** What runs there goes on. */
  async removeHost(host: string, options: CallOptions = {}): Promise<void> {
    await this.#http.perform("removeHost", { host }, {}, options);
  }

  /** Where people are told what agents need when no page is open. */
  async notifications(options: CallOptions = {}): Promise<readonly notifications.NativeChannel[]> {
    const { channels } = await this.#http.perform<{ channels: notifications.NativeChannel[] }>(
      "listChannels",
      {},
      {},
      options,
    );
    return channels;
  }

  addNotification(
    input: notifications.NativeAddChannel,
    options: CallOptions = {},
  ): Promise<notifications.NativeChannel> {
    return this.#http.perform("addChannel", {}, input, options);
  }

  /** Resolves when the address has taken a test. */
  async testNotification(name: string, options: CallOptions = {}): Promise<void> {
    await this.#http.perform("testChannel", { notification: name }, {}, options);
  }

  async removeNotification(name: string, options: CallOptions = {}): Promise<void> {
    await this.#http.perform("removeChannel", { notification: name }, {}, options);
  }

  /** The coding agents that run, on every server; with `text`, those whose screens show it. */
  async agents(
    input: { readonly server?: string; readonly state?: AgentStateName; readonly text?: string } = {},
    options: CallOptions = {},
  ): Promise<readonly NativeAgent[]> {
    return (await this.#http.perform<{ agents: NativeAgent[] }>("listAgents", {}, input, options)).agents;
  }

  /**
   * All agents of this machine: those that run first, then each as it is when it has changed, and the messages for them. After
   * a lost connection it begins anew, with those that run. Ends when the loop is left.
   * @throws TmuxwireError when the daemon refuses; the signal's reason when it aborts
   */
  agentEvents(options: AgentEventsOptions = {}): AsyncGenerator<FollowedAgentEvent, void, void> {
    return followAgents(this.#http, options);
  }

  /** @param agent its name or id */
  agent(agent: string, options: CallOptions = {}): Promise<NativeAgent> {
    return this.#http.perform("showAgent", { agent }, {}, options);
  }

  /** @param agent its name or id @param name unique among the agents that run */
  renameAgent(agent: string, name: string, options: CallOptions = {}): Promise<NativeAgent> {
    return this.#http.perform("renameAgent", { agent }, { name }, options);
  }

  /** Responds when the agent has taken its prompt, or with what stands on its screen. */
  startAgent(
    input: start.NativeStartAgent,
    options: CallOptions & { readonly idempotencyKey?: string } = {},
  ): Promise<start.NativeAgentStarted> {
    return this.#http.perform("startAgent", {}, input, options);
  }

  /** Those that ran when their tmux server ended; with `plan`, only what would be done. */
  async resumeAgents(
    input: start.NativeResumeAgents,
    options: CallOptions = {},
  ): Promise<start.NativeResumedAgents["agents"]> {
    return (await this.#http.perform<start.NativeResumedAgents>("resumeAgents", {}, input, options)).agents;
  }

  /** The worktrees that were made for agents; `perform("removeWorktree", { worktree })` removes one. */
  async worktrees(options: CallOptions = {}): Promise<readonly start.NativeWorktree[]> {
    return (await this.#http.perform<{ worktrees: start.NativeWorktree[] }>("listWorktrees", {}, {}, options))
      .worktrees;
  }

  /** A message for the agent's process alone: it waits on the daemon's disk until the agent takes a prompt. */
  tell(agent: string, text: string, options: TellOptions = {}): Promise<messages.NativeTold> {
    const { signal, idempotencyKey, ...rest } = options;
    const input = { text, ...rest } satisfies messages.NativeTellRequest;
    return this.#http.perform("tell", { agent }, input, { signal, idempotencyKey });
  }

  /** Those that wait, and those that ended within the last day. */
  async messages(agent?: string, options: CallOptions = {}): Promise<readonly messages.NativeMessage[]> {
    const input = agent === undefined ? {} : { agent };
    return (await this.#http.perform<{ messages: messages.NativeMessage[] }>("listMessages", {}, input, options))
      .messages;
  }

  /** What was asked of agents, what they asked, and how it ended; the newest first. */
  timeline(input: timelines.NativeTimelineRequest = {}, options: CallOptions = {}): Promise<timelines.NativeTimeline> {
    return this.#http.perform("timeline", {}, input, options);
  }

  cancelMessage(message: string, options: CallOptions = {}): Promise<messages.NativeMessage> {
    return this.#http.perform("cancelMessage", { message }, {}, options);
  }

  /** Until the first of what is asked for. @throws TmuxwireError TIMEOUT, WRONG_STATE: the agent has ended */
  waitAgent(
    agent: string,
    input: messages.NativeWaitAgentRequest,
    options: CallOptions = {},
  ): Promise<messages.NativeWaitedAgent> {
    return this.#http.perform("waitAgent", { agent }, input, options);
  }

  /** Answers the question that it has open. */
  answerAgent(
    agent: string,
    answer: delivery.NativeChooseRequest["answer"],
    options: ChooseOptions = {},
  ): Promise<delivery.NativeDelivery> {
    const { signal, idempotencyKey, ...rest } = options;
    return this.#http.perform("answerAgent", { agent }, { answer, ...rest }, { signal, idempotencyKey });
  }

  async interruptAgent(agent: string, options: CallOptions = {}): Promise<void> {
    await this.#http.perform("interruptAgent", { agent }, {}, options);
  }

  /** @throws TmuxwireError WRONG_STATE with `details.lost`: what would be lost without `force` */
  endAgent(
    agent: string,
    input: messages.NativeEndAgentRequest = {},
    options: CallOptions = {},
  ): Promise<messages.NativeEndedAgent> {
    return this.#http.perform("endAgent", { agent }, input, options);
  }

  server(name: string): ServerClient {
    return new ServerClient(this.#http, name);
  }

  /** One WebSocket for many panes: cheaper per pane than `follow`, with input on the same connection. */
  openSocket(options: SocketOptions = {}): ClientSocket {
    return new ClientSocket(this.#http, options);
  }
}

export class ServerClient {
  readonly #http: HttpCaller;
  readonly #names: { readonly server: string };
  #layout: LayoutClient | undefined;

  /** The name given to `server()`. */
  get name(): string {
    return this.#names.server;
  }

  constructor(http: HttpCaller, server: string) {
    this.#http = http;
    this.#names = { server };
  }

  /** Operations on windows and panes. */
  get layout(): LayoutClient {
    this.#layout ??= layoutClient(this.#http, this.name);
    return this.#layout;
  }

  /** Another server of the same daemon. */
  on(server: string): ServerClient {
    return new ServerClient(this.#http, server);
  }

  /** Performs any operation by its name in `GET /v1/openapi.json`. The server's name is added if the operation takes one. */
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

  /** @param session exact name, or id (`$3`) */
  async killSession(session: string, options: CallOptions = {}): Promise<void> {
    await this.perform("killSession", { session }, {}, options);
  }

  async windows(options: CallOptions = {}): Promise<readonly NativeWindow[]> {
    return (await this.perform<{ windows: NativeWindow[] }>("listWindows", {}, {}, options)).windows;
  }

  /** All sessions, windows and panes; `events({ after: tree.id })` continues from here. */
  tree(options: CallOptions = {}): Promise<NativeTreeResponse> {
    return this.perform("tree", {}, {}, options);
  }

  /** Changes of sessions, windows and panes; the whole tree comes first. Ends when the loop is left. */
  events(options: ServerEventsOptions = {}): AsyncGenerator<ServerEventWithId, void, void> {
    return followServer(this.#http, ["v1", "servers", this.#names.server, "events"], options);
  }

  async panes(options: CallOptions = {}): Promise<readonly responses.NativePane[]> {
    return (await this.perform<{ panes: responses.NativePane[] }>("listPanes", {}, {}, options)).panes;
  }

  /** @param pane number (5 or `%5`), or a session's name for its active pane */
  pane(pane: number | string): PaneClient {
    return new PaneClient(this.#http, this.#names.server, String(pane));
  }
}

export interface CaptureOptions extends CallOptions {
  readonly lines?: number | undefined;
  readonly joined?: boolean | undefined;
  readonly ansi?: boolean | undefined;
}

/** With `onOutput`, the output is also streamed. */
export interface RunOptions extends CallOptions, Omit<requests.NativeRunRequest, "command">, Partial<RunListener> {}

export interface SubmitOptions extends PerformOptions, Omit<delivery.NativeSubmitRequest, "text"> {}
export interface TellOptions extends PerformOptions, Omit<messages.NativeTellRequest, "text"> {}
export interface ChooseOptions extends PerformOptions, Omit<delivery.NativeChooseRequest, "answer"> {}

export interface InputOptions extends CallOptions {
  /** Only for the program of this profile; refused if another program reads from the pane. */
  readonly profile?: string | undefined;
}

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

  /** Types the parts as one job that other senders cannot interrupt. */
  input(parts: requests.NativeInputPart[], options: InputOptions = {}): Promise<responses.NativeReceipt> {
    const { profile } = options;
    return this.#perform("input", { parts, profile } satisfies requests.NativeInputRequest, options);
  }

  /** Types text byte for byte. */
  type(text: string, options: InputOptions & { readonly enter?: boolean } = {}): Promise<responses.NativeReceipt> {
    return this.input(
      [{ kind: "text", text }, ...(options.enter === true ? [{ kind: "enter" as const }] : [])],
      options,
    );
  }

  /** Presses keys by tmux's key names: `Enter`, `C-c`, `Up`. */
  keys(keys: string[], options: InputOptions = {}): Promise<responses.NativeReceipt> {
    return this.input([{ kind: "keys", keys }], options);
  }

  /** Pastes text, bracketed if the program has enabled bracketed paste. */
  paste(text: string, options: InputOptions & { readonly enter?: boolean } = {}): Promise<responses.NativeReceipt> {
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

  /** Runs a command line in a shell that is at its prompt. */
  run(command: string, options: RunOptions = {}): Promise<responses.NativeRunResponse> {
    const { signal, onOutput, onTyped, onSkipped, ...rest } = options;
    if (onOutput !== undefined) {
      return runAndListen(this.#http, this.#names, { command, ...rest }, { onOutput, onTyped, onSkipped }, signal);
    }
    return this.#perform("run", { command, ...rest } satisfies requests.NativeRunRequest, { signal });
  }

  /**
   * Gives a prompt to the program: types it, waits until the screen shows it, presses Enter and confirms. Read `outcome`.
   * @throws TmuxwireError WRONG_STATE with `details.state` while the program is busy, asks, starts or has ended
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

  /** Interrupts the program's current work. */
  async interrupt(options: CallOptions = {}): Promise<void> {
    await this.#perform("interrupt", {}, options);
  }

  /** Empties the prompt box. */
  async clear(options: CallOptions = {}): Promise<void> {
    await this.#perform("clear", {}, options);
  }

  /** The daemon keeps recording after this client disconnects; `perform("stopRecording", { recording: id })` ends it. */
  startRecording(
    input: recordings.NativeStartRecording = {},
    options: CallOptions = {},
  ): Promise<recordings.NativeRecording> {
    return this.#perform("startRecording", input, options);
  }

  async resize(cols: number, rows: number, options: CallOptions = {}): Promise<void> {
    await this.#perform("resize", { cols, rows } satisfies requests.NativeSize, options);
  }

  /** Follows the pane's output. Ends when the pane does, or when the loop is left. */
  follow(options: FollowOptions = {}): AsyncGenerator<PaneEvent, void, void> {
    const { server, pane } = this.#names;
    return followPane(this.#http, ["v1", "servers", server, "panes", pane, "stream"], options);
  }

  #perform<Output>(name: OperationName, input: object, options: PerformOptions): Promise<Output> {
    return this.#http.perform(name, this.#names, input, options);
  }
}

type CamelCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;

type Run<Name extends LayoutOperationName> = (
  request: NativeLayoutRequest<Name>,
  options?: CallOptions,
) => Promise<NativeLayoutResult>;

/** `newWindow`, `splitWindow` and so on. `respawnPane` responds with a new `pane` id. */
export type LayoutClient = { readonly [Name in LayoutOperationName as CamelCase<Name>]: Run<Name> } & {
  /** By tmux's own name. */
  run<Name extends LayoutOperationName>(name: Name, ...request: Parameters<Run<Name>>): ReturnType<Run<Name>>;
};

/** Operations on windows and panes, each named after its tmux command. A target is an id, a number or a session's name. */
function layoutClient(http: HttpCaller, server: string): LayoutClient {
  const run = (name: LayoutOperationName, request: object, options?: CallOptions): Promise<NativeLayoutResult> =>
    http.perform(name, { server }, request, options);
  const methods = LAYOUT_OPERATION_NAMES.map((name) => [
    name.replaceAll(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase()),
    (request: object, options?: CallOptions) => run(name, request, options),
  ]);
  return { run, ...Object.fromEntries(methods) } as LayoutClient;
}
