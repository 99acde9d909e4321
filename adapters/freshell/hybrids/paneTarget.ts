/**
 * `send-keys`, `capture-pane` and `wait-for` on a pane: the owner resolves it once, and the rest concerns the terminal.
 * `wait-for` takes an agent's session as well. The layout does not change.
 */
import { terminalCaptureSchema } from "../../../protocol/api/freshell/freshellHttp.ts";
import type { RpcFailure, RpcOutcome } from "../../../protocol/api/freshell/rpc.ts";
import type { RpcCommand } from "../../../protocol/api/freshell/rpcCommands.ts";
import { parse } from "../../../protocol/api/parse.ts";
import { AppError } from "../../../protocol/errors.ts";
import { sourceOf, waitFor } from "../freshellWaits.ts";
import { badResult, failureOf, success } from "../rpc/outcomes.ts";
import type { Terminal } from "../terminals/terminal.ts";
import { captureOf, tokenParts, typeInto } from "../terminals/terminalUse.ts";
import type { HybridCall } from "./hybridCall.ts";

type PaneCommand = "send-keys" | "capture-pane" | "wait-for" | "respawn-pane";
type Failed = { readonly failed: RpcFailure };
type Shown = { readonly terminal: Terminal } | { readonly sessionRef: SessionName } | Failed;
type SessionName = { readonly provider: string; readonly sessionId: string };

/** The terminal that the pane shows. */
export async function resolvedTerminal(
  call: HybridCall<PaneCommand>,
): Promise<{ readonly terminal: Terminal } | Failed> {
  const shown = await resolvedContent(call);
  if ("sessionRef" in shown) return failed("INVALID_TARGET", "the pane shows an agent's session, not a terminal");
  return shown;
}

async function resolvedContent({ ask, args, context }: HybridCall<PaneCommand>): Promise<Shown> {
  const { target, tab } = args;
  const outcome = await ask("resolve", { target, ...(tab === undefined ? {} : { tab }) });
  if (!outcome.ok) return { failed: outcome };
  const { contentRef, kind } = outcome.result;
  if (contentRef === undefined || typeof kind !== "string") {
    return { failed: badResult("resolve gives tabId, paneId, kind and contentRef") };
  }
  const { terminalId, sessionRef } = (contentRef ?? {}) as Readonly<Record<string, unknown>>;
  const terminal = typeof terminalId === "string" ? context.book.find(terminalId) : undefined;
  if (terminal !== undefined) return { terminal };
  if (typeof terminalId === "string") {
    return failed(
      "NOT_FOUND",
      "the pane shows a terminal that is no more; respawning does not help, attach another one",
    );
  }
  if (isSessionName(sessionRef)) return { sessionRef };
  return failed("INVALID_TARGET", "the pane shows no terminal; list the panes to see which do");
}

const isSessionName = (value: unknown): value is SessionName => {
  const { provider, sessionId } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof provider === "string" && typeof sessionId === "string";
};

const failed = (code: "NOT_FOUND" | "INVALID_TARGET", message: string): Failed => ({
  failed: failureOf(new AppError(code, message)),
});

/** `resolved` is called once the owner is no longer needed. */
export async function onPane<Command extends RpcCommand>(
  call: HybridCall<Command>,
  signal: AbortSignal,
  resolved: () => void,
): Promise<RpcOutcome> {
  if (isOf(call, "wait-for")) return waitOnPane(call, signal, resolved);
  const found = await resolvedTerminal(call as HybridCall<PaneCommand>);
  resolved();
  if ("failed" in found) return found.failed;
  const { terminal } = found;
  const { server } = call.context;
  if (isOf(call, "send-keys")) {
    const { keys, literal = false } = call.args;
    return success({ outputSeq: await typeInto(server, terminal, tokenParts(keys, literal)) });
  }
  const { S, J = false, e = false } = (call as HybridCall<"capture-pane">).args;
  const asked = parse(terminalCaptureSchema, { S, J: J ? "1" : "0", e: e ? "1" : "0" });
  return success(await captureOf(server, terminal, asked));
}

async function waitOnPane(
  call: HybridCall<"wait-for">,
  signal: AbortSignal,
  resolved: () => void,
): Promise<RpcOutcome> {
  const shown = await resolvedContent(call);
  resolved();
  if ("failed" in shown) return shown.failed;
  const { target: _target, tab: _tab, ...predicates } = call.args;
  const target = "terminal" in shown ? { terminalId: shown.terminal.id } : { sessionRef: shown.sessionRef };
  const asked = { ...predicates, target };
  return success(await waitFor(call.context.waits, sourceOf(asked, call.context), asked, signal));
}

const isOf = <Command extends RpcCommand>(
  call: HybridCall<RpcCommand>,
  command: Command,
): call is HybridCall<Command> => call.request.command === command;
