/**
 * Pairs commands with their guard blocks. tmux replies in order and a reply cannot be withdrawn (control.c), so a
 * caller that gives up leaves its slot behind; a slot is removed when its last block has come, or when a group fails,
 * because tmux drops the rest of a line. Bounded in commands and bytes; one `failAll` when the connection is lost.
 */
import { AppError } from "../../protocol/errors.ts";
import type { GuardBlock, ReplyShape } from "../../protocol/control/parser.ts";
import { MAX_PENDING_COMMAND_BYTES, MAX_PENDING_COMMANDS, MAX_REPLY_BYTES } from "../../protocol/limits.ts";
import { clip } from "../../protocol/text/clip.ts";

/** Whether tmux refused the command, and nothing else is wrong. */
export const isRefusal = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === "TMUX_COMMAND_FAILED";

/** For a command whose target may have gone meanwhile. */
export function ignoreRefusal(error: unknown): void {
  if (!isRefusal(error)) throw error;
}

export interface Reply {
  readonly body: Uint8Array;
  /** For foreign replies: the text after the nonce. */
  readonly trailer: string;
}

/** A failed group has the replies of the commands before the failed one. */
export type Outcome =
  | { readonly replies: readonly Reply[] }
  | { readonly error: AppError; readonly replies?: readonly Reply[] };

/** Called exactly once per added command. */
export type Settle = (outcome: Outcome) => void;

interface Slot {
  readonly shapes: readonly ReplyShape[];
  readonly bytes: number;
  settle: Settle;
  readonly replies: Reply[];
}

const utf8 = new TextDecoder();
/** How much of tmux's error text goes into a message. */
const MAX_ERROR_CHARS = 300;

export class CommandQueue {
  /** Slots before `#head` are done; the array is cut when half of its slots are (no shift per reply). */
  #slots: (Slot | undefined)[] = [];
  #head = 0;
  #bytes = 0;

  get pending(): number {
    return this.#slots.length - this.#head;
  }

  /** @throws AppError RESOURCE_LIMIT when the queue is full: nothing was added. */
  add(shapes: readonly ReplyShape[], bytes: number, settle: Settle): void {
    if (this.pending >= MAX_PENDING_COMMANDS || this.#bytes + bytes > MAX_PENDING_COMMAND_BYTES) {
      throw new AppError("RESOURCE_LIMIT", "too many tmux commands are waiting for a reply; try again shortly", {
        details: { pending: this.pending, pendingBytes: this.#bytes },
      });
    }
    this.#slots.push({ shapes, bytes, settle, replies: [] });
    this.#bytes += bytes;
  }

  /** The shape of the next block that replies to a command. */
  expect(): ReplyShape | undefined {
    const slot = this.#slots[this.#head];
    return slot?.shapes[slot.replies.length];
  }

  /** @throws AppError PROTOCOL_ERROR if no command is waiting: pairing is lost and the connection must be closed. */
  reply(block: GuardBlock): void {
    const slot = this.#slots[this.#head];
    if (slot === undefined) {
      throw new AppError("PROTOCOL_ERROR", "tmux replied to a command that was not sent; reconnecting");
    }
    if (!block.ok) {
      this.#retire(slot);
      const text = clip(utf8.decode(block.body).trim(), MAX_ERROR_CHARS);
      const error = new AppError("TMUX_COMMAND_FAILED", `tmux: ${text}`, { details: { tmux: text } });
      settleOnce(slot, { error, replies: slot.replies });
      return;
    }
    slot.replies.push({ body: block.body, trailer: block.trailer });
    const isLast = slot.replies.length === slot.shapes.length;
    if (isLast) this.#retire(slot);
    if (block.overflowed) {
      settleOnce(slot, {
        error: new AppError("RESOURCE_LIMIT", `tmux's reply is larger than ${MAX_REPLY_BYTES} bytes; request less`),
      });
    } else if (isLast) settleOnce(slot, { replies: slot.replies });
  }

  /** Settles every waiting command. */
  failAll(error: AppError): void {
    const slots = this.#slots;
    this.#slots = [];
    this.#head = 0;
    this.#bytes = 0;
    for (const slot of slots) {
      if (slot !== undefined) settleOnce(slot, { error });
    }
  }

  /** Settles every caller but keeps the slots, because a silent tmux may still reply. Commands added meanwhile stay. */
  abandonAll(error: AppError): void {
    for (const slot of this.#slots.slice()) {
      if (slot !== undefined) settleOnce(slot, { error });
    }
  }

  #retire(slot: Slot): void {
    this.#bytes -= slot.bytes;
    this.#slots[this.#head] = undefined;
    this.#head += 1;
    if (this.#head * 2 > this.#slots.length) {
      this.#slots = this.#slots.slice(this.#head);
      this.#head = 0;
    }
  }
}

function settleOnce(slot: Slot, outcome: Outcome): void {
  const { settle } = slot;
  slot.settle = () => undefined;
  settle(outcome);
}
