/**
 * Streams of the native API: the events of SSE and the messages of the WebSocket (docs/contracts/native.md, "Streams").
 */
import * as v from "valibot";
import { eventIdSchema, fromSchema, inputRequestSchema, sizeRequestSchema } from "./nativeRequests.ts";
import type { NativeExit, NativeGap, NativeReadiness } from "./nativeResponses.ts";
import { recognized } from "./parse.ts";
import { isPlainInputMessage } from "./plainInput.ts";
import type { NativeServerEvent } from "./nativeTree.ts";

/** First event of a subscription; reading begins at its position. */
export interface StreamOpen {
  readonly server: string;
  readonly pane: string;
  readonly position: string;
  readonly cols: number;
  readonly rows: number;
}

/** Base64 ANSI that rebuilds the screen at `position`; the output that follows continues from it. */
export interface StreamSnapshot {
  readonly position: string;
  readonly exact: boolean;
  readonly cols: number;
  readonly rows: number;
  readonly alternateScreen: boolean;
  readonly data: string;
}

/** Base64 of what was typed through the daemon when the output had reached `position`. */
export interface StreamInput {
  readonly position: string;
  readonly data: string;
  /** Bytes before it that this reader was too slow for. */
  readonly missedBytes?: number | undefined;
}

interface StreamResize {
  readonly cols: number;
  readonly rows: number;
}

export interface StreamClosed {
  readonly code: string;
  readonly message: string;
}

/** SSE: `event` names and what `data` holds as JSON, except `output`, whose data is base64 and whose id is its end. */
export interface StreamEventData {
  readonly open: StreamOpen;
  readonly gap: NativeGap;
  readonly snapshot: StreamSnapshot;
  readonly resize: StreamResize;
  readonly exit: NativeExit;
  /** Only for those who ask. */
  readonly input: StreamInput;
  /** Only on request: the state at the beginning, then every change. */
  readonly readiness: NativeReadiness;
  readonly closed: StreamClosed;
}

const id = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER));
const channel = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(4_294_967_295));

const streamRequest = v.variant("type", [
  v.strictObject({
    type: v.literal("subscribe"),
    id,
    server: v.string(),
    pane: v.string(),
    from: v.optional(fromSchema),
    creditBytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_073_741_824))),
    readiness: v.optional(v.boolean()),
    input: v.optional(v.boolean()),
  }),
  v.strictObject({ type: v.literal("unsubscribe"), id, channel }),
  v.strictObject({
    type: v.literal("credit"),
    channel,
    bytes: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_073_741_824)),
  }),
  v.strictObject({
    type: v.literal("follow-events"),
    id,
    server: v.string(),
    after: v.optional(eventIdSchema),
    readiness: v.optional(v.boolean()),
  }),
  v.strictObject({ type: v.literal("unfollow-events"), id, server: v.string() }),
  v.strictObject({
    type: v.literal("input"),
    id,
    server: v.string(),
    pane: v.string(),
    parts: inputRequestSchema.entries.parts,
  }),
  v.strictObject({
    type: v.literal("resize"),
    id,
    server: v.string(),
    pane: v.string(),
    ...sizeRequestSchema.entries,
  }),
  /** Any operation of the API by its `operationId`. `server`, `session`, `pane` and `recording` name its target. */
  v.strictObject({
    type: v.literal("call"),
    id,
    operation: v.string(),
    server: v.optional(v.string()),
    session: v.optional(v.string()),
    pane: v.optional(v.string()),
    recording: v.optional(v.string()),
    /** Checked by the operation. */
    input: v.optional(v.unknown()),
    idempotencyKey: v.optional(v.string()),
  }),
  /** Cancels the call of this id; its response follows. */
  v.strictObject({ type: v.literal("cancel"), id }),
]);
/** What a client sends. `id` comes back in the response; `channel` is given by `subscribed`. */
export const streamRequestSchema = recognized(streamRequest, isPlainInputMessage);
export type StreamRequest = v.InferInput<typeof streamRequestSchema>;

/** What the daemon sends as text. `ack`, `result` and `error` with an `id` respond to the request of that id. */
export type StreamMessage =
  | ({ readonly type: "subscribed"; readonly id: number; readonly channel: number } & StreamOpen)
  /** For a call. */
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
  | ({ readonly type: "snapshot"; readonly channel: number } & StreamSnapshot)
  | ({ readonly type: "resize"; readonly channel: number } & StreamResize)
  | ({ readonly type: "exit"; readonly channel: number } & NativeExit)
  | ({ readonly type: "input"; readonly channel: number } & StreamInput)
  | ({ readonly type: "readiness"; readonly channel: number } & NativeReadiness)
  | ({ readonly type: "closed"; readonly channel: number } & StreamClosed)
  | ServerEventMessage;

/** An event of a server, for those who follow them; the last one is `closed`. */
interface ServerEventMessage {
  readonly type: "server-event";
  readonly server: string;
  /** Where to continue after it. */
  readonly eventId: string;
  readonly event: NativeServerEvent;
}
