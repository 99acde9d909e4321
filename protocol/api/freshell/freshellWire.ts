/**
 * The frames of `/ws`, with upstream's names where they exist; `outputSeq`, gaps and waits are ours. One schema per client
 * message. Unknown fields are ignored, as in upstream, because pages of later versions send more.
 */
import * as v from "valibot";
import { wellFormedText } from "../../text/wellFormed.ts";
import { filled } from "../described.ts";
import type { FaultStage, FreshellErrorCode, FreshellFault } from "./freshellErrors.ts";
import {
  colsSchema,
  deviceSchema,
  type FreshellWaitResponse,
  rowsSchema,
  type TerminalEntry,
  terminalOptions,
  waitOptions,
} from "./freshellHttp.ts";
import { DEVICE_MESSAGES, type OwnerRequest, type PresenceMessage, type RpcResultMessage } from "./rpc.ts";
import { messages } from "./schemaParts.ts";
import type { SessionServerMessage } from "./sessionEvents.ts";
import { SESSION_MESSAGES } from "./sessions.ts";

/** Longest client message: a snapshot of 1 MiB with its envelope. A longer one closes the connection with 1009. */
export const FRESHELL_MAX_MESSAGE_BYTES = 1_114_112;

/** Why `/ws` was closed. */
export const CLOSE_CODES = {
  NOT_AUTHENTICATED: 4_001,
  HELLO_TIMEOUT: 4_002,
  MAX_CONNECTIONS: 4_003,
  BACKPRESSURE: 4_008,
  SERVER_SHUTDOWN: 4_009,
  PROTOCOL_MISMATCH: 4_010,
  /** Another connection is now this device's owner. */
  DEVICE_SUPERSEDED: 4_011,
  /** The owner was silent for too long. */
  PRESENCE_EXPIRED: 4_012,
} as const;

/** Without these a client is refused (seed 002 §13.3). */
export const REQUIRED_CAPABILITIES = ["layoutOwnershipV1", "layoutRpcV1", "devicePresenceV1"] as const;

const requestId = filled(256);
const ofTerminal = { terminalId: v.pipe(v.string(), v.nonEmpty()) };

const hello = {
  token: v.optional(v.string()),
  // The values are checked after the token.
  capabilities: v.optional(v.record(v.string(), v.unknown())),
  client: v.optional(v.object({ mobile: v.optional(v.boolean()) })),
  sessions: v.optional(
    v.object({
      active: v.optional(v.string()),
      visible: v.optional(v.array(v.string())),
      background: v.optional(v.array(v.string())),
    }),
  ),
  device: v.optional(v.object({ ...deviceSchema, role: v.picklist(["owner", "caller"]) })),
};

/** By their `type`. */
export const CLIENT_MESSAGES = {
  ...messages({
    hello,
    ping: {},
    "terminal.create": {
      requestId,
      ...terminalOptions,
      /** A reconnecting page recreates its terminals, so the rate limit does not apply. */
      restore: v.optional(v.boolean()),
    },
    "terminal.attach": ofTerminal,
    "terminal.detach": ofTerminal,
    "terminal.input": { ...ofTerminal, data: wellFormedText },
    "terminal.resize": { ...ofTerminal, cols: colsSchema, rows: rowsSchema },
    "terminal.kill": ofTerminal,
    "terminal.list": { requestId },
    "terminal.meta.list": { requestId },
    "wait.start": { requestId, ...waitOptions },
    "wait.cancel": { requestId },
  }),
  ...DEVICE_MESSAGES,
  ...SESSION_MESSAGES,
};

export type ClientMessageType = keyof typeof CLIENT_MESSAGES;
export type ClientMessage = {
  [Type in ClientMessageType]: v.InferOutput<(typeof CLIENT_MESSAGES)[Type]>;
}[ClientMessageType];
export type ClientMessageOf<Type extends ClientMessageType> = Extract<ClientMessage, { type: Type }>;
export type HelloMessage = ClientMessageOf<"hello">;

/** Missing output: from where, to where, and why. */
interface OutputGap {
  readonly from: number;
  readonly to: number;
  readonly reason: string;
}

interface TerminalMeta {
  readonly terminalId: string;
  readonly cwd: string;
  readonly updatedAt: number;
}

export type ServerMessage =
  | {
      readonly type: "ready";
      readonly timestamp: string;
      readonly serverInstanceId: string;
      readonly presenceTtlMs: number;
      readonly heartbeatIntervalMs: number;
      readonly device?: { readonly deviceId: string; readonly role: "owner" | "caller"; readonly online: boolean };
    }
  | { readonly type: "pong"; readonly timestamp: string }
  | {
      readonly type: "error";
      readonly code: FreshellErrorCode;
      readonly message: string;
      readonly requestId?: string | undefined;
      readonly terminalId?: string | undefined;
      readonly sessionId?: string | undefined;
      readonly timestamp: string;
      readonly details?: Readonly<Record<string, unknown>> | undefined;
      readonly stage?: FaultStage | undefined;
    }
  | {
      readonly type: "terminal.created";
      readonly requestId: string;
      readonly terminalId: string;
      readonly createdAt: number;
      readonly outputSeq?: number;
      readonly snapshot?: string;
      readonly snapshotChunked?: true;
    }
  | {
      readonly type: "terminal.attached";
      readonly terminalId: string;
      readonly snapshot: string;
      readonly outputSeq: number;
    }
  | {
      readonly type: "terminal.attached.start";
      readonly terminalId: string;
      readonly totalCodeUnits: number;
      readonly totalChunks: number;
      readonly outputSeq: number;
    }
  | { readonly type: "terminal.attached.chunk"; readonly terminalId: string; readonly chunk: string }
  | {
      readonly type: "terminal.attached.end";
      readonly terminalId: string;
      readonly totalCodeUnits: number;
      readonly totalChunks: number;
      readonly outputSeq: number;
    }
  | { readonly type: "terminal.detached"; readonly terminalId: string }
  | {
      readonly type: "terminal.output";
      readonly terminalId: string;
      readonly data: string;
      /** The position after `data`. */
      readonly outputSeq: number;
      readonly gap?: OutputGap;
    }
  | { readonly type: "terminal.exit"; readonly terminalId: string; readonly exitCode: number | null }
  | { readonly type: "terminal.list.updated" }
  | {
      readonly type: "terminal.list.response";
      readonly requestId: string;
      readonly terminals: readonly TerminalEntry[];
    }
  | {
      readonly type: "terminal.meta.list.response";
      readonly requestId: string;
      readonly terminals: readonly TerminalMeta[];
    }
  | {
      readonly type: "wait.result";
      readonly requestId: string;
      readonly ok: true;
      readonly result: FreshellWaitResponse;
    }
  | { readonly type: "wait.result"; readonly requestId: string; readonly ok: false; readonly error: FreshellFault }
  | PresenceMessage
  | OwnerRequest
  | RpcResultMessage
  | SessionServerMessage;
