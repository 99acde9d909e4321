/** Outcomes of the relay and of owners, as values: a failure names the stage, and a conflict the present revision. */
import { faultOf, type FaultStage, type OperationErrorCode } from "../../../protocol/api/freshell/freshellErrors.ts";
import type { RpcFailure, RpcSuccess } from "../../../protocol/api/freshell/rpc.ts";
import { toAppError } from "../../../protocol/errors.ts";

type Details = Readonly<Record<string, unknown>>;

export function failure(code: OperationErrorCode, message: string, stage: FaultStage, details?: Details): RpcFailure {
  return { ok: false, error: { code, message, stage, ...(details === undefined ? {} : { details }) } };
}

/** For errors on the server's side. */
export function failureOf(thrown: unknown): RpcFailure {
  return { ok: false, error: { ...faultOf(toAppError(thrown)), stage: "relay" } };
}

export const success = (result: object): RpcSuccess => ({ ok: true, result: { ...result } });

/** An owner's refusal, with the stage set by us. */
export function ownersFailure({ error }: RpcFailure): RpcFailure {
  const { code, message, details, currentRevision } = error;
  const revision = currentRevision === undefined ? {} : { currentRevision };
  const all: Details = { ...details, ...revision };
  const shown = Object.keys(all).length === 0 ? {} : { details: all };
  return { ok: false, error: { code, message, stage: "owner", ...shown, ...revision } };
}

/** The owner has sent an invalid result; whether anything was done is unknown. */
export const badResult = (what: string): RpcFailure =>
  failure(
    "INTERNAL_ERROR",
    `the device sent an invalid result (${what}): read its layout before you continue`,
    "owner",
    {
      cause: "OWNER_ANSWER",
      retry: false,
    },
  );
