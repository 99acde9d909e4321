/**
 * How far `outputSeq` may come is noted on the pane before it comes there, in large steps: a daemon that is killed cannot
 * note where it was, and the next one goes on from the note. So it never goes back.
 */
import type { Log } from "../../../daemon/ops/log.ts";
import type { PaneUserOptions } from "../../../daemon/tmux/userOptions.ts";
import { RESERVED_OUTPUT_BYTES } from "../freshellLimits.ts";
import type { Terminal } from "./terminal.ts";
import { SEQ_MARK } from "./terminalMarks.ts";

export class OutputReserve {
  readonly #server: PaneUserOptions;
  readonly #log: Log;

  constructor(server: PaneUserOptions, log: Log) {
    this.#server = server;
    this.#log = log;
  }

  /** The terminal's output has come to here. */
  reached(terminal: Terminal, outputSeq: number): void {
    if (outputSeq > terminal.reservedSeq - RESERVED_OUTPUT_BYTES / 2) void this.renew(terminal);
  }

  async renew(terminal: Terminal): Promise<void> {
    const { pane, source, reservedSeq: before } = terminal;
    if (pane === undefined) return;
    const reserved = source.outputSeq + RESERVED_OUTPUT_BYTES;
    terminal.reservedSeq = reserved;
    try {
      await this.#server.setPaneUserOption(pane, SEQ_MARK, String(reserved));
    } catch (error) {
      // The next output asks again.
      if (terminal.reservedSeq === reserved) terminal.reservedSeq = before;
      this.#log.debug("freshell.reserve.failed", { error });
    }
  }

  /** Nothing more is told of them: the next daemon goes on here, without a jump. */
  async settle(terminals: readonly Terminal[]): Promise<void> {
    const note = async ({ pane, source }: Terminal): Promise<void> => {
      if (pane !== undefined) await this.#server.setPaneUserOption(pane, SEQ_MARK, String(source.outputSeq + 1));
    };
    await Promise.allSettled(terminals.map(note));
  }
}
