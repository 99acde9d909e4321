/** `attach-terminal`: a pane shows an existing terminal. No process starts, ends or moves. */
import type { RpcOutcome } from "../../../protocol/api/freshell/rpc.ts";
import { parseSelector } from "../../../protocol/api/freshell/selectors.ts";
import { AppError } from "../../../protocol/errors.ts";
import { compensate, attachCommand, finalize, type HybridCall, reserve } from "./hybridCall.ts";

export async function attachTerminal(call: HybridCall<"attach-terminal">): Promise<RpcOutcome> {
  const { args, context } = call;
  const { book } = context;
  const selector = parseSelector(args.target);
  if (selector.type !== "terminal") throw new AppError("INVALID_TARGET", "target must begin with terminal:");
  // Checked before the owner is asked.
  const { id } = book.require(selector.terminalId);
  const reserved = await reserve(call);
  if (reserved.kind === "settled") return reserved.outcome;
  const { reservation } = reserved;
  const terminal = book.find(id);
  if (terminal === undefined) {
    const gone = new AppError("NOT_FOUND", "the terminal was killed meanwhile; nothing was changed");
    return compensate(call, reservation, gone);
  }
  const outcome = await finalize(call, reservation, id, attachCommand(call, reservation, id));
  if (outcome.ok) book.placed(terminal, true);
  return outcome;
}
