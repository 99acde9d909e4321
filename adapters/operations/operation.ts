/**
 * What an operation is: `(context, target, input) → output` with a schema for what goes in and what comes out, the errors it
 * can end in and words for people. HTTP, WebSocket, the command line and every other way to call one are made from these
 * rows; nothing here knows them.
 */
import type * as v from "valibot";
import type { Delivery } from "../../daemon/delivery/delivery.ts";
import type { runCommand } from "../../daemon/shell/runCommand.ts";
import type { RecordingBook, RecordingInfo } from "../../daemon/recordings/recordingBook.ts";
import type { ReadinessWatcher } from "../../daemon/readiness/readiness.ts";
import type { PaneInfo, SessionInfo } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";
import type { Frozen, NativeTreeResponse } from "../../protocol/api/nativeTree.ts";
import type { OperationNames } from "../../protocol/api/operationRoutes.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { Measure } from "./measure.ts";

/** What operations need of the wait manager. */
type OperationWaits = Pick<WaitManager, "wait" | "sendAndWait">;

/** Servers that are there when somebody asks for them. */
export interface OnDemand {
  /** Undefined: there is nothing to wait for. @throws AppError when it may not be reached */
  reach(server: string | undefined): Promise<void> | undefined;
  /** What is open: nobody has configured it, so nobody's health depends on it. */
  readonly opened: ReadonlySet<string>;
}

export interface OperationContext {
  /** By the name under which requests know them. */
  readonly servers: ReadonlyMap<string, TmuxServer>;
  readonly waits: OperationWaits;
  readonly onDemand?: OnDemand | undefined;
  /** Given, because command lines load the table as well: they need no shell's line. */
  readonly runCommand: typeof runCommand;
  readonly clock: Clock;
  readonly measure: Measure;
  /** Absent: readiness is not reported, and waits for it are refused. */
  readonly readiness: ReadinessWatcher | undefined;
  /** Absent: prompts and answers to dialogs are refused. */
  readonly delivery: Delivery | undefined;
  /** Absent: there are none. */
  readonly recordings: RecordingBook | undefined;
  /** Panes in which `run` is at work, each by its server. */
  readonly running: WeakMap<TmuxServer, Set<PaneId>>;
  /** What a server holds, and the event that this is after. */
  readonly treeOf: (server: TmuxServer) => NativeTreeResponse;
}

interface OnServer {
  readonly server: TmuxServer;
  /** As requests know it. */
  readonly serverName: string;
}

/** The same, found. */
export interface Targets {
  readonly daemon: object;
  readonly server: OnServer;
  readonly session: OnServer & { readonly session: SessionInfo };
  readonly pane: OnServer & { readonly pane: PaneInfo };
  readonly recording: { readonly recording: RecordingInfo };
}
export type Scope = keyof Targets;

/** Which names each scope wants, in the order in which they are found. */
export const SCOPE_NAMES = {
  daemon: [],
  server: ["server"],
  session: ["server", "session"],
  pane: ["server", "pane"],
  recording: ["recording"],
} as const satisfies Readonly<Record<Scope, readonly (keyof OperationNames)[]>>;

export interface Call {
  /** Aborts when nobody waits for the output any more. Only operations that may take long look at it. */
  readonly signal?: AbortSignal | undefined;
  /** It had to wait until its server was reached. */
  readonly isLate?: boolean | undefined;
  /** An `idempotent` operation is done once per key. */
  readonly idempotencyKey?: string | undefined;
  /** Called with what a command prints, as it comes; only `run` does. */
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
  /** What else a caller should know. */
  readonly description?: string | undefined;
  readonly scope: S;
  /** Besides the names. */
  readonly input: In;
  readonly output: Out;
  readonly errors: readonly ErrorCode[];
  /** It may take minutes: whoever calls it over a connection must keep that alive. */
  readonly long?: true | undefined;
  /** It can stream its `output` as it comes. */
  readonly streams?: true | undefined;
  /** Under a key it is done once. */
  readonly idempotent?: true | undefined;
  readonly example: { readonly input: Frozen<v.InferInput<In>>; readonly output: Result<Out> };
  /** @throws AppError */
  run(
    context: OperationContext,
    target: Targets[S],
    input: v.InferOutput<In>,
    call: Call,
  ): Result<Out> | Promise<Result<Out>>;
}

/** A row, with its types. */
export const operation = <S extends Scope, In extends v.GenericSchema, Out extends v.GenericSchema>(
  row: Operation<S, In, Out>,
): Operation<S, In, Out> => row;

/** What every operation that reaches tmux can end in. */
export const ON_TMUX = ["NOT_FOUND", "CONNECTION_LOST", "SHUTTING_DOWN"] as const satisfies readonly ErrorCode[];
