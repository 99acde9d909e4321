/** A page beside the one that is the device: it shows the same, and forwards its person's requests. */
import type { Clock } from "../../../../daemon/time/clock.ts";
import { within } from "../../../../daemon/time/within.ts";
import type { RpcOutcome } from "../../../../protocol/api/freshell/rpc.ts";
import { type DeviceAsk, failed, type PageMessage } from "./deviceAsk.ts";

interface MirrorDeskOptions {
  readonly post: (message: PageMessage) => void;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** As long as the server waits for an owner, and a little more. */
const ANSWER_WITHIN_MS = 26_000;

export class MirrorDesk {
  readonly #options: MirrorDeskOptions;
  readonly #asked = new Map<string, (outcome: RpcOutcome) => void>();

  constructor(options: MirrorDeskOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  perform(ask: DeviceAsk): Promise<RpcOutcome> {
    const { post, clock, newId } = this.#options;
    const askId = newId();
    return within(clock, ANSWER_WITHIN_MS, NO_ANSWER, (done) => {
      this.#asked.set(askId, done);
      post({ kind: "ask", askId, ask });
      return () => this.#asked.delete(askId);
    });
  }

  settle(askId: string, outcome: RpcOutcome): void {
    this.#asked.get(askId)?.(outcome);
  }

  /** This page becomes the device: outcomes of pending requests are unknown. */
  close(): void {
    for (const settle of this.#asked.values()) settle(NO_ANSWER);
  }
}

const NO_ANSWER = failed("the page that is this device did not respond; check whether it was done", "OWNER_TIMEOUT");
