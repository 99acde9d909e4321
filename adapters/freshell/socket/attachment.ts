/** One client's view of one terminal: a snapshot first, then every byte of output once and in order, or a declared gap. */
import type { OpenSubscription } from "../../../daemon/panes/feeds.ts";
import type { PaneFeed } from "../../../daemon/panes/paneFeed.ts";
import type { SubscriptionSink } from "../../../daemon/panes/subscription.ts";
import type { Snapshot } from "../../../daemon/tmux/io.ts";
import type { ServerMessage } from "../../../protocol/api/freshell/freshellWire.ts";
import type { AppError } from "../../../protocol/errors.ts";
import { decodeUtf8 } from "../../../protocol/text/utf8.ts";
import { shellStatusOf } from "../../../daemon/tmux/outputSource.ts";
import type { Terminal } from "../terminals/terminal.ts";
import type { TerminalRegistry } from "../terminals/terminalRegistry.ts";
import type { FrameShare } from "./outputFrames.ts";
import type { SocketClient } from "./socketClient.ts";

interface AttachmentOptions {
  readonly client: SocketClient;
  readonly terminal: Terminal;
  readonly terminals: TerminalRegistry;
  readonly frames: FrameShare;
  /** Maximum size of a large snapshot's chunks; undefined if the client did not ask for chunks. */
  readonly chunkBytes: number | undefined;
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
    const { terminal, terminals } = options;
    this.#subscription = terminals.feeds.subscribe(terminal.key, { kind: "snapshot" }, (feed) => this.#sink(feed));
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
    this.#options.terminal.clients -= 1;
    this.#subscription.close();
    this.#options.terminals.changed();
  }

  #sink(feed: PaneFeed): SubscriptionSink {
    const { client, terminal, frames } = this.#options;
    const terminalId = terminal.id;
    return {
      room: () => (client.isOpen ? 1 : 0),
      // The snapshot follows.
      open: () => undefined,
      output: (chunk) => {
        const { frame, unfinished } = frames.frame(feed, terminalId, chunk, this.#unfinished);
        this.#unfinished = unfinished;
        if (frame.length > 0) client.frame(frame);
      },
      gap: ({ from, to, reason }) => {
        const gap = { from: from.outputSeq, to: to.outputSeq, reason };
        client.send({ type: "terminal.output", terminalId, data: "", outputSeq: gap.to, gap });
      },
      snapshot: (snapshot) => this.#snapshot(snapshot),
      // A page redraws its own screen.
      resized: () => undefined,
      exited: (status) => client.send({ type: "terminal.exit", terminalId, exitCode: shellStatusOf(status) ?? null }),
      closed: (error) => {
        this.close();
        this.#options.onClosed(this.#hasBegun ? undefined : error);
      },
    };
  }

  #snapshot(snapshot: Snapshot): void {
    const { client, terminal, terminals, chunkBytes } = this.#options;
    const shown = snapshotText(snapshot);
    const { text, outputSeq } = shown;
    this.#unfinished = shown.unfinished;
    const { id: terminalId, identity } = terminal;
    const chunked = chunkBytes === undefined ? undefined : chunkedFrames(terminalId, shown, chunkBytes);
    const asked = this.#asked.length === 0 ? [undefined] : this.#asked;
    this.#asked = [];
    for (const requestId of asked) {
      if (requestId !== undefined) {
        const created = { type: "terminal.created", requestId, terminalId, createdAt: identity.createdAt } as const;
        const whole = chunked === undefined ? { snapshot: text } : { snapshotChunked: true as const };
        client.send({ ...created, outputSeq, ...whole });
      } else if (chunked === undefined) {
        client.send({ type: "terminal.attached", terminalId, snapshot: text, outputSeq });
      }
      for (const message of chunked ?? []) client.send(message);
    }
    if (!this.#hasBegun) terminals.changed();
    this.#hasBegun = true;
  }
}

interface SnapshotText {
  readonly text: string;
  /** To be completed by the following output, as `OutputFrame.unfinished`. */
  readonly unfinished: Uint8Array;
  /** After `text`. */
  readonly outputSeq: number;
}

function snapshotText({ data, pendingBytes = 0, position }: Snapshot): SnapshotText {
  const end = data.length - pendingBytes;
  return {
    text: decodeUtf8(data.subarray(0, end)),
    unfinished: data.slice(end),
    outputSeq: position.outputSeq - pendingBytes,
  };
}

/** Undefined: it fits into one frame. */
function chunkedFrames(
  terminalId: string,
  { text, outputSeq }: SnapshotText,
  maxBytes: number,
): readonly ServerMessage[] | undefined {
  const chunkFrame = (chunk: string): ServerMessage => ({ type: "terminal.attached.chunk", terminalId, chunk });
  const sizeOf = (chunk: string): number => Buffer.byteLength(JSON.stringify(chunkFrame(chunk)));
  // JSON only makes text longer: less than that certainly fits.
  if (text.length * 6 + 256 <= maxBytes || sizeOf(text) <= maxBytes) return undefined;
  const chunks: string[] = [];
  for (let at = 0; at < text.length;) {
    let length = Math.min(text.length - at, maxBytes);
    for (;;) {
      const chunk = text.slice(at, wholeEnd(text, at, at + length));
      const size = sizeOf(chunk);
      if (size <= maxBytes) {
        chunks.push(chunk);
        at += chunk.length;
        break;
      }
      length = Math.max(2, Math.floor((length * maxBytes * 0.97) / size));
    }
  }
  const totals = { terminalId, totalCodeUnits: text.length, totalChunks: chunks.length, outputSeq };
  return [
    { type: "terminal.attached.start", ...totals },
    ...chunks.map(chunkFrame),
    { type: "terminal.attached.end", ...totals },
  ];
}

/** Does not cut a surrogate pair, unless nothing else would be left. */
function wholeEnd(text: string, begin: number, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff && end < text.length && end - 1 > begin ? end - 1 : end;
}
