/**
 * The parts of every hybrid: a request, and the owner, asked in phases. A mutation is completed even if its caller or its
 * owner leaves meanwhile.
 */
import type { SessionBook } from "../sessions/sessionBook.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { WaitManager } from "../../../daemon/waits/waitManager.ts";
import type { ContentRef } from "../../../protocol/api/freshell/deviceLayout.ts";
import { type MadeFor, madeForSchema } from "../../../protocol/api/freshell/freshellHttp.ts";
import type { RpcOutcome, RpcPhase, RpcRequest } from "../../../protocol/api/freshell/rpc.ts";
import type { RpcArgs, RpcCommand } from "../../../protocol/api/freshell/rpcCommands.ts";
import { matches } from "../../../protocol/api/parse.ts";
import { badResult, failure, failureOf } from "../rpc/outcomes.ts";
import type { TerminalBook } from "../terminals/terminalBook.ts";

/** The server's side of them. */
export interface HybridContext {
  readonly server: TmuxServer;
  readonly book: TerminalBook;
  readonly sessions: SessionBook;
  readonly waits: Pick<WaitManager, "wait">;
}

export interface HybridCall<Command extends RpcCommand> {
  readonly request: RpcRequest;
  readonly args: RpcArgs<Command>;
  readonly context: HybridContext;
  /** Sends one frame to the device's present connection. Never rejects. */
  readonly ask: (
    phase: RpcPhase,
    args: Readonly<Record<string, unknown>>,
    reservationId?: string,
  ) => Promise<RpcOutcome>;
}

interface Reservation {
  readonly reservationId: string;
  readonly tabId: string;
  readonly paneId: string;
}

/** An owner's result for `reserve`: a place; or, if it has already done this request, the result. */
type Reserved =
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

/** For the environment of a program; undefined for an owner whose ids could not be there. */
export function placeOf({ request }: HybridCall<RpcCommand>, { tabId, paneId }: Reservation): MadeFor | undefined {
  const place = { deviceId: request.targetDeviceId, tabId, paneId };
  return matches(madeForSchema, place) ? place : undefined;
}

/** The server's part has failed: undoes the reservation and returns the failure. */
export async function compensate(
  call: HybridCall<RpcCommand>,
  { reservationId }: Reservation,
  thrown: unknown,
): Promise<RpcOutcome> {
  // An owner that does not receive this drops the place by itself.
  await call.ask("compensate", { reservationId }, reservationId);
  return failureOf(thrown);
}

/**
 * Makes the pane show the terminal. If the owner does not confirm it, the terminal stays, and the response says what can be
 * done about it.
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
    // Ours override the owner's: only the server knows which terminal it is.
    return { ...outcome, result: { ...outcome.result, tabId, paneId, terminalId } };
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

const MAX_ID_CHARS = 256;
const isId = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= MAX_ID_CHARS;

/** The command that shows the terminal in the pane after all. */
export const attachCommand = ({ request }: HybridCall<RpcCommand>, { paneId }: Reservation, id: string): string =>
  `freshell attach-terminal --target terminal:${id} --to ${shellWord(`pane:${paneId}`)} --device ${request.targetDeviceId}`;

/** A shell word for a command to paste: an owner's id may hold anything. */
const shellWord = (text: string): string =>
  /^[\w:.@%+=/-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
