/**
 * What every hybrid is made of: a request, and the owner to ask in phases. A mutation is carried to its end whoever leaves
 * meanwhile: its caller, or its owner.
 */
import type { ContentRef } from "../../../protocol/api/freshell/deviceLayout.ts";
import type { RpcOutcome, RpcPhase, RpcRequest, RpcSuccess } from "../../../protocol/api/freshell/rpc.ts";
import type { RpcArgs, RpcCommand } from "../../../protocol/api/freshell/rpcCommands.ts";
import type { FreshellContext } from "../freshellContext.ts";
import { badResult, failure, failureOf } from "../relay/outcomes.ts";

export interface HybridCall<Command extends RpcCommand> {
  readonly request: RpcRequest;
  readonly args: RpcArgs<Command>;
  readonly context: Pick<FreshellContext, "book" | "server" | "sessions" | "waits">;
  /** One frame to the device as it is online now. Never rejects. */
  readonly ask: (
    phase: RpcPhase,
    args: Readonly<Record<string, unknown>>,
    reservationId?: string,
  ) => Promise<RpcOutcome>;
}

export interface Reservation {
  readonly reservationId: string;
  readonly tabId: string;
  readonly paneId: string;
}

/** What an owner returns for `reserve`: a place; or, when it has done this request already, the result. */
export type Reserved =
  | { readonly kind: "reserved"; readonly reservation: Reservation }
  | { readonly kind: "settled"; readonly outcome: RpcOutcome };

export async function reserve(call: HybridCall<RpcCommand>): Promise<Reserved> {
  const outcome = await call.ask("reserve", call.request.args);
  if (!outcome.ok) return { kind: "settled", outcome };
  const { reservationId, tabId, paneId } = outcome.result;
  if (isId(reservationId) && isId(tabId) && isId(paneId)) {
    return { kind: "reserved", reservation: { reservationId, tabId, paneId } };
  }
  const isDone = outcome.appliedRevision !== undefined && reservationId === undefined;
  return { kind: "settled", outcome: isDone ? outcome : badResult("reserve gives reservationId, tabId and paneId") };
}

/** What the server did for it has failed: the layout is as before, and the caller hears why. */
export async function compensate(
  call: HybridCall<RpcCommand>,
  { reservationId }: Reservation,
  thrown: unknown,
): Promise<RpcOutcome> {
  // An owner that does not hear of it drops the place by itself.
  await call.ask("compensate", { reservationId }, reservationId);
  return failureOf(thrown);
}

/**
 * The pane shows the terminal from now on. When the owner does not confirm it, the terminal stays, and the response says what
 * can be done about it.
 */
export async function finalize(
  call: HybridCall<RpcCommand>,
  { reservationId, tabId, paneId }: Reservation,
  terminalId: string,
  remediation: string,
): Promise<RpcOutcome> {
  const contentRef: ContentRef = { terminalId };
  const outcome = await call.ask("finalize", { reservationId, contentRef }, reservationId);
  const { expectedRevision = 0, targetDeviceId } = call.request;
  if (outcome.ok && outcome.appliedRevision !== undefined && outcome.appliedRevision > expectedRevision) {
    return withFields(outcome, { tabId, paneId, terminalId });
  }
  const { code, message } = outcome.ok
    ? { code: "INTERNAL_ERROR", message: "it has returned no revision" }
    : outcome.error;
  return failure(
    "INCONSISTENT_STATE",
    `the terminal ${terminalId} runs, but the device ${targetDeviceId} has not confirmed its pane (${message}); ${remediation}`,
    "owner",
    { terminalId, tabId, paneId, remediation, cause: code },
  );
}

const withFields = (outcome: RpcSuccess, fields: Readonly<Record<string, unknown>>): RpcSuccess => ({
  ...outcome,
  // Whatever else the owner says: which terminal it is only the server knows.
  result: { ...outcome.result, ...fields },
});

const MAX_ID_CHARS = 256;
const isId = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= MAX_ID_CHARS;

/** A word of a command that can be pasted: an owner's id may hold anything. */
export const shellWord = (text: string): string =>
  /^[\w:.@%+=/-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
