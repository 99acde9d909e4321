/**
 * Events of coding agents' sessions for clients: frames of `/ws`, and entries over HTTP. A program's output is in `content`,
 * `event`, `input`, `arguments`, `output` and `message`: foreign text, to be displayed only as text.
 */
import * as v from "valibot";
import { CODING_PROVIDERS, type CodingProvider, SESSION_KINDS } from "./sessionNames.ts";

/** A part of a message, as its program sends it; unknown kinds from later versions are passed on. */
export type ContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string }
  | {
      readonly type: "tool_use";
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
    }
  | {
      readonly type: "tool_result";
      readonly tool_use_id: string;
      readonly content?: string | readonly unknown[] | undefined;
      readonly is_error?: boolean | undefined;
    };

/** Tokens, as the program counts them. */
export interface SessionUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_creation_input_tokens?: number | undefined;
  readonly cache_read_input_tokens?: number | undefined;
}

const SESSION_STATUSES = ["starting", "connected", "running", "idle", "compacting", "exited"] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];

/** `user` is a person or a tool, `assistant` the program. */
export interface HistoryMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly ContentBlock[];
  /** ISO 8601. */
  readonly timestamp: string;
}

/** A program's request for permission. It stays open until somebody answers it or the program withdraws it. */
export const permissionRequestSchema = v.strictObject({
  requestId: v.string(),
  subtype: v.literal("can_use_tool"),
  tool: v.strictObject({
    name: v.string(),
    input: v.record(v.string(), v.unknown()),
  }),
  toolUseID: v.optional(v.string()),
  /** Suggested values of `updatedPermissions`, with which the program does not ask again. */
  suggestions: v.optional(v.pipe(v.array(v.unknown()), v.readonly())),
  blockedPath: v.optional(v.string()),
  decisionReason: v.optional(v.string()),
});
export type PermissionRequest = Readonly<v.InferOutput<typeof permissionRequestSchema>>;

/** An event of an `sdk` session; with `sessionId` added, it is a frame to all attached clients. */
export type SdkEvent =
  | {
      readonly type: "sdk.session.init";
      /** The program's own id, for `resumeSessionId`. Unknown before the first message. */
      readonly cliSessionId?: string | undefined;
      readonly model?: string | undefined;
      readonly cwd?: string | undefined;
      readonly tools?: readonly { readonly name: string }[] | undefined;
    }
  /** A piece of a message that is being generated: an event of Anthropic's Messages API. */
  | { readonly type: "sdk.stream"; readonly event: unknown; readonly parentToolUseId: string | null }
  | {
      readonly type: "sdk.assistant";
      readonly content: readonly ContentBlock[];
      readonly model?: string | undefined;
      readonly usage?: SessionUsage | undefined;
    }
  /** Our addition: tool results, and messages from other clients than the reader. */
  | { readonly type: "sdk.user"; readonly content: readonly ContentBlock[] }
  | ({ readonly type: "sdk.permission.request" } & PermissionRequest)
  /** An answer is no longer needed: the program withdrew the request or has ended, or somebody else has answered. */
  | { readonly type: "sdk.permission.cancelled"; readonly requestId: string }
  | {
      readonly type: "sdk.result";
      /** How the turn ended: `success`, `error_during_execution`, … */
      readonly result?: string | undefined;
      readonly durationMs?: number | undefined;
      readonly costUsd?: number | undefined;
      readonly usage?: SessionUsage | undefined;
    }
  | { readonly type: "sdk.status"; readonly status: SessionStatus }
  | { readonly type: "sdk.error"; readonly message: string }
  /** 128 plus the signal's number for a killed program. */
  | { readonly type: "sdk.exit"; readonly exitCode?: number | undefined };

