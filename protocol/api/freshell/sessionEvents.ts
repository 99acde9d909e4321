/**
 * Events of coding agents' sessions for clients: frames of `/ws`, and entries over HTTP. A program's output is in `content`,
 * `event`, `input`, `arguments`, `output` and `message`: foreign text, to be displayed only as text.
 */
import type { CodingProvider, SessionKind } from "./sessionNames.ts";

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

export type SessionStatus = "starting" | "connected" | "running" | "idle" | "compacting" | "exited";

/** `user` is a person or a tool, `assistant` the program. */
export interface HistoryMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly ContentBlock[];
  /** ISO 8601. */
  readonly timestamp: string;
}

/** A program's request for permission. It stays open until somebody answers it or the program withdraws it. */
export interface PermissionRequest {
  readonly requestId: string;
  readonly subtype: "can_use_tool";
  readonly tool: { readonly name: string; readonly input: Readonly<Record<string, unknown>> };
  readonly toolUseID?: string | undefined;
  /** Suggested values of `updatedPermissions`, with which the program does not ask again. */
  readonly suggestions?: readonly unknown[] | undefined;
  readonly blockedPath?: string | undefined;
  readonly decisionReason?: string | undefined;
}

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
export interface SessionEntry {
  readonly provider: SessionKind;
  /** The program. */
  readonly codingProvider: CodingProvider;
  readonly sessionId: string;
  readonly status: SessionStatus;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly cwd: string;
  readonly model?: string | undefined;
  /** The program's own id, once it has reported it. */
  readonly cliSessionId?: string | undefined;
  /** The program's pid; null once it has ended. */
  readonly pid: number | null;
  readonly exitCode?: number | undefined;
  /** Why it ended unexpectedly: its exit and the end of its standard error, in one line. */
  readonly failure?: string | undefined;
  /** Number of unanswered permission requests. */
  readonly openPermissions: number;
  /** Its kept text, which waits read. */
  readonly bufferRef: { readonly outputSeq: number; readonly tailSeq: number };
}

/** `DELETE /api/agent-sessions/:provider/:id`, once the program is gone. */
export interface SessionKillResponse {
  readonly ok: true;
  /** Null if unknown. */
  readonly exitCode: number | null;
}
