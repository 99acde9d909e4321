/**
 * An upper bound of `outputSeq` is stored in a pane option in advance, in large steps: a daemon that is killed cannot store
 * its position, and the next one continues from the bound. So `outputSeq` never decreases.
 */
import type { Log } from "../../../daemon/ops/log.ts";
import type { PaneUserOptions } from "../../../daemon/tmux/userOptions.ts";
import { RESERVED_OUTPUT_BYTES } from "../freshellLimits.ts";
import type { Terminal } from "./terminal.ts";
import { SEQ_OPTION } from "./terminalOptions.ts";

export class OutputReserve {
  readonly #server: PaneUserOptions;
  readonly #log: Log;

  constructor(server: PaneUserOptions, log: Log) {
    this.#server = server;
    this.#log = log;
  }

  /** The terminal's output has reached this position. */
  reached(terminal: Terminal, outputSeq: number): void {
    if (outputSeq > terminal.reservedSeq - RESERVED_OUTPUT_BYTES / 2) void this.renew(terminal);
  }

  async renew(terminal: Terminal): Promise<void> {
    const { pane, source, reservedSeq: before } = terminal;
    if (pane === undefined) return;
    const reserved = source.outputSeq + RESERVED_OUTPUT_BYTES;
    terminal.reservedSeq = reserved;
    try {
      await this.#server.setPaneUserOption(pane, SEQ_OPTION, String(reserved));
    } catch (error) {
      // The next output tries again.
      if (terminal.reservedSeq === reserved) terminal.reservedSeq = before;
      this.#log.debug("freshell.reserve.failed", { error });
    }
  }

  /** Their output has ended here for us: the next daemon continues without a jump. */
  async settle(terminals: readonly Terminal[]): Promise<void> {
    const note = async ({ pane, source }: Terminal): Promise<void> => {
      if (pane !== undefined) await this.#server.setPaneUserOption(pane, SEQ_OPTION, String(source.outputSeq + 1));
    };
    await Promise.allSettled(terminals.map(note));
  }
}