/** An event of a `codingcli` session, the same for every program. */
export interface NormalizedEvent {
  readonly type:
    | "session.start"
    | "session.end"
    | "message.user"
    | "message.assistant"
    | "reasoning"
    | "tool.call"
    | "tool.result"
    | "token.usage"
    | "error";
  /** ISO 8601. */
  readonly timestamp: string;
  /** Our id, not the program's. */
  readonly sessionId: string;
  readonly provider: CodingProvider;
  /** Counts from 1. */
  readonly sequenceNumber: number;
  /** Exactly one of the following, by the type. */
  readonly session?: {
    readonly provider: CodingProvider;
    /** The program's own id, for `resumeSessionId`. */
    readonly providerSessionId?: string | undefined;
    readonly cwd?: string | undefined;
    readonly model?: string | undefined;
    readonly tools?: readonly string[] | undefined;
  };
  readonly message?: { readonly role: "user" | "assistant"; readonly content: string };
  readonly reasoning?: string;
  readonly tool?: {
    readonly callId: string;
    readonly name: string;
    readonly arguments?: unknown;
    readonly output?: string | undefined;
    readonly isError?: boolean | undefined;
    readonly exitCode?: number | undefined;
  };
  readonly tokens?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cachedTokens?: number | undefined;
    /** USD. */
    readonly totalCost?: number | undefined;
  };
  readonly error?: { readonly message: string; readonly recoverable: boolean };
}

export type SessionServerMessage =
  | { readonly type: "sdk.created"; readonly requestId: string; readonly sessionId: string }
  /** All messages, or the newest part. The open permission requests follow unchanged. */
  | { readonly type: "sdk.history"; readonly sessionId: string; readonly messages: readonly HistoryMessage[] }
  | { readonly type: "sdk.killed"; readonly sessionId: string; readonly success: boolean }
  | (SdkEvent & { readonly sessionId: string })
  | {
      readonly type: "codingcli.created";
      readonly requestId: string;
      readonly sessionId: string;
      readonly provider: CodingProvider;
    }
  | {
      readonly type: "codingcli.event";
      readonly sessionId: string;
      readonly provider: CodingProvider;
      readonly event: NormalizedEvent;
    }
  | {
      readonly type: "codingcli.stderr";
      readonly sessionId: string;
      readonly provider: CodingProvider;
      readonly text: string;
    }
  | {
      readonly type: "codingcli.exit";
      readonly sessionId: string;
      readonly provider: CodingProvider;
      /** 128 plus the signal's number for a killed program. */
      readonly exitCode: number;
    }
  | { readonly type: "codingcli.killed"; readonly sessionId: string; readonly success: boolean };

/** A session in listings and responses; times are Unix milliseconds. */
export const sessionEntrySchema = v.strictObject({
  provider: v.picklist(SESSION_KINDS),
  /** The program. */
  codingProvider: v.picklist(CODING_PROVIDERS),
  sessionId: v.string(),
  status: v.picklist(SESSION_STATUSES),
  createdAt: v.number(),
  updatedAt: v.number(),
  cwd: v.string(),
  model: v.optional(v.string()),
  /** The program's own id, once it has reported it. */
  cliSessionId: v.optional(v.string()),
  /** The program's pid; null once it has ended. */
  pid: v.nullable(v.number()),
  exitCode: v.optional(v.number()),
  /** Why it ended unexpectedly: its exit and the end of its standard error, in one line. */
  failure: v.optional(v.string()),
  /** Number of unanswered permission requests. */
  openPermissions: v.number(),
  /** Its kept text, which waits read. */
  bufferRef: v.strictObject({
    outputSeq: v.number(),
    tailSeq: v.number(),
  }),
});
export type SessionEntry = Readonly<v.InferOutput<typeof sessionEntrySchema>>;

/** `DELETE /api/agent-sessions/:provider/:id`, once the program is gone. */
export const sessionKillResponseSchema = v.strictObject({
  ok: v.literal(true),
  /** Null if unknown. */
  exitCode: v.nullable(v.number()),
});
export type SessionKillResponse = Readonly<v.InferOutput<typeof sessionKillResponseSchema>>;
