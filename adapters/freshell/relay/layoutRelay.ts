/**
 * Relays a request to the device that owns the layout, and its outcome back. Checked in this order: shape, caller, device,
 * permission, idempotency key, presence, requests under way, the audit; then the owner decides about its layout. Nothing is
 * queued or sent twice, and the server never acts in an owner's place.
 */
import * as v from "valibot";
import { parseSnapshot } from "../../../protocol/api/freshell/deviceLayout.ts";
import {
  type OwnerRequest,
  type RpcOutcome,
  type RpcRequest,
  parseRequest,
  revisionSchema,
} from "../../../protocol/api/freshell/rpc.ts";
import { isMutation, parseArgs } from "../../../protocol/api/freshell/rpcCommands.ts";
import { tryParse } from "../../../protocol/api/parse.ts";
import type { Once } from "../../../daemon/ops/once.ts";
import { AppError, toAppError } from "../../../protocol/errors.ts";
import { MAX_REQUESTS, MAX_REQUESTS_PER_OWNER } from "../freshellLimits.ts";
import type { WaitParts } from "../freshellWaits.ts";
import type { AuditLog } from "./auditLog.ts";
import { type HybridCall, mutated, onPane } from "./hybrids.ts";
import { offline } from "./ownerLink.ts";
import { badResult, failure, failureOf } from "./outcomes.ts";
import type { Device, Presence } from "./presence.ts";
import type { RemoteControl } from "./remoteControl.ts";
import { keyOf } from "./resultFile.ts";

interface LayoutRelayOptions {
  readonly presence: Presence;
  readonly remoteControl: RemoteControl;
  readonly results: Once<RpcOutcome>;
  readonly audit: AuditLog;
  readonly parts: WaitParts;
}

/** The requesting client. */
export interface Caller {
  /** From its token or its hello; undefined for the bootstrap token alone, which may act as every device. */
  readonly deviceId: string | undefined;
}

export class LayoutRelay {
  readonly #options: LayoutRelayOptions;
  /** Requests under way, of all owners. */
  #underWay = 0;
  /** `late`: results that came too late. `ignored`: acks and results that nothing had requested. */
  readonly #counts = { ok: 0, error: 0, late: 0, ignored: 0 };

  constructor(options: LayoutRelayOptions) {
    this.#options = options;
  }

  counts(): Readonly<Record<"ok" | "error" | "late" | "ignored", number>> {
    return { ...this.#counts };
  }

  /**
   * Never rejects, and settles even if the caller leaves (`signal`), which ends waits only.
   * @throws AppError INVALID_ARGUMENT when it is not a request
   */
  request(caller: Caller, given: unknown, signal: AbortSignal): Promise<RpcOutcome> {
    return this.#audited(caller, parseRequest(given), signal);
  }

  /** Reads the owner's layout, by a request like any other. */
  read(caller: Caller, device: Device, requestId: string, signal: AbortSignal): Promise<RpcOutcome> {
    const { deviceId } = device;
    const ids = { requestId, callerDeviceId: caller.deviceId ?? deviceId, targetDeviceId: deviceId };
    return this.#audited(caller, { type: "layout.rpc.request", ...ids, command: "read", args: {} }, signal);
  }

  /** A result that came after its request was given up. */
  late(request: OwnerRequest): void {
    this.#counts.late += 1;
    this.#audit(request, { result: "late", errorCode: null, stage: "owner" });
  }

  /** An ack or a result of an owner that nothing had requested. */
  ignored(): void {
    this.#counts.ignored += 1;
  }

  async #audited(caller: Caller, request: RpcRequest, signal: AbortSignal): Promise<RpcOutcome> {
    // A caller that acts as another device is audited under its own id.
    const audited = { ...request, callerDeviceId: caller.deviceId ?? request.callerDeviceId };
    const outcome = await this.#checked(caller, request, audited, signal).catch(failureOf);
    const failed = this.#audit(
      audited,
      outcome.ok
        ? { result: "ok", errorCode: null, stage: null }
        : { result: "error", errorCode: outcome.error.code, stage: outcome.error.stage ?? null },
    );
    const response = failed !== undefined && isMutation(request.command) ? failed : outcome;
    this.#counts[response.ok ? "ok" : "error"] += 1;
    return response;
  }

  /** Undefined when it is written. */
  #audit(...[request, result]: Parameters<AuditLog["end"]>): RpcOutcome | undefined {
    try {
      this.#options.audit.end(request, result);
      return undefined;
    } catch (error) {
      return auditFailure(error);
    }
  }

  async #checked(caller: Caller, request: RpcRequest, audited: RpcRequest, signal: AbortSignal): Promise<RpcOutcome> {
    const { presence, remoteControl, results } = this.#options;
    const { callerDeviceId, targetDeviceId, command } = request;
    if (caller.deviceId !== undefined && caller.deviceId !== callerDeviceId) {
      throw new AppError("UNAUTHORIZED", "callerDeviceId does not match the device of the token or hello");
    }
    parseArgs(command, request.args);
    const device = presence.find(targetDeviceId);
    if (device === undefined) throw new AppError("NOT_FOUND", `there is no device ${targetDeviceId}; list the devices`);
    if (!isMutation(command)) return this.#admitted(device, request, signal);
    if (!remoteControl.allows(device, callerDeviceId)) {
      if (device.owner === undefined) return offline(targetDeviceId);
      throw new AppError(
        "UNAUTHORIZED",
        `the device ${targetDeviceId} does not allow ${callerDeviceId} to change its layout: allow it on that device, or in ~/.freshell/remote-control.json on the server`,
      );
    }
    const perform = async (): Promise<RpcOutcome> => {
      try {
        return await this.#admitted(device, request, signal, () => this.#options.audit.begin(audited));
      } catch (error) {
        return isAuditError(error) ? auditFailure(error) : failureOf(error);
      }
    };
    if (request.idempotencyKey === undefined) return perform();
    const { key, asked } = keyOf(request, request.idempotencyKey);
    return results.run(key, asked, perform);
  }

  async #admitted(
    device: Device,
    request: RpcRequest,
    signal: AbortSignal,
    begin: () => void = () => undefined,
  ): Promise<RpcOutcome> {
    if (device.owner === undefined) return offline(device.deviceId);
    if (device.underWay >= MAX_REQUESTS_PER_OWNER || this.#underWay >= MAX_REQUESTS) return tooMany(device);
    begin();
    const count = (by: number): void => {
      device.underWay += by;
      this.#underWay += by;
    };
    count(1);
    let isFree = false;
    const free = (): void => {
      if (!isFree) count(-1);
      isFree = true;
    };
    try {
      return await this.#perform(device, request, signal, free);
    } finally {
      free();
    }
  }

  async #perform(device: Device, request: RpcRequest, signal: AbortSignal, free: () => void): Promise<RpcOutcome> {
    const { command, args } = request;
    const ask = askOwner(device, request);
    const call = { request, command, args, parts: this.#options.parts, ask } as HybridCall;
    if (call.command === "read") return ownersLayout(device, await ask("read", args));
    if (call.command === "resolve") return ask("resolve", args);
    if (call.command === "send-keys" || call.command === "capture-pane" || call.command === "wait-for")
      return onPane(call, signal, free);
    const outcome = await mutated(call);
    const { workspaceRevision = 0 } = device;
    if (outcome.ok) device.workspaceRevision = Math.max(workspaceRevision, outcome.appliedRevision ?? 0);
    return outcome;
  }
}

