/**
 * Hybrids: commands about layout and process together. A mutation has the owner fix a place, then the server acts, then the
 * owner shows it; it is completed even if its caller or its owner leaves meanwhile. `send-keys`, `capture-pane` and `wait-for`
 * on a pane have the owner resolve it once; the rest concerns the terminal, and the layout does not change.
 */
import type { ContentRef } from "../../../protocol/api/freshell/deviceLayout.ts";
import {
  createTerminalSchema,
  type MadeFor,
  madeForSchema,
  terminalCaptureSchema,
} from "../../../protocol/api/freshell/freshellHttp.ts";
import type { RpcFailure, RpcOutcome, RpcPhase, RpcRequest } from "../../../protocol/api/freshell/rpc.ts";
import { hasTerminal, type RpcArgs, type RpcCommand } from "../../../protocol/api/freshell/rpcCommands.ts";
import { parseSelector } from "../../../protocol/api/freshell/selectors.ts";
import { matches, parse } from "../../../protocol/api/parse.ts";
import { AppError } from "../../../protocol/errors.ts";
import { type WaitParts, waitOn } from "../freshellWaits.ts";
import { type Terminal, tokenParts } from "../terminals/terminal.ts";
import { badResult, failure, failureOf, success } from "./outcomes.ts";

interface AnyCall {
  readonly request: RpcRequest;
  readonly parts: WaitParts;
  /** Sends one frame to the device's present connection. Never rejects. */
  readonly ask: (
    phase: RpcPhase,
    args: Readonly<Record<string, unknown>>,
    reservationId?: string,
  ) => Promise<RpcOutcome>;
}

/** With the command's arguments, validated. */
export type HybridCall<Command extends RpcCommand = RpcCommand> = {
  [Each in Command]: AnyCall & { readonly command: Each; readonly args: RpcArgs<Each> };
}[Command];

/** A command that changes the layout. */
export async function mutated(call: HybridCall): Promise<RpcOutcome> {
  const { command, request } = call;
  if (command === "attach-terminal") return attachTerminal(call);
  if (command === "respawn-pane") return respawnPane(call);
  if ((command === "new-tab" || command === "split-pane") && hasTerminal(call.args)) return openTerminalPane(call);
  return applied(request, await call.ask("apply", request.args));
}

