/**
 * The layout plane on the wire (seed 002 §9): what a caller asks, what an owner is sent and returns, who is online. A
 * request with unknown fields is refused; an owner's result may have more, which is passed on.
 *
 * A mutation that needs a process comes to the owner in phases. `reserve` checks the revision and fixes place and
 * ids; nobody sees it, and it expires after `RESERVATION_KEPT_MS`. Then either `finalize`
 * (`{reservationId,contentRef}`), which is checked against the reservation alone, or `compensate` (`{reservationId}`),
 * after which everything is as before. All three carry the caller's `idempotencyKey`: an owner that has finalized it
 * already returns that result for `reserve`, which has an `appliedRevision` and no `reservationId`. Each frame to an
 * owner has its own `requestId`: the caller's, or one that begins with it.
 */
import * as v from "valibot";
import { tryParse } from "../parse.ts";
import { AppError } from "../../errors.ts";
import { type FreshellFault, OPERATION_ERROR_CODES, type OperationErrorCode } from "./freshellErrors.ts";
import { DEVICE_ID } from "./freshellHttp.ts";
import { checkedObject, isMutation, needsKey, RPC_ARGS, type RpcCommand } from "./rpcCommands.ts";
import type { LayoutSnapshot } from "./deviceLayout.ts";
import { anObject, atMost, messages, notEmpty, sentText } from "./schemaParts.ts";

const MAX_REQUEST_ID_CHARS = 256;
const MAX_IDEMPOTENCY_KEY_CHARS = 128;
/** How long an owner keeps a reservation. */
export const RESERVATION_KEPT_MS = 30_000;

/** What a frame to the owner asks for. */
const RPC_PHASES = ["apply", "reserve", "finalize", "compensate", "resolve", "read"] as const;
export type RpcPhase = (typeof RPC_PHASES)[number];

const visible = v.regex<string, string>(/^\P{C}*$/u, "must not hold control characters");
export const requestIdSchema = v.pipe(v.string("must be text"), notEmpty, atMost(MAX_REQUEST_ID_CHARS), visible);
const deviceId = v.pipe(v.string("must be text"), v.regex(DEVICE_ID, "is 1 to 64 letters, digits, _ and -"));
export const revisionSchema = v.pipe(
  v.number("must be a number"),
  v.safeInteger("must be a whole number"),
  v.minValue(0, "must not be below 0"),
);

const requestSchema = v.strictObject({
  type: v.literal("layout.rpc.request", "must be layout.rpc.request"),
  requestId: requestIdSchema,
  callerDeviceId: deviceId,
  targetDeviceId: deviceId,
  // Own properties only: an inherited name is no command.
  command: v.pipe(
    v.string("must be text"),
    v.check((name) => Object.hasOwn(RPC_ARGS, name), "is no command of a layout"),
  ),
  args: v.looseObject({}, "must be an object"),
  expectedRevision: v.optional(revisionSchema),
  idempotencyKey: v.optional(v.pipe(sentText, atMost(MAX_IDEMPOTENCY_KEY_CHARS), visible)),
});

/** A caller's request. */
export interface RpcRequest {
  readonly type: "layout.rpc.request";
  readonly requestId: string;
  readonly callerDeviceId: string;
  readonly targetDeviceId: string;
  readonly command: RpcCommand;
  readonly args: Readonly<Record<string, unknown>>;
  /** For every mutation. */
  readonly expectedRevision?: number | undefined;
  /** For `new-tab`, `split-pane`, `attach-terminal`, `respawn-pane`; optional for others. */
  readonly idempotencyKey?: string | undefined;
}

/** @throws AppError INVALID_ARGUMENT. `parseArgs` checks its `args`. */
export function parseRequest(given: unknown): RpcRequest {
  const request = checkedObject(requestSchema, given) as RpcRequest;
  const { command, expectedRevision, idempotencyKey } = request;
  if (isMutation(command) && expectedRevision === undefined) {
    throw invalid(`expectedRevision: ${command} changes the layout; name the revision that it is meant for`);
  }
  if (needsKey(command) && idempotencyKey === undefined) {
    throw invalid(`idempotencyKey: ${command} needs a key, so that it is done once however often it is asked for`);
  }
  return request;
}

/** What an owner gets: a caller's request, and what the server adds. */
export interface OwnerRequest extends RpcRequest {
  readonly phase: RpcPhase;
  /** For `finalize` and `compensate`, in `args` too. */
  readonly reservationId?: string | undefined;
  /**
   * Milliseconds from its arrival until nobody waits for the result any longer; relative, because clocks of devices
   * differ.
   */
  readonly deadlineMs: number;
}

/** An error in a result; the revision is in `details` too. */
export interface RpcFault extends FreshellFault<OperationErrorCode> {
  readonly currentRevision?: number | undefined;
}