/** Sends to the device's connection at that time: it may have reconnected between two phases. */
function askOwner(device: Device, request: RpcRequest): HybridCall["ask"] {
  let frames = 0;
  return (phase, args, reservationId) => {
    const { owner } = device;
    if (owner === undefined) return Promise.resolve(offline(device.deviceId));
    frames += 1;
    const { type, requestId, callerDeviceId, targetDeviceId, command } = request;
    const { expectedRevision, idempotencyKey }: Partial<RpcRequest> = phase === "resolve" ? {} : request;
    return owner.ask({
      type,
      requestId: frames === 1 ? requestId : `${requestId}.${phase}`,
      callerDeviceId,
      targetDeviceId,
      command: phase === "resolve" ? "resolve" : command,
      args,
      expectedRevision,
      idempotencyKey,
      phase,
      reservationId,
    });
  };
}

function tooMany({ underWay }: Device): RpcOutcome {
  const isOwners = underWay >= MAX_REQUESTS_PER_OWNER;
  const max = isOwners ? MAX_REQUESTS_PER_OWNER : MAX_REQUESTS;
  const message = `${max} requests are in progress${isOwners ? " for this device" : ""}; try again`;
  return failure("RESOURCE_LIMIT", message, "relay", { limit: isOwners ? "requestsPerOwner" : "requests", max });
}

const isAuditError = (error: unknown): error is AppError =>
  error instanceof AppError && error.details?.["cause"] === "audit";

/** Keeps the error's message: it says what the person at the server can do. */
function auditFailure(error: unknown): RpcOutcome {
  if (!(error instanceof AppError)) return failureOf(error);
  return failure("INTERNAL_ERROR", error.message, "relay", { ...error.details });
}

const layoutSchema = v.looseObject({
  ownerDeviceId: v.string(),
  workspaceRevision: revisionSchema,
  capturedAt: v.pipe(v.number(), v.finite()),
  snapshot: v.unknown(),
});

/** The result of a `read` unchanged, or why it is invalid: a third-party device may send anything. */
function ownersLayout(device: Device, outcome: RpcOutcome): RpcOutcome {
  if (!outcome.ok) return outcome;
  const parsed = tryParse(layoutSchema, outcome.result);
  if (!parsed.success) return badResult("read must return ownerDeviceId, workspaceRevision, capturedAt and snapshot");
  const { ownerDeviceId, workspaceRevision, snapshot } = parsed.output;
  if (ownerDeviceId !== device.deviceId) return badResult("the layout belongs to another device");
  try {
    parseSnapshot(snapshot);
  } catch (error) {
    return badResult(toAppError(error).message);
  }
  device.workspaceRevision = workspaceRevision;
  return outcome;
}
