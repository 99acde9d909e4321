/**
 * Streams of the native API: the events of SSE and the messages of the WebSocket (docs/contracts/native.md, "Streams").
 */
import * as v from "valibot";
import { eventIdSchema, fromSchema, inputRequestSchema, type NativeSize, sizeRequestSchema } from "./nativeRequests.ts";
import type { NativeExit, NativeGap, NativeReadiness, NativeSnapshot, NativeWaiting } from "./nativeResponses.ts";
import { STREAM_MAX_CREDIT_BYTES } from "./nativeFrames.ts";
import { whole } from "../described.ts";
import { recognized } from "../parse.ts";
import { isPlainInputMessage } from "../plainInput.ts";
import type { NativeServerEvent } from "./nativeTree.ts";

/** The first event of a subscription; reading starts at its position. */
export interface StreamOpen {
  readonly server: string;
  readonly pane: string;
  readonly position: string;
  readonly cols: number;
  readonly rows: number;
  /** The server is not calm enough to attach to: output begins later, with a gap. */
  readonly waiting?: NativeWaiting | undefined;
}

/** Base64 of input typed through the daemon when the output had reached `position`. */
export interface StreamInput {
  readonly position: string;
  readonly data: string;
  /** Bytes of input before it that this reader missed because it was too slow. */
  readonly missedBytes?: number | undefined;
}

export interface StreamClosed {
  readonly code: string;
  readonly message: string;
}

/** SSE: the `event` names, and their `data` as JSON, except `output`, whose data is base64 and whose id is its end. */
export interface StreamEventData {
  readonly open: StreamOpen;
  readonly gap: NativeGap;
  /** The output that follows continues from it. */
  readonly snapshot: NativeSnapshot;
  readonly resize: NativeSize;
  readonly exit: NativeExit;
  /** Only on request. */
  readonly input: StreamInput;
  /** Only on request: the current state, then every change. */
  readonly readiness: NativeReadiness;
  readonly closed: StreamClosed;
}

const id = whole(0, Number.MAX_SAFE_INTEGER);
const channel = whole(0, 4_294_967_295);
const creditBytes = whole(1, STREAM_MAX_CREDIT_BYTES);
const ofPane = { server: v.string(), pane: v.string() };

const streamRequest = v.variant("type", [
  v.strictObject({
    type: v.literal("subscribe"),
    id,
    ...ofPane,
    from: v.optional(fromSchema),
    creditBytes: v.optional(creditBytes),
    readiness: v.optional(v.boolean()),
    input: v.optional(v.boolean()),
  }),
  v.strictObject({ type: v.literal("unsubscribe"), id, channel }),
  v.strictObject({ type: v.literal("credit"), channel, bytes: creditBytes }),
  v.strictObject({
    type: v.literal("follow-events"),
    id,
    server: v.string(),
    after: v.optional(eventIdSchema),
    readiness: v.optional(v.boolean()),
    agents: v.optional(v.boolean()),
  }),
  v.strictObject({ type: v.literal("unfollow-events"), id, server: v.string() }),
  v.strictObject({ type: v.literal("input"), id, ...ofPane, ...inputRequestSchema.entries }),
  v.strictObject({ type: v.literal("resize"), id, ...ofPane, ...sizeRequestSchema.entries }),
  /** Any operation of the API by its `operationId`. The other names say its target. */
  v.strictObject({
    type: v.literal("call"),
    id,
    operation: v.string(),
    server: v.optional(v.string()),
    session: v.optional(v.string()),
    pane: v.optional(v.string()),
    recording: v.optional(v.string()),
    agent: v.optional(v.string()),
    worktree: v.optional(v.string()),
    message: v.optional(v.string()),
    host: v.optional(v.string()),
    notification: v.optional(v.string()),
    /** Validated by the operation. */
    input: v.optional(v.unknown()),
    idempotencyKey: v.optional(v.string()),
  }),
  /** Cancels the call of this id; its response follows. */
  v.strictObject({ type: v.literal("cancel"), id }),
]);
/** The messages of a client. The response repeats `id`; `channel` comes from `subscribed`. */
export const streamRequestSchema = recognized(streamRequest, isPlainInputMessage);
export type StreamRequest = v.InferInput<typeof streamRequestSchema>;
export type StreamRequestOf<Type extends StreamRequest["type"]> = Extract<StreamRequest, { type: Type }>;

/** The daemon's text messages. `ack`, `result` and `error` with an `id` respond to the request with that id. */
export type StreamMessage =
  | ({ readonly type: "subscribed"; readonly id: number; readonly channel: number } & StreamOpen)
  /** The response to a call. */
  | { readonly type: "result"; readonly id: number; readonly output: object }
  | { readonly type: "ack"; readonly id: number; readonly position?: string | undefined }
  | {
      readonly type: "error";
      readonly id: number | null;
      readonly code: string;
      readonly message: string;
      readonly details?: Readonly<Record<string, unknown>> | undefined;
    }
  | ({ readonly type: "gap"; readonly channel: number } & NativeGap)
  | ({ readonly type: "snapshot"; readonly channel: number } & NativeSnapshot)
  | ({ readonly type: "resize"; readonly channel: number } & NativeSize)
  | ({ readonly type: "exit"; readonly channel: number } & NativeExit)
  | ({ readonly type: "input"; readonly channel: number } & StreamInput)
  | ({ readonly type: "readiness"; readonly channel: number } & NativeReadiness)
  | ({ readonly type: "closed"; readonly channel: number } & StreamClosed)
  | ServerEventMessage;

/** An event of a followed server; the last one is `closed`. */
interface ServerEventMessage {
  readonly type: "server-event";
  readonly server: string;
  /** Resume after this. */
  readonly eventId: string;
  readonly event: NativeServerEvent;
}