/** A mutation increments the revision; one repeated under its key did so the first time. */
function applied({ expectedRevision = 0, idempotencyKey }: RpcRequest, outcome: RpcOutcome): RpcOutcome {
  if (!outcome.ok) return outcome;
  const { appliedRevision } = outcome;
  const next = expectedRevision + 1;
  if (appliedRevision === next || (idempotencyKey !== undefined && (appliedRevision ?? next) < next)) return outcome;
  return badResult(`appliedRevision is ${appliedRevision ?? "missing"}, after ${expectedRevision}`);
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

async function reserve(call: HybridCall): Promise<Reserved> {
  const outcome = await call.ask("reserve", call.request.args);
  if (!outcome.ok) return { kind: "settled", outcome };
  const { reservationId, tabId, paneId } = outcome.result;
  if (isId(reservationId) && isId(tabId) && isId(paneId)) {
    return { kind: "reserved", reservation: { reservationId, tabId, paneId } };
  }
  const isDone = outcome.appliedRevision !== undefined && reservationId === undefined;
  return {
    kind: "settled",
    outcome: isDone ? outcome : badResult("reserve must return reservationId, tabId and paneId"),
  };
}

/** For the environment of a program; undefined for an owner whose ids could not be there. */
function placeOf({ request }: HybridCall, { tabId, paneId }: Reservation): MadeFor | undefined {
  const place = { deviceId: request.targetDeviceId, tabId, paneId };
  return matches(madeForSchema, place) ? place : undefined;
}

/** The server's part has failed: undoes the reservation and returns the failure. */
async function compensate(call: HybridCall, { reservationId }: Reservation, thrown: unknown): Promise<RpcOutcome> {
  // An owner that does not receive this drops the place by itself.
  await call.ask("compensate", { reservationId }, reservationId);
  return failureOf(thrown);
}

/**
 * Makes the pane show the terminal. If the owner does not confirm it, the terminal stays, and the response says what can be
 * done about it.
 */
async function finalize(
  call: HybridCall,
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
  const { code, message } = outcome.ok ? { code: "INTERNAL_ERROR", message: "it returned no revision" } : outcome.error;
  return failure(
    "INCONSISTENT_STATE",
    `the terminal ${terminalId} is running, but the device ${targetDeviceId} did not confirm its pane (${message}); ${remediation}`,
    "owner",
    { terminalId, tabId, paneId, remediation, cause: code },
  );
}

const MAX_ID_CHARS = 256;
const isId = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= MAX_ID_CHARS;

/** The command that shows the terminal in the pane after all. */
const attachCommand = ({ request }: HybridCall, { paneId }: Reservation, id: string): string =>
  `freshell attach-terminal --target terminal:${id} --to ${shellWord(`pane:${paneId}`)} --device ${request.targetDeviceId}`;

/** A shell word for a command to paste: an owner's id may hold anything. */
const shellWord = (text: string): string =>
  /^[\w:.@%+=/-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * `new-tab` and `split-pane` with a terminal. A terminal that was made and is in no pane has an option on its tmux pane, so
 * that it is reported after a restart too.
 */
async function openTerminalPane(call: HybridCall<"new-tab" | "split-pane">): Promise<RpcOutcome> {
  const reserved = await reserve(call);
  if (reserved.kind === "settled") return reserved.outcome;
  const { terminals } = call.parts;
  const { shell, cwd, mode } = call.args;
  let terminal: Terminal;
  try {
    const options = parse(createTerminalSchema, { shell, cwd, mode, pane: placeOf(call, reserved.reservation) });
    terminal = await terminals.create(options, "unsure");
  } catch (error) {
    return compensate(call, reserved.reservation, error);
  }
  const { id } = terminal;
  const outcome = await finalize(call, reserved.reservation, id, `freshell kill-terminal --target terminal:${id}`);
  terminals.placed(terminal, outcome.ok);
  return outcome;
}

/** `attach-terminal`: a pane shows an existing terminal. No process starts, ends or moves. */
async function attachTerminal(call: HybridCall<"attach-terminal">): Promise<RpcOutcome> {
  const { args, parts } = call;
  const { terminals } = parts;
  const selector = parseSelector(args.target);
  if (selector.type !== "terminal") throw new AppError("INVALID_TARGET", "target must begin with terminal:");
  // Checked before the owner is asked.
  const { id } = terminals.require(selector.terminalId);
  const reserved = await reserve(call);
  if (reserved.kind === "settled") return reserved.outcome;
  const { reservation } = reserved;
  const terminal = terminals.find(id);
  if (terminal === undefined) {
    const gone = new AppError("NOT_FOUND", "the terminal was killed meanwhile; nothing was changed");
    return compensate(call, reservation, gone);
  }
  const outcome = await finalize(call, reservation, id, attachCommand(call, reservation, id));
  if (outcome.ok) terminals.placed(terminal, true);
  return outcome;
}

/** `respawn-pane`: another program in the pane's terminal, whose id stays. */
async function respawnPane(call: HybridCall<"respawn-pane">): Promise<RpcOutcome> {
  const resolved = await resolvedTerminal(call);
  if ("failed" in resolved) return resolved.failed;
  const { id } = resolved.terminal;
  // It checks the revision of the previous result: a pane that has since been given another terminal has a later one.
  const reserved = await reserve(call);
  if (reserved.kind === "settled") return reserved.outcome;
  const { reservation } = reserved;
  try {
    await call.parts.terminals.respawn(resolved.terminal, placeOf(call, reservation));
  } catch (error) {
    return compensate(call, reservation, error);
  }
  return finalize(call, reservation, id, attachCommand(call, reservation, id));
}

type PaneCommand = "send-keys" | "capture-pane" | "wait-for" | "respawn-pane";
/** `failed`: what the owner has refused. */
type Failed = { readonly failed: RpcFailure };
type Shown = { readonly terminal: Terminal } | { readonly sessionRef: SessionName } | Failed;
type SessionName = { readonly provider: string; readonly sessionId: string };

/** The terminal that the pane shows. @throws AppError NOT_FOUND, INVALID_TARGET */
async function resolvedTerminal(call: HybridCall<PaneCommand>): Promise<{ readonly terminal: Terminal } | Failed> {
  const shown = await resolvedContent(call);
  if (!("sessionRef" in shown)) return shown;
  throw new AppError("INVALID_TARGET", "the pane shows an agent's session, not a terminal");
}

async function resolvedContent({ ask, args, parts }: HybridCall<PaneCommand>): Promise<Shown> {
  const { target, tab } = args;
  const outcome = await ask("resolve", { target, ...(tab === undefined ? {} : { tab }) });
  if (!outcome.ok) return { failed: outcome };
  const { contentRef, kind } = outcome.result;
  if (contentRef === undefined || typeof kind !== "string") {
    return { failed: badResult("resolve must return tabId, paneId, kind and contentRef") };
  }
  const { terminalId, sessionRef } = (contentRef ?? {}) as Readonly<Record<string, unknown>>;
  const terminal = typeof terminalId === "string" ? parts.terminals.find(terminalId) : undefined;
  if (terminal !== undefined) return { terminal };
  if (typeof terminalId === "string") {
    const gone = "the pane's terminal no longer exists; respawning does not help, attach another one";
    throw new AppError("NOT_FOUND", gone);
  }
  if (isSessionName(sessionRef)) return { sessionRef };
  throw new AppError("INVALID_TARGET", "the pane does not show a terminal; list the panes to see which do");
}

const isSessionName = (value: unknown): value is SessionName => {
  const { provider, sessionId } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof provider === "string" && typeof sessionId === "string";
};

/** A command on what a pane shows. `resolved` is called once the owner is no longer needed. */
export async function onPane(
  call: HybridCall<"send-keys" | "capture-pane" | "wait-for">,
  signal: AbortSignal,
  resolved: () => void,
): Promise<RpcOutcome> {
  if (call.command === "wait-for") {
    const shown = await resolvedContent(call);
    resolved();
    if ("failed" in shown) return shown.failed;
    const { target: _target, tab: _tab, ...predicates } = call.args;
    const target = "terminal" in shown ? { terminalId: shown.terminal.id } : { sessionRef: shown.sessionRef };
    return success(await waitOn({ ...predicates, target }, call.parts)(signal));
  }
  const found = await resolvedTerminal(call);
  resolved();
  if ("failed" in found) return found.failed;
  const { terminal } = found;
  if (call.command === "send-keys") {
    const { keys, literal = false } = call.args;
    return success({ outputSeq: await terminal.type(tokenParts(keys, literal)) });
  }
  const { S, J = false, e = false } = call.args;
  return success(await terminal.capture(parse(terminalCaptureSchema, { S, J: J ? "1" : "0", e: e ? "1" : "0" })));
}
