/**
 * Channel numbers, which identify a pane's feed in binary frames. All subscribers of a feed share its number, so that one
 * encoded frame serves them all; a new feed of the same pane gets a new number.
 */
import type { FrameEncoder, PaneFeed } from "../../daemon/panes/paneFeed.ts";
import { encodeStreamFrame } from "../../protocol/api/native/nativeFrames.ts";

interface Channel {
  readonly number: number;
  readonly encode: FrameEncoder;
}

/** Numbers are u32 on the wire. */
const MAX_CHANNEL = 4_294_967_295;

export class Channels {
  readonly #channels = new WeakMap<PaneFeed, Channel>();
  #last = 0;

  of(feed: PaneFeed): Channel {
    let channel = this.#channels.get(feed);
    if (channel === undefined) {
      const number = this.next();
      channel = { number, encode: ({ from, bytes }) => encodeStreamFrame(number, from, bytes) };
      this.#channels.set(feed, channel);
    }
    return channel;
  }

  /** A number for a channel that is not of one of our feeds. */
  next(): number {
    this.#last = this.#last === MAX_CHANNEL ? 1 : this.#last + 1;
    return this.#last;
  }
}
