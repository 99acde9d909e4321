/** One surface's share of the waits: its own limits, counted separately, within those of the process. */
import { Admission } from "./admission.ts";
import { regexUnavailable } from "./regex/regexEngine.ts";
import type { WaitLimits } from "./waitLimits.ts";

export class WaitShare {
  readonly limits: WaitLimits;
  readonly #disableRegex: boolean;
  readonly #admission: Admission;

  /** @param disableRegex refuses every regex of this surface */
  constructor(limits: WaitLimits, disableRegex: boolean) {
    this.limits = limits;
    this.#disableRegex = disableRegex;
    this.#admission = new Admission(limits, { wait_active: 0, wait_active_regex: 0 });
  }

  /**
   * Takes a place here and one in the process; returns what releases both. @throws AppError RESOURCE_LIMIT,
   * UNSUPPORTED_PATTERN_ENGINE
   */
  enter(target: object, hasRegex: boolean, process: Admission): () => void {
    if (hasRegex && this.#disableRegex) throw regexUnavailable("they are switched off here");
    const leave = this.#admission.enter(target, hasRegex);
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
}
