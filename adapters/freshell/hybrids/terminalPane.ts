/**
 * `new-tab` and `split-pane` with a terminal: the owner fixes the place, the server makes the terminal, the owner shows it.
 * A terminal that was made and is in no pane has an option on its tmux pane, so that it is reported after a restart too.
 */
import type { RpcOutcome } from "../../../protocol/api/freshell/rpc.ts";
import { createTerminalSchema } from "../../../protocol/api/freshell/freshellHttp.ts";
import { parse } from "../../../protocol/api/parse.ts";
import type { Terminal } from "../terminals/terminal.ts";
import { compensate, finalize, type HybridCall, placeOf, reserve } from "./hybridCall.ts";

export async function openTerminalPane(call: HybridCall<"new-tab" | "split-pane">): Promise<RpcOutcome> {
  const reserved = await reserve(call);
  if (reserved.kind === "settled") return reserved.outcome;
  const { book } = call.context;
  const { shell, cwd, mode } = call.args;
  let terminal: Terminal;
  try {
    const options = parse(createTerminalSchema, { shell, cwd, mode, pane: placeOf(call, reserved.reservation) });
    terminal = await book.create(options, "unsure");
  } catch (error) {
    return compensate(call, reserved.reservation, error);
  }
  const { id } = terminal;
  const outcome = await finalize(call, reserved.reservation, id, `freshell kill-terminal --target terminal:${id}`);
  book.placed(terminal, outcome.ok);
  return outcome;
}
