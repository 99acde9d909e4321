/**
 * The connection of a device that owns its layout: its requests and their results. Each request is written once, to this
 * socket only, and settles exactly once: by its result, by a timeout, or by the end of the connection. Nothing is kept for the
 * device's next connection.
 */
import { alignedDeadline } from "../../../daemon/time/alignedDeadline.ts";
import { CLOSE_CODES } from "../../../protocol/api/freshell/freshellWire.ts";
import { type OwnerRequest, parseOutcome, type RpcOutcome } from "../../../protocol/api/freshell/rpc.ts";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { MAX_LATE_REQUESTS } from "../freshellLimits.ts";
import { badResult, failure, ownersFailure } from "./outcomes.ts";

/** A silent device is detected late by at most this fraction of its timeout: timers of hundreds are aligned. */
const LATE_PART = 20;

interface OwnerTimes {
  readonly presenceTtlMs: number;
  readonly rpcAckTimeoutMs: number;
  readonly ownerTimeoutMs: number;
}

interface OwnerLinkOptions {
  readonly deviceId: string;
  readonly clock: Clock;
  readonly times: OwnerTimes;
  /** Sends a frame on the connection. */
  readonly send: (frame: OwnerRequest) => void;
  readonly close: (code: number, reason: string) => void;
  /** A result of a request that was given up. */
  readonly onLate: (request: OwnerRequest) => void;
}

interface Pending {
  readonly request: OwnerRequest;
  readonly settle: (outcome: RpcOutcome) => void;
  isAcked: boolean;
  /** When it is given up. */
  deadlineMs: number;
}

export class OwnerLink {
  readonly deviceId: string;
  /** Devices that may change this one's layout. */
  allow: ReadonlySet<string> = new Set();
  /** Of this connection's snapshots: never decreases. */
  publishedRevision = -1;
  readonly #options: OwnerLinkOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #late = new Map<string, OwnerRequest>();
  #presence: Timer;
  /** One timer for all: most requests settle long before their deadline, without touching it. */
  #wake: { readonly timer: Timer; readonly atMs: number } | undefined;
  #receivedMs: number;
  #isClosed = false;

  constructor(options: OwnerLinkOptions) {
    this.#options = options;
    this.deviceId = options.deviceId;
    this.#receivedMs = options.clock.nowMs();
    this.#presence = this.#listen();
  }

  /** Any frame counts as a sign of life. */
  received(): void {
    this.#receivedMs = this.#options.clock.nowMs();
  }

