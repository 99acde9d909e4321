/**
 * An operation is `(context, target, input) → output` with schemas for its input and output, the errors it can end in, and
 * descriptions for people. HTTP, WebSocket, the command line and every other way to call one are derived from these rows;
 * nothing here knows them.
 */
import type * as v from "valibot";
import type { AgentMessages } from "../agents/messages/agentMessages.ts";
import type { AgentNotifier } from "../agents/notify/agentNotifier.ts";
import type { AgentDirectory } from "../agents/running/agentDirectory.ts";
import type { Timeline } from "../agents/timeline/timeline.ts";
import type { TimelineWay } from "../../protocol/api/native/nativeTimeline.ts";
import type { AgentWork } from "../agents/start/agentWork.ts";
import type { RunningAgent } from "../agents/running/runningAgent.ts";
import type { Delivery } from "../../daemon/delivery/delivery.ts";
import type { runCommand } from "../../daemon/shell/runCommand.ts";
import type { RecordingRegistry, RecordingInfo } from "../../daemon/recordings/recordingRegistry.ts";
import type { ReadinessWatcher } from "../../daemon/readiness/readiness.ts";
import type { PaneInfo, SessionInfo } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";
import type { NativeAddHost, NativeCheckedHost } from "../../protocol/api/native/nativeHosts.ts";
import { emptyRequestSchema } from "../../protocol/api/native/nativeRequests.ts";
import { okSchema } from "../../protocol/api/native/nativeResponses.ts";
import type { Frozen, NativeTreeResponse } from "../../protocol/api/native/nativeTree.ts";
import type { OperationName, OperationNames } from "../../protocol/api/operationRoutes.ts";
import { type ErrorCode, invalidArgument } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { Measure } from "./measure.ts";

/** The part of the wait manager that operations use. */
type OperationWaits = Pick<WaitManager, "wait" | "sendAndWait">;

/** Servers that are opened when a request names them. */
export interface OnDemand {
  /** Undefined: the server needs no opening. @param whileWaiting as in `Call` @throws AppError when it may not be opened */
  reach(server: string | undefined, whileWaiting?: Call["whileWaiting"]): Promise<void> | undefined;
  /** The name of the user's own tmux. */
  readonly usersServer: string;
}

export interface OperationRequest extends Call {
  readonly names: OperationNames;
  readonly input: unknown;
  /** Names and input are already validated. */
  readonly isChecked?: true | undefined;
  /** The caller's id for the request. */
  readonly requestId?: string | undefined;
  /** Another machine's daemon asks: for what is on this machine alone. */
  readonly isOwnOnly?: boolean | undefined;
}

/** Other machines: what is there has a name that ends in `@HOST`. */
export interface Hosts {
  /** Whether another machine has what is named. @throws AppError NOT_FOUND, INVALID_ARGUMENT */
  finds(names: OperationNames): boolean;
  /** Undefined: the request names nothing on another machine. @throws AppError NOT_FOUND, INVALID_ARGUMENT */
  handOver(name: OperationName, request: OperationRequest): Promise<object> | undefined;
  /** The server is one of a machine without a daemon: its programs cannot be seen from here. */
  isAgentless(server: string): boolean;
  /** A list of what is here, with what the other machines have. */
  withTheirs(name: OperationName, request: OperationRequest, here: object): object | Promise<object>;
  /** As they are now; asking takes a bounded time. */
  list(): Promise<readonly NativeCheckedHost[]>;
  /** @throws AppError NOT_FOUND */
  check(host: string, signal: AbortSignal | undefined): Promise<NativeCheckedHost>;
  /** Remembers it, and connects. @throws AppError ALREADY_EXISTS, RESOURCE_LIMIT */
  add(host: NativeAddHost, signal: AbortSignal | undefined): Promise<NativeCheckedHost>;
  /** Nothing of it is left running here. @throws AppError NOT_FOUND */
  remove(host: string): Promise<void>;
}

export interface OperationContext {
  /** By the names used in requests. */
  readonly servers: ReadonlyMap<string, TmuxServer>;
  readonly waits: OperationWaits;
  readonly onDemand?: OnDemand | undefined;
  /** Injected, because command lines load this table too and do not need the code for shells. */
  readonly runCommand: typeof runCommand;
  readonly clock: Clock;
  readonly measure: Measure;
  /** Absent: readiness is not reported, and waits for it are refused. */
  readonly readiness: ReadinessWatcher | undefined;
  /** Absent: prompts and answers to dialogs are refused. */
  readonly delivery: Delivery | undefined;
  /** Absent: this daemon keeps no recordings. */
  readonly recordings: RecordingRegistry | undefined;
  /** Absent: this daemon keeps no list of agents. */
  readonly agents: AgentDirectory | undefined;
  /** Absent: it starts none. */
  readonly agentWork: AgentWork | undefined;
  /** Absent: messages to agents are refused. */
  readonly messages: AgentMessages | undefined;
  /** Absent: no timeline of agents is kept. */
  readonly timeline?: Timeline | undefined;
  /** Absent: this machine alone is served. */
  readonly remote: Hosts | undefined;
  /** Absent: nobody is notified. */
  readonly notifier: AgentNotifier | undefined;
  /** The panes in which a `run` is active, by server. */
  readonly running: WeakMap<TmuxServer, Set<PaneId>>;
  /** A server's tree, and the id of the last event it includes. */
  readonly treeOf: (server: TmuxServer) => NativeTreeResponse;
}