export interface RpcSuccess {
  readonly ok: true;
  readonly result: Readonly<Record<string, unknown>>;
  readonly appliedRevision?: number | undefined;
}
export interface RpcFailure {
  readonly ok: false;
  readonly error: RpcFault;
}
export type RpcOutcome = RpcSuccess | RpcFailure;
export type RpcResultMessage = { readonly type: "layout.rpc.result"; readonly requestId: string } & RpcOutcome;

const MAX_OWNER_MESSAGE_CHARS = 1_000;
const faultSchema = v.looseObject({
  code: v.picklist(OPERATION_ERROR_CODES),
  message: v.pipe(v.string(), v.maxLength(MAX_OWNER_MESSAGE_CHARS)),
  details: v.optional(anObject),
  currentRevision: v.optional(revisionSchema),
});
const resultSchema = v.union([
  v.looseObject({
    ok: v.literal(true),
    result: anObject,
    appliedRevision: v.optional(revisionSchema),
    error: v.optional(v.never()),
  }),
  v.looseObject({ ok: v.literal(false), error: faultSchema, result: v.optional(v.never()) }),
]);

/** An owner's outcome; undefined when it is invalid. */
export function parseOutcome(given: unknown): RpcOutcome | undefined {
  const parsed = tryParse(resultSchema, given);
  if (!parsed.success) return undefined;
  const { output } = parsed;
  if (!output.ok) return { ok: false, error: output.error };
  const { result, appliedRevision } = output;
  return { ok: true, result, appliedRevision };
}

/** The frames of devices, by their `type`; the content of requests, results and snapshots is checked later. */
export const DEVICE_MESSAGES = messages({
  "device.presence": {
    deviceId,
    workspaceRevision: v.optional(revisionSchema),
    /** Who else may change this device's layout: ids of devices, or `*`. Replaces the previous list. */
    remoteControl: v.optional(
      v.object({
        allow: v.pipe(
          v.array(v.union([v.literal("*"), deviceId], "must be ids of devices, or *")),
          v.maxLength(1_000, "has at most 1000 devices"),
        ),
      }),
    ),
  },
  "layout.rpc.request": { requestId: requestIdSchema },
  "layout.rpc.ack": { requestId: requestIdSchema, targetDeviceId: v.optional(deviceId) },
  "layout.rpc.result": { requestId: requestIdSchema },
  "layout.snapshot.updated": {
    ownerDeviceId: deviceId,
    workspaceRevision: revisionSchema,
    capturedAt: v.pipe(v.number(), v.finite()),
    snapshot: anObject,
  },
});

/** Sent to everybody when a device comes or goes. */
export interface PresenceMessage {
  readonly type: "device.presence";
  readonly deviceId: string;
  readonly deviceLabel: string;
  readonly deviceType: "browser" | "cli";
  readonly online: boolean;
  readonly lastSeenAt: number;
  readonly timestamp: string;
}

/** Times are Unix milliseconds. */
export const deviceEntrySchema = v.strictObject({
  deviceId: v.string(),
  deviceLabel: v.string(),
  deviceType: v.picklist(["browser", "cli"]),
  online: v.boolean(),
  lastSeenAt: v.number(),
  /** Null when no layout of it is known. */
  workspaceRevision: v.nullable(v.number()),
});
export type DeviceEntry = Readonly<v.InferOutput<typeof deviceEntrySchema>>;

/** `GET /api/devices/:id/layout`. */
export interface DeviceLayoutResponse {
  readonly source: "live" | "cache";
  readonly ownerDeviceId: string;
  readonly capturedAt: number;
  readonly ownerOnline: boolean;
  readonly ownerLastSeenAt: number;
  readonly workspaceRevision: number;
  readonly snapshot: LayoutSnapshot;
}
/** The same as it is sent: the owner's fields may be more. */
export const deviceLayoutSchema = v.looseObject({
  source: v.picklist(["live", "cache"]),
  ownerDeviceId: v.string(),
  capturedAt: v.number(),
  ownerOnline: v.boolean(),
  ownerLastSeenAt: v.number(),
  workspaceRevision: v.number(),
  snapshot: anObject,
});

/** An outcome as it is sent: over HTTP with the status of its code. */
export const rpcSuccessSchema = v.strictObject({
  type: v.literal("layout.rpc.result"),
  requestId: v.string(),
  ok: v.literal(true),
  result: anObject,
  appliedRevision: v.optional(revisionSchema),
});
export const rpcFailureSchema = v.strictObject({
  type: v.literal("layout.rpc.result"),
  requestId: v.string(),
  ok: v.literal(false),
  error: v.strictObject({
    code: v.picklist(OPERATION_ERROR_CODES),
    message: v.string(),
    details: v.optional(anObject),
    stage: v.optional(v.picklist(["relay", "owner"])),
    currentRevision: v.optional(revisionSchema),
  }),
});

const invalid = (message: string): AppError => new AppError("INVALID_ARGUMENT", message);
