/** The feeds of one server's panes: created for a pane's first subscriber, closed with its last. */
import type { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { PaneFeed, type PaneFeedOptions } from "./paneFeed.ts";
import { Subscription, type StreamStart, type SubscriptionSink } from "./subscription.ts";

type FeedsOptions = Omit<PaneFeedOptions, "pane" | "unfollowed">;

export interface OpenSubscription {
  readonly feed: PaneFeed;
  /** The sink has room again. */
  pump(): void;
  /** Sends the screen again at its place in the output, as after a resize. */
  redraw(): void;
  /** Writes what there is room for, then `closed` with this error. Safe to call twice. */
  finish(error: AppError): void;
  /** Safe to call twice. */
  close(): void;
}

export class Feeds {
  readonly #options: FeedsOptions;
  readonly #feeds = new Map<PaneId, PaneFeed>();

  constructor(options: FeedsOptions) {
    this.#options = options;
  }

  get subscriberCount(): number {
    let count = 0;
    for (const feed of this.#feeds.values()) count += feed.memberCount;
    return count;
  }

  /**
   * Begins to write to `sinkFor(feed)`; what is there already is written with the first `pump`.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST: nothing was written
   */
  subscribe(pane: PaneId, start: StreamStart, sinkFor: (feed: PaneFeed) => SubscriptionSink): OpenSubscription {
    let feed = this.#feeds.get(pane);
    if (feed === undefined || feed.ended !== undefined) {
      feed = new PaneFeed({ ...this.#options, pane });
      this.#feeds.set(pane, feed);
    }
    const of = feed;
    const release = (): void => {
      if (of.memberCount > 0) return;
      of.close();
      if (this.#feeds.get(pane) === of) this.#feeds.delete(pane);
    };
    const guarded = (call: () => void): void => {
      try {
        call();
      } catch (error) {
        this.#options.onError(error);
      }
    };
    try {
      const subscription = new Subscription(of, start, sinkFor(of));
      return {
        feed: of,
        pump: () => guarded(() => subscription.pump()),
        redraw: () => guarded(() => subscription.resized()),
        finish: (error) => {
          guarded(() => subscription.finish(error));
          release();
        },
        close: () => {
          subscription.close();
          release();
        },
      };
    } catch (error) {
      release();
      throw error;
    }
  }
}
