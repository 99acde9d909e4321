/** One client's view of one terminal: a snapshot first, then every byte of output once and in order, or a declared gap. */
import type { OpenSubscription } from "../../../daemon/panes/feeds.ts";
import type { PaneFeed } from "../../../daemon/panes/paneFeed.ts";
import type { SubscriptionSink } from "../../../daemon/panes/subscription.ts";
import type { Snapshot } from "../../../daemon/tmux/io.ts";
import type { ServerMessage } from "../../../protocol/api/freshell/freshellWire.ts";
import type { AppError } from "../../../protocol/errors.ts";
import type { FreshellContext } from "../freshellContext.ts";
import { exitCodeOf, type Terminal } from "../terminals/terminal.ts";
import { chunkedFrames, snapshotText } from "./snapshotFrames.ts";

/** What an attachment needs of its connection. */
export interface AttachmentSink {
  /** Whether the connection takes any data. */
  readonly isOpen: () => boolean;
  readonly send: (message: ServerMessage) => void;
  /** An encoded message. */
  readonly frame: (frame: Uint8Array) => void;
  /** Maximum size of a large snapshot's chunks; undefined if the client did not ask for chunks. */
  readonly chunkBytes: number | undefined;
}

export interface AttachmentOptions {
  readonly context: FreshellContext;
  readonly terminal: Terminal;
  readonly sink: AttachmentSink;
  /** The snapshot is the response to this create. */
  readonly requestId?: string | undefined;
  /** Nothing follows. `error` when it never began. */
  readonly onClosed: (error: AppError | undefined) => void;
}

export class Attachment {
  readonly #options: AttachmentOptions;
  readonly #subscription: OpenSubscription;
  #unfinished: Uint8Array = new Uint8Array(0);
  /** Requests that wait for the snapshot: creates by their requestId, attaches without one. */
  #asked: (string | undefined)[];
  #hasBegun = false;
  #isClosed = false;

  /** @throws AppError NOT_FOUND, CONNECTION_LOST */
  constructor(options: AttachmentOptions) {
    this.#options = options;
    this.#asked = [options.requestId];
    const { context, terminal } = options;
    this.#subscription = context.feeds.subscribe(terminal.key, { kind: "snapshot" }, (feed) => this.#sink(feed));
    terminal.clients += 1;
    this.#subscription.pump();
  }

  /** A repeated request before the snapshot: it responds to both. False: it has been sent. */
  alsoFor(requestId: string | undefined): boolean {
    if (this.#hasBegun || this.#isClosed) return false;
    this.#asked.push(requestId);
    return true;
  }

  /** Safe to call twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { context, terminal } = this.#options;
    terminal.clients -= 1;
    this.#subscription.close();
    context.book.clientsChanged();
  }

  #sink(feed: PaneFeed): SubscriptionSink {
    const { context, terminal, sink } = this.#options;
    const terminalId = terminal.id;
    return {
      room: () => (sink.isOpen() ? 1 : 0),
      // The snapshot follows.
      open: () => undefined,
      output: (chunk) => {
        const { frame, unfinished } = context.frames.frame(feed, terminalId, chunk, this.#unfinished);
        this.#unfinished = unfinished;
        if (frame.length > 0) sink.frame(frame);
      },
      gap: ({ from, to, reason }) => {
        const gap = { from: from.outputSeq, to: to.outputSeq, reason };
        sink.send({ type: "terminal.output", terminalId, data: "", outputSeq: gap.to, gap });
      },
      snapshot: (snapshot) => this.#snapshot(snapshot),
      // A page redraws its own screen.
      resized: () => undefined,
      exited: (status) => sink.send({ type: "terminal.exit", terminalId, exitCode: exitCodeOf(status) ?? null }),
      closed: (error) => {
        this.close();
        this.#options.onClosed(this.#hasBegun ? undefined : error);
      },
    };
  }

  #snapshot(snapshot: Snapshot): void {
    const { context, terminal, sink } = this.#options;
    const shown = snapshotText(snapshot);
    const { text, outputSeq } = shown;
    this.#unfinished = shown.unfinished;
    const { id: terminalId, identity } = terminal;
    const { chunkBytes } = sink;
    const chunked = chunkBytes === undefined ? undefined : chunkedFrames(terminalId, shown, chunkBytes);
    const asked = this.#asked.length === 0 ? [undefined] : this.#asked;
    this.#asked = [];
    for (const requestId of asked) {
      if (requestId !== undefined) {
        const created = { type: "terminal.created", requestId, terminalId, createdAt: identity.createdAt } as const;
        const whole = chunked === undefined ? { snapshot: text } : { snapshotChunked: true as const };
        sink.send({ ...created, outputSeq, ...whole });
      } else if (chunked === undefined) {
        sink.send({ type: "terminal.attached", terminalId, snapshot: text, outputSeq });
      }
      for (const message of chunked ?? []) sink.send(message);
    }
    if (!this.#hasBegun) context.book.clientsChanged();
    this.#hasBegun = true;
  }
}