  /** Never rejects. */
  ask(asked: Omit<OwnerRequest, "deadlineMs">): Promise<RpcOutcome> {
    const { clock, times, send } = this.#options;
    if (this.#isClosed) return Promise.resolve(offline(this.deviceId));
    const requestId = this.#freeId(asked.requestId);
    const request: OwnerRequest = { ...asked, requestId, deadlineMs: times.ownerTimeoutMs };
    return new Promise((resolve) => {
      const settle = (outcome: RpcOutcome): void => {
        this.#pending.delete(requestId);
        resolve(outcome);
      };
      const deadlineMs = clock.nowMs() + times.rpcAckTimeoutMs;
      this.#pending.set(requestId, { request, settle, isAcked: false, deadlineMs });
      this.#wakeAt(deadlineMs);
      send(request);
    });
  }

  /** False: no request with this id is under way. */
  acked(requestId: string): boolean {
    const pending = this.#pending.get(requestId);
    if (pending === undefined || pending.isAcked) return false;
    const { clock, times } = this.#options;
    pending.isAcked = true;
    pending.deadlineMs = clock.nowMs() + times.ownerTimeoutMs;
    this.#wakeAt(pending.deadlineMs);
    return true;
  }

  /** Takes a `layout.rpc.result`. False: not requested, or already settled. */
  takeResult(requestId: string, frame: unknown): boolean {
    const pending = this.#pending.get(requestId);
    if (pending === undefined) {
      const late = this.#late.get(requestId);
      this.#late.delete(requestId);
      if (late !== undefined) this.#options.onLate(late);
      return late !== undefined;
    }
    const outcome = parseOutcome(frame);
    if (outcome === undefined)
      pending.settle(badResult("a result has either ok:true and result, or ok:false and error"));
    else pending.settle(outcome.ok ? outcome : ownersFailure(outcome));
    return true;
  }

  /** The connection has ended, or now speaks for another device. Safe to call twice. */
  closed(): void {
    this.#isClosed = true;
    this.#presence.cancel();
    this.#wake?.timer.cancel();
    for (const { isAcked, settle } of this.#pending.values()) {
      settle(isAcked ? cutOff(this.deviceId) : gone(this.deviceId));
    }
  }

  /** Another connection is this device from now on. */
  supersede(): void {
    this.closed();
    this.#options.close(CLOSE_CODES.DEVICE_SUPERSEDED, "Another connection is this device now");
  }

  #wakeAt(atMs: number): void {
    if (this.#wake !== undefined && this.#wake.atMs <= atMs) return;
    this.#wake?.timer.cancel();
    this.#wake = { timer: this.#options.clock.callAt(atMs, () => this.#expire()), atMs };
  }

  #expire(): void {
    this.#wake = undefined;
    const nowMs = this.#options.clock.nowMs();
    for (const pending of this.#pending.values()) if (pending.deadlineMs <= nowMs) this.#givenUp(pending);
    const left = [...this.#pending.values()].map(({ deadlineMs }) => deadlineMs);
    if (left.length > 0) this.#wakeAt(Math.min(...left));
  }

  #givenUp({ request, isAcked, settle }: Pending): void {
    this.#late.set(request.requestId, request);
    for (const oldest of this.#late.keys()) {
      if (this.#late.size <= MAX_LATE_REQUESTS) break;
      this.#late.delete(oldest);
    }
    settle(isAcked ? tooSlow(this.deviceId) : unacknowledged(this.deviceId));
  }

  #listen(): Timer {
    const { clock, times, close } = this.#options;
    const deadlineMs = alignedDeadline(this.#receivedMs + times.presenceTtlMs, times.presenceTtlMs / LATE_PART);
    return clock.callAt(deadlineMs, () => {
      if (clock.nowMs() - this.#receivedMs < times.presenceTtlMs) this.#presence = this.#listen();
      else {
        this.closed();
        close(CLOSE_CODES.PRESENCE_EXPIRED, "Presence expired");
      }
    });
  }

  /** Two callers may choose the same id; and a late result must not be taken for a later request's. */
  #freeId(wanted: string): string {
    const isTaken = (id: string): boolean => this.#pending.has(id) || this.#late.has(id);
    if (!isTaken(wanted)) return wanted;
    for (let count = 2; ; count += 1) if (!isTaken(`${wanted}.${count}`)) return `${wanted}.${count}`;
  }
}

const AGAIN = "it may have been done anyway: retry with the same idempotencyKey, or read the layout first";

export const offline = (deviceId: string): RpcOutcome =>
  failure("DEVICE_OFFLINE", `the device ${deviceId} is offline; nothing was done`, "relay", { deviceId });
const gone = (deviceId: string): RpcOutcome =>
  failure("DEVICE_OFFLINE", `the device ${deviceId} disconnected before it accepted the request; ${AGAIN}`, "relay", {
    deviceId,
  });
const cutOff = (deviceId: string): RpcOutcome =>
  failure("OWNER_TIMEOUT", `the device ${deviceId} disconnected before it responded; ${AGAIN}`, "owner", { deviceId });
const unacknowledged = (deviceId: string): RpcOutcome =>
  failure("RPC_TIMEOUT", `the device ${deviceId} did not acknowledge the request; ${AGAIN}`, "relay", { deviceId });
const tooSlow = (deviceId: string): RpcOutcome =>
  failure("OWNER_TIMEOUT", `the device ${deviceId} did not respond in time; ${AGAIN}`, "owner", { deviceId });
