/** One surface's share of the waits: its own limits, counted separately, within those of the process. */
import { Admission } from "./admission.ts";
import { regexUnavailable } from "./regex/regexEngine.ts";
import type { WaitLimits } from "./waitLimits.ts";
import { WaitMetrics } from "./waitMetrics.ts";

interface WaitShareOptions {
  readonly limits: WaitLimits;
  /** Refuses every regex of this surface. */
  readonly disableRegex: boolean;
  /** The share is full, and a wait was refused. */
  readonly onRefused: () => void;
}

export class WaitShare {
  readonly limits: WaitLimits;
  readonly #options: WaitShareOptions;
  readonly #admission: Admission;

  constructor(options: WaitShareOptions) {
    this.#options = options;
    this.limits = options.limits;
    this.#admission = new Admission(options.limits, new WaitMetrics());
  }

  /**
   * Takes a place here and one in the process; returns what releases both. @throws AppError RESOURCE_LIMIT,
   * UNSUPPORTED_PATTERN_ENGINE
   */
  enter(target: object, hasRegex: boolean, process: Admission): () => void {
    if (hasRegex && this.#options.disableRegex) throw regexUnavailable("they are switched off here");
    const leave = this.#own(target, hasRegex);
    try {
      const leaveProcess = process.enter(target, hasRegex);
      return () => {
        leaveProcess();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }

  #own(target: object, hasRegex: boolean): () => void {
    try {
      return this.#admission.enter(target, hasRegex);
    } catch (error) {
      this.#options.onRefused();
      throw error;
    }
  }
}
