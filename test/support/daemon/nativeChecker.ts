/**
 * The judge of a stream: every byte once and in order, every hole declared. Positions must join without a seam, and the
 * bytes between two positions must be those that the pane really printed in that epoch.
 */
import type { PaneEvent } from "../../../adapters/client/client.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { parsePosition } from "../../../protocol/position.ts";
import { follow } from "../tmux/output.ts";

/** What a pane printed, by epoch, taken from the source itself. */
export class Record {
  readonly #epochs = new Map<string, { readonly chunks: Buffer[]; readonly from: number; length: number }>();
  #whole: { readonly epoch: string; readonly bytes: Buffer; readonly from: number } | undefined;

  /** Begins with what is still there; call it for each epoch. */
  begin(server: TmuxServer, pane: PaneId): void {
    const source = server.output(pane);
    const from = source.tailSeq;
    const record = { chunks: [] as Buffer[], from, length: 0 };
    this.#epochs.set(source.epoch, record);
    follow(source, from, (bytes) => {
      record.chunks.push(Buffer.from(bytes));
      record.length += bytes.length;
    });
  }

  bytes(epoch: string, from: number, to: number): Buffer {
    const record = this.#epochs.get(epoch);
    if (record === undefined) throw new Error(`epoch ${epoch} was not recorded`);
    if (this.#whole?.epoch !== epoch || this.#whole.bytes.length < record.length) {
      this.#whole = { epoch, bytes: Buffer.concat(record.chunks), from: record.from };
    }
    return this.#whole.bytes.subarray(from - record.from, to - record.from);
  }
}

export class StreamChecker {
  readonly #record: Record;
  #epoch = "";
  #seq = -1;
  bytes = 0;
  readonly gaps: { readonly reason: string; readonly from: string; readonly to: string }[] = [];
  snapshots = 0;
  closed: string | undefined;

  constructor(record: Record) {
    this.#record = record;
  }

  get position(): string {
    return `${this.#epoch}:${this.#seq}`;
  }

  /** Throws at the first fault. */
  see(event: PaneEvent): void {
    switch (event.kind) {
      case "open":
        if (this.#seq >= 0) throw new Error("opened twice");
        this.#goTo(event.position);
        return;
      case "output": {
        const { epoch, outputSeq } = parsePosition(event.position);
        const from = outputSeq - event.bytes.length;
        if (epoch !== this.#epoch || from !== this.#seq)
          throw new Error(`at ${this.position}, but ${epoch}:${from} came`);
        const wanted = this.#record.bytes(epoch, from, outputSeq);
        if (!wanted.equals(event.bytes)) throw new Error(`other bytes than were printed at ${this.position}`);
        this.bytes += event.bytes.length;
        this.#seq = outputSeq;
        return;
      }
      case "gap":
        if (event.from !== this.position) throw new Error(`at ${this.position}, but the gap is from ${event.from}`);
        this.gaps.push({ reason: event.reason, from: event.from, to: event.to });
        this.#goTo(event.to);
        return;
      case "snapshot":
        if (event.position !== this.position)
          throw new Error(`at ${this.position}, but the snapshot is of ${event.position}`);
        this.snapshots += 1;
        return;
      case "closed":
        this.closed = event.code;
        return;
      case "resize":
      case "exit":
      case "input":
      case "readiness":
        return;
    }
  }

  #goTo(position: string): void {
    ({ epoch: this.#epoch, outputSeq: this.#seq } = parsePosition(position));
  }
}
