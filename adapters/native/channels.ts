/**
 * Channel numbers, which identify a pane's feed in binary frames. All subscribers of a feed share its number, so that one
 * encoded frame serves them all; a new feed of the same pane gets a new number.
 */
import type { FrameEncoder, PaneFeed } from "../../daemon/panes/paneFeed.ts";
import {
  STREAM_FRAME_HEADER_BYTES,
  type StreamFrame,
  writeStreamFrame,
} from "../../protocol/api/native/nativeFrames.ts";
import { emptyFrame } from "../kit/streams/messageFrame.ts";

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
      channel = { number, encode: ({ from, bytes }) => outputFrame({ channel: number, outputSeq: from, bytes }) };
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

/** Output as the WebSocket's frame of its message. */
export function outputFrame(output: StreamFrame): Uint8Array {
  const { frame, at } = emptyFrame("binary", STREAM_FRAME_HEADER_BYTES + output.bytes.length);
  writeStreamFrame(frame, at, output);
  return frame;
}
