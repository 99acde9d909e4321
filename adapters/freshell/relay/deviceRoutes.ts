/** Devices over HTTP: the list, layouts, and requests to owners. */
import { randomUUID } from "node:crypto";
import type { Context } from "hono";
import * as v from "valibot";
import { tryParse } from "../../../protocol/api/parse.ts";
import { FRESHELL_MAX_BODY_BYTES, queryFlag } from "../../../protocol/api/freshell/freshellHttp.ts";
import { OPERATION_ERROR_CODES } from "../../../protocol/api/freshell/freshellErrors.ts";
import {
  deviceEntrySchema,
  type DeviceLayoutResponse,
  deviceLayoutSchema,
  requestIdSchema,
  type RpcFailure,
  rpcFailureSchema,
  type RpcResultMessage,
  type RpcSuccess,
  rpcSuccessSchema,
} from "../../../protocol/api/freshell/rpc.ts";
import { AppError, ERROR_SURFACES } from "../../../protocol/errors.ts";
import { longResponse } from "../../kit/streams/longResponse.ts";
import { requestAbort } from "../../kit/guard/requestAbort.ts";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import type { Route } from "../../kit/guard/routes.ts";
import type { Surroundings } from "../../../daemon/ops/log.ts";
import { endpoint, faultBody, GET, POST } from "../freshellRequests.ts";
import { type Credentials, tokenOf } from "../tokens/credentials.ts";
import type { Caller, LayoutRelay } from "./layoutRelay.ts";
import { failureOf } from "./outcomes.ts";
import type { Device, Presence } from "./presence.ts";

interface DeviceRouteParts extends Surroundings {
  readonly presence: Presence;
  readonly relay: LayoutRelay;
  readonly credentials: Credentials;
}

export function deviceRoutes(parts: DeviceRouteParts): readonly Route[] {
  const { presence, nowUnixMs } = parts;
  const named = (c: Context<GuardEnv>): Device => {
    const device = presence.find(c.req.param("id") ?? "");
    if (device !== undefined) return device;
    throw new AppError("NOT_FOUND", "there is no such device; list the devices");
  };
  return [
    endpoint({
      ...GET,
      path: "/api/devices",
      response: { 200: v.array(deviceEntrySchema) },
      errors: ["INVALID_ARGUMENT"],
      handle: (c) => c.json(presence.list()),
    }),
    endpoint({
      ...GET,
      path: "/api/devices/:id",
      response: { 200: deviceEntrySchema },
      errors: ["INVALID_ARGUMENT", "NOT_FOUND"],
      handle: (c) => c.json(named(c).entry(nowUnixMs())),
    }),
    endpoint({
      ...GET,
      path: "/api/devices/:id/layout",
      request: layoutQuerySchema,
      response: { 200: deviceLayoutSchema, ...withStatuses(v.strictObject({ error: rpcFailureSchema.entries.error })) },
      errors: ["INVALID_ARGUMENT", "NOT_FOUND", "UNAUTHORIZED"],
      handle: (c, { allowStale }) => layoutResponse(parts, c, named(c), allowStale),
    }),
    endpoint({
      ...POST,
      path: "/api/rpc",
      // The relay reads the request itself: what is wrong with it is an outcome.
      maxJsonBytes: FRESHELL_MAX_BODY_BYTES,
      response: { 200: rpcSuccessSchema, ...withStatuses(rpcFailureSchema) },
      errors: ["INVALID_ARGUMENT", "UNAUTHORIZED", ...OPERATION_ERROR_CODES],
      idempotent: true,
      handle: (c) => rpcResponse(parts, c),
    }),
  ];
}

/** A failure of an owner or of the relay has the status of its code. */
const withStatuses = (failure: v.GenericSchema): Route["response"] =>
  Object.fromEntries(OPERATION_ERROR_CODES.map((code) => [ERROR_SURFACES[code].httpStatus, failure]));

const layoutQuerySchema = v.strictObject({ allowStale: v.optional(queryFlag, "0") });

/** The token's device; the guard has validated the token. */
function callerOf({ credentials }: DeviceRouteParts, c: Context<GuardEnv>): Caller {
  const principal = credentials.principalOf(tokenOf(c.req));
  if (principal === undefined) throw new AppError("UNAUTHORIZED", "the token has expired; renew it");
  return { deviceId: principal.kind === "device" ? principal.deviceId : undefined };
}

/** The owner's present layout; with `allowStale` the last known one when the owner cannot be asked. */
async function layoutResponse(
  parts: DeviceRouteParts,
  c: Context<GuardEnv>,
  device: Device,
  allowStale: boolean,
): Promise<Response> {
  if (device.owner !== undefined || !allowStale) {
    const { signal } = requestAbort(c);
    const outcome = await parts.relay.read(callerOf(parts, c), device, randomUUID(), signal);
    if (outcome.ok) {
      const owner = { ownerOnline: true, ownerLastSeenAt: parts.nowUnixMs() };
      return c.json({ ...outcome.result, source: "live", ...owner });
    }
    if (!allowStale || !AWAY.has(outcome.error.code)) return c.json({ error: outcome.error }, statusOf(outcome));
  }
  if (device.layout === undefined) {
    throw new AppError("NOT_FOUND", `the device ${device.deviceId} has not published a layout`);
  }
  const response: DeviceLayoutResponse = {
    source: "cache",
    ownerDeviceId: device.deviceId,
    ...device.layout,
    ownerOnline: device.owner !== undefined,
    ownerLastSeenAt: device.lastSeenAt,
  };
  return c.json(response);
}

const AWAY: ReadonlySet<string> = new Set(["DEVICE_OFFLINE", "RPC_TIMEOUT", "OWNER_TIMEOUT"]);

function rpcResponse(parts: DeviceRouteParts, c: Context<GuardEnv>): Response | Promise<Response> {
  const given: unknown = c.get("json");
  const caller = callerOf(parts, c);
  const { requestId, command } = (given ?? {}) as Readonly<Record<string, unknown>>;
  const perform = async (signal: AbortSignal): Promise<RpcResultMessage> => {
    const known = tryParse(requestIdSchema, requestId);
    try {
      const outcome = await parts.relay.request(caller, given, signal);
      return { type: "layout.rpc.result", requestId: known.output as string, ...outcome };
    } catch (error) {
      if (!known.success) throw error;
      return { type: "layout.rpc.result", requestId: known.output, ...failureOf(error) };
    }
  };
  if (command !== "wait-for") {
    return perform(requestAbort(c).signal).then((outcome) => c.json(outcome, statusOf(outcome)));
  }
  const errorBody = (error: unknown): object => faultBody(error, parts.log);
  return longResponse(c, { clock: parts.clock, errorBody, statusOf }, perform);
}

const statusOf = (
  outcome: RpcSuccess | RpcFailure,
): 200 | (typeof ERROR_SURFACES)[RpcFailure["error"]["code"]]["httpStatus"] =>
  outcome.ok ? 200 : ERROR_SURFACES[outcome.error.code].httpStatus;
