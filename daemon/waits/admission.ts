/** Who may still wait: the limits of seed 002 §8.3, counted from admission until the wait is over. */
import { AppError } from "../../protocol/errors.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { WaitMetrics } from "./waitMetrics.ts";

interface Count {
  waits: number;
  regexes: number;
}

export class Admission {
  #limits: WaitLimits;
  readonly #metrics: WaitMetrics;
  readonly #byTarget = new Map<object, Count>();

  constructor(limits: WaitLimits, metrics: WaitMetrics) {
    this.#limits = limits;
    this.#metrics = metrics;
  }

  /** Raises the limits to a surface's share where that is larger. */
  raise(share: WaitLimits): void {
    const { maxGlobal, maxPerTarget, maxRegexPerTarget } = this.#limits;
    this.#limits = {
      ...this.#limits,
      maxGlobal: Math.max(maxGlobal, share.maxGlobal),
      maxPerTarget: Math.max(maxPerTarget, share.maxPerTarget),
      maxRegexPerTarget: Math.max(maxRegexPerTarget, share.maxRegexPerTarget),
    };
  }

  /** Takes a place and returns its release, safe to call twice. @throws AppError RESOURCE_LIMIT; nothing is taken then */
  enter(target: object, hasRegex: boolean): () => void {
    const { numbers } = this.#metrics;
    const count = this.#byTarget.get(target) ?? { waits: 0, regexes: 0 };
    this.#check(count, hasRegex);
    this.#byTarget.set(target, count);
    const regexes = Number(hasRegex);
    numbers.wait_active++;
    numbers.wait_active_regex += regexes;
    count.waits++;
    count.regexes += regexes;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      numbers.wait_active--;
      numbers.wait_active_regex -= regexes;
      count.waits--;
      count.regexes -= regexes;
      if (count.waits === 0) this.#byTarget.delete(target);
    };
  }

  #check(count: Count, hasRegex: boolean): void {
    const { maxGlobal, maxPerTarget, maxRegexPerTarget, regexSoftLimit } = this.#limits;
    const active = this.#metrics.numbers.wait_active;
    this.#refuse("WAIT_MAX_GLOBAL", active, maxGlobal, "too many waits in this daemon");
    this.#refuse("WAIT_MAX_PER_TARGET", count.waits, maxPerTarget, "too many waits on this target");
    if (!hasRegex) return;
    this.#refuse("WAIT_MAX_REGEX_PER_TARGET", count.regexes, maxRegexPerTarget, "too many regexes on this target");
    // Overload: literals, which cost a hundredth, keep the places above these thresholds (seed 002 §8.3).
    const busy = "too busy for another regex; wait for a literal, or try again";
    this.#refuse("WAIT_MAX_GLOBAL for regexes", active, Math.max(1, Math.floor(maxGlobal * regexSoftLimit)), busy);
    this.#refuse(
      "WAIT_MAX_PER_TARGET for regexes",
      count.waits,
      Math.max(1, Math.floor(maxPerTarget * regexSoftLimit)),
      busy,
    );
  }

  #refuse(limit: string, value: number, max: number, message: string): void {
    if (value < max) return;
    this.#metrics.numbers.wait_resource_limit_total++;
    throw new AppError("RESOURCE_LIMIT", `${message} (limit ${max})`, { details: { limit, value, max } });
  }
}
