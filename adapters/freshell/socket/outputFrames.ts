/**
 * Output as text frames: decoded, filtered and encoded as JSON once per pane and turn for all readers. A character or
 * sequence cut by a chunk is held back until complete; what is held back depends on the output alone, so readers of the
 * same bytes hold back the same.
 */
import type { OutputChunk, PaneFeed } from "../../../daemon/panes/paneFeed.ts";
import { decodeUtf8 } from "../../../protocol/text/utf8.ts";
import { queryFilter } from "./queryFilter.ts";

const NOTHING: Uint8Array = new Uint8Array(0);
/** Positions whose held-back bytes are remembered: those of one turn. */
const MAX_PLACES = 64;

interface OutputFrame {
  /** Empty when all of it is held back. */
  readonly frame: Uint8Array;
  /** To be passed with the next chunk. */
  readonly unfinished: Uint8Array;
}

class TextFrames {
  readonly #head: string;
  /** By the position after a chunk: its held-back bytes. */
  readonly #waiting = new Map<number, Uint8Array>();
  #before = NOTHING;
  readonly #encode = (chunk: OutputChunk): Uint8Array => this.#frameOf(chunk);

  readonly #filter: ReturnType<typeof queryFilter>;

  constructor(terminalId: string, filter: ReturnType<typeof queryFilter>) {
    this.#filter = filter;
    this.#head = `{"type":"terminal.output","terminalId":${JSON.stringify(terminalId)},"data":`;
  }

  frame(feed: PaneFeed, chunk: OutputChunk, before: Uint8Array): OutputFrame {
    this.#before = before;
    const frame = feed.frame(this.#encode, chunk);
    return { frame, unfinished: this.#waiting.get(chunk.to) ?? NOTHING };
  }

  #frameOf({ to, bytes: chunk }: OutputChunk): Uint8Array {
    const before = this.#before;
    const { bytes, unfinished } = this.#filter(before.length === 0 ? chunk : Buffer.concat([before, chunk]));
    this.#note(to, unfinished);
    if (bytes.length === 0) return NOTHING;
    const text = JSON.stringify(decodeUtf8(bytes));
    return Buffer.from(`${this.#head}${text},"outputSeq":${to - unfinished.length}}`);
  }

  #note(to: number, unfinished: Uint8Array): void {
    this.#waiting.delete(to);
    if (unfinished.length === 0) return;
    this.#waiting.set(to, unfinished);
    for (const place of this.#waiting.keys()) {
      if (this.#waiting.size <= MAX_PLACES) break;
      this.#waiting.delete(place);
    }
  }
}

/** For all connections. */
export class FrameShare {
  readonly #byFeed = new WeakMap<PaneFeed, TextFrames>();
  readonly #filter: ReturnType<typeof queryFilter>;

  /** @param tmuxVersion of the tmux that answers terminal queries itself */
  constructor(tmuxVersion: string | undefined) {
    this.#filter = queryFilter(tmuxVersion);
  }

  frame(feed: PaneFeed, terminalId: string, chunk: OutputChunk, before: Uint8Array): OutputFrame {
    let frames = this.#byFeed.get(feed);
    if (frames === undefined) {
      frames = new TextFrames(terminalId, this.#filter);
      this.#byFeed.set(feed, frames);
    }
    return frames.frame(feed, chunk, before);
  }
}
