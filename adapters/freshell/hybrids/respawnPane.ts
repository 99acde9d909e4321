/** `respawn-pane`: another program in the pane's terminal, whose id stays. */
import type { RpcOutcome } from "../../../protocol/api/freshell/rpc.ts";
import { compensate, attachCommand, finalize, type HybridCall, placeOf, reserve } from "./hybridCall.ts";
import { resolvedTerminal } from "./paneTarget.ts";

export async function respawnPane(call: HybridCall<"respawn-pane">): Promise<RpcOutcome> {
  const { context } = call;
  const resolved = await resolvedTerminal(call);
  if ("failed" in resolved) return resolved.failed;
  const { id } = resolved.terminal;
  // It checks the revision of the previous result: a pane that has since been given another terminal has a later one.
  const reserved = await reserve(call);
  if (reserved.kind === "settled") return reserved.outcome;
  const { reservation } = reserved;
  try {
    await context.book.respawn(resolved.terminal, placeOf(call, reservation));
  } catch (error) {
    return compensate(call, reservation, error);
  }
  return finalize(call, reservation, id, attachCommand(call, reservation, id));
}