/** What a context may lack. @throws AppError INVALID_ARGUMENT */
export function requirePart<Part>(part: Part | undefined, lack: string): Part {
  if (part !== undefined) return part;
  throw invalidArgument(`this daemon ${lack}`);
}

interface OnServer {
  readonly server: TmuxServer;
  /** The name used in requests. */
  readonly serverName: string;
}

/** The same, resolved to objects. */
export interface Targets {
  readonly daemon: object;
  readonly server: OnServer;
  readonly session: OnServer & { readonly session: SessionInfo };
  readonly pane: OnServer & { readonly pane: PaneInfo };
  readonly recording: { readonly recording: RecordingInfo };
  /** By name or path, found by the operation. */
  readonly worktree: { readonly worktree: string };
  /** It runs, or has ended lately. */
  readonly agent: { readonly agent: RunningAgent; readonly agents: AgentDirectory };
  readonly message: { readonly message: string };
  readonly host: { readonly host: string; readonly hosts: Hosts };
  readonly notification: { readonly channel: string; readonly notifier: AgentNotifier };
}
export type Scope = keyof Targets;

export interface Call {
  /** Aborts when the caller no longer wants the output. Only long operations check it. */
  readonly signal?: AbortSignal | undefined;
  /**
   * For a call that has to wait before it can begin: aborts when the caller leaves. One that has begun is done, unless it is
   * long (`signal`).
   */
  readonly whileWaiting?: (() => AbortSignal) | undefined;
  /** The call had to wait until its server was open. */
  readonly isLate?: boolean | undefined;
  /** By which way it came, for an agent's timeline; default `api`. */
  readonly by?: TimelineWay | undefined;
  /** An `idempotent` operation is done once per key. */
  readonly idempotencyKey?: string | undefined;
  /** Called with a command's output as it comes; used only by `run`. */
  readonly onOutput?: ((bytes: Uint8Array) => void) | undefined;
  /** Called when the command has been typed. */
  readonly onTyped?: (() => void) | undefined;
}

type Result<Out extends v.GenericSchema> = Frozen<v.InferOutput<Out>>;

export interface Operation<
  S extends Scope = Scope,
  In extends v.GenericSchema = v.GenericSchema,
  Out extends v.GenericSchema = v.GenericSchema,
> {
  /** One sentence. */
  readonly summary: string;
  /** Further facts for callers. */
  readonly description?: string | undefined;
  readonly scope: S;
  /** Without the names. */
  readonly input: In;
  readonly output: Out;
  readonly errors: readonly ErrorCode[];
  /** It may take minutes: a caller over a connection must keep that alive. */
  readonly long?: true | undefined;
  /** It can stream its `output` as it comes. */
  readonly streams?: true | undefined;
  /** With an idempotency key it is done once. */
  readonly idempotent?: true | undefined;
  /** The result's text alone; absent: it is JSON for everybody. */
  plainText?(output: Result<Out>, input: v.InferOutput<In>): PlainText;
  readonly example: { readonly input: Frozen<v.InferInput<In>>; readonly output: Result<Out> };
  /** @throws AppError */
  run(
    context: OperationContext,
    target: Targets[S],
    input: v.InferOutput<In>,
    call: Call,
  ): Result<Out> | Promise<Result<Out>>;
}

/** A result for a caller that reads text; headers say what the text does not. */
export interface PlainText {
  readonly text: string | Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

export const POSITION_HEADER = "tmuxwire-position";

/** Makes a row, and keeps its types. */
export const operation = <S extends Scope, In extends v.GenericSchema, Out extends v.GenericSchema>(
  row: Operation<S, In, Out>,
): Operation<S, In, Out> => row;

/** The errors of every operation that reaches tmux. */
export const ON_TMUX = ["NOT_FOUND", "CONNECTION_LOST", "SHUTTING_DOWN"] as const satisfies readonly ErrorCode[];

/** Of an operation that takes nothing and only says that it is done. */
export const JUST_DONE = {
  input: emptyRequestSchema,
  output: okSchema,
  example: { input: {}, output: { ok: true } },
} as const;
