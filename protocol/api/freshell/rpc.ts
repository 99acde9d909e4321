/**
 * The layout plane on the wire (seed 002 §9): callers' requests, the frames to owners and their results, presence. A request
 * with unknown fields is refused; further fields of an owner's result are passed on.
 *
 * A mutation that needs a process reaches the owner in phases. `reserve` checks the revision and fixes place and ids; it is
 * invisible, and expires after `RESERVATION_KEPT_MS`. Then follows either `finalize` (`{reservationId,contentRef}`), which is
 * checked only against the reservation, or `compensate` (`{reservationId}`), which undoes it. All three carry the caller's
 * `idempotencyKey`: an owner that has already finalized it returns that result for `reserve`, with an `appliedRevision` and
 * no `reservationId`. Each frame to an owner has its own `requestId`: the caller's, or one that begins with it.
 */
import * as v from "valibot";
import { tryParse } from "../parse.ts";
import { invalidArgument } from "../../errors.ts";
import { type FreshellFault, OPERATION_ERROR_CODES, type OperationErrorCode } from "./freshellErrors.ts";
import { DEVICE_ID } from "./freshellHttp.ts";
import { checkedObject, isMutation, needsKey, RPC_ARGS, type RpcCommand } from "./rpcCommands.ts";
import type { LayoutSnapshot } from "./deviceLayout.ts";
import { anObject, atMost, messages, notEmpty, sentText } from "./schemaParts.ts";

const MAX_REQUEST_ID_CHARS = 256;
const MAX_IDEMPOTENCY_KEY_CHARS = 128;
/** How long an owner keeps a reservation. */
export const RESERVATION_KEPT_MS = 30_000;

/** The phase of a frame to the owner. */
const RPC_PHASES = ["apply", "reserve", "finalize", "compensate", "resolve", "read"] as const;
export type RpcPhase = (typeof RPC_PHASES)[number];

const visible = v.regex<string, string>(/^\P{C}*$/u, "must not contain control characters");
export const requestIdSchema = v.pipe(v.string("must be text"), notEmpty, atMost(MAX_REQUEST_ID_CHARS), visible);
const deviceId = v.pipe(v.string("must be text"), v.regex(DEVICE_ID, "is 1 to 64 letters, digits, _ and -"));
export const revisionSchema = v.pipe(
  v.number("must be a number"),
  v.safeInteger("must be an integer"),
  v.minValue(0, "must not be below 0"),
);

const requestSchema = v.strictObject({
  type: v.literal("layout.rpc.request", "must be layout.rpc.request"),
  requestId: requestIdSchema,
  callerDeviceId: deviceId,
  targetDeviceId: deviceId,
  // Own properties only, because an inherited name is not a command.
  command: v.pipe(
    v.string("must be text"),
    v.guard((name): name is RpcCommand => Object.hasOwn(RPC_ARGS, name), "must be a layout command"),
  ),
  args: v.looseObject({}, "must be an object"),
  /** Required for every mutation. */
  expectedRevision: v.optional(revisionSchema),
  /** Required for `new-tab`, `split-pane`, `attach-terminal`, `respawn-pane`; optional for others. */
  idempotencyKey: v.optional(v.pipe(sentText, atMost(MAX_IDEMPOTENCY_KEY_CHARS), visible)),
});

/** A caller's request. */
export type RpcRequest = Readonly<v.InferOutput<typeof requestSchema>>;

/** @throws AppError INVALID_ARGUMENT. `parseArgs` validates `args`. */
export function parseRequest(given: unknown): RpcRequest {
  const request: RpcRequest = checkedObject(requestSchema, given);
  const { command, expectedRevision, idempotencyKey } = request;
  if (isMutation(command) && expectedRevision === undefined) {
    throw invalidArgument(
      `missing expectedRevision: ${command} changes the layout, so name the revision that it applies to`,
    );
  }
  if (needsKey(command) && idempotencyKey === undefined) {
    throw invalidArgument(
      `missing idempotencyKey: ${command} needs a key, so that a repeated request is performed once`,
    );
  }
  return request;
}

/** The frame to an owner: a caller's request with the server's additions. */
export interface OwnerRequest extends RpcRequest {
  readonly phase: RpcPhase;
  /** For `finalize` and `compensate`; also in `args`. */
  readonly reservationId?: string | undefined;
  /**
   * Milliseconds from its arrival after which nobody waits for the result; relative, because devices' clocks differ.
   */
  readonly deadlineMs: number;
}

/** An error in a result; the revision is also in `details`. */
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

/** An owner's outcome; undefined if it is invalid. */
export function parseOutcome(given: unknown): RpcOutcome | undefined {
  const parsed = tryParse(resultSchema, given);
  if (!parsed.success) return undefined;
  const { output } = parsed;
  if (!output.ok) return { ok: false, error: output.error };
  const { result, appliedRevision } = output;
  return { ok: true, result, appliedRevision };
}

/** The frames of devices, by their `type`; the content of requests, results and snapshots is validated later. */
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

/** Sent to everyone when a device connects or disconnects. */
export interface PresenceMessage extends Omit<DeviceEntry, "workspaceRevision"> {
  readonly type: "device.presence";
  readonly timestamp: string;
}

/** Times are Unix milliseconds. */
export const deviceEntrySchema = v.strictObject({
  deviceId: v.string(),
  deviceLabel: v.string(),
  deviceType: v.picklist(["browser", "cli"]),
  online: v.boolean(),
  lastSeenAt: v.number(),
  /** Null if its layout is unknown. */
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
