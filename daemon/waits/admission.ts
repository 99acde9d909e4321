/** Who may still wait: the limits of seed 002 §8.3, counted from admission until the wait is over. */
import { AppError } from "../../protocol/errors.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { WaitMetrics } from "./waitMetrics.ts";

interface Count {
  waits: number;
  regexes: number;
}

type ActiveWaits = Pick<WaitMetrics["numbers"], "wait_active" | "wait_active_regex">;

export class Admission {
  #limits: WaitLimits;
  /** In all. */
  readonly #active: ActiveWaits;
  readonly #byTarget = new Map<object, Count>();

  constructor(limits: WaitLimits, active: ActiveWaits) {
    this.#limits = limits;
    this.#active = active;
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
    const active = this.#active;
    const count = this.#byTarget.get(target) ?? { waits: 0, regexes: 0 };
    this.#check(count, hasRegex);
    this.#byTarget.set(target, count);
    const regexes = Number(hasRegex);
    active.wait_active++;
    active.wait_active_regex += regexes;
    count.waits++;
    count.regexes += regexes;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      active.wait_active--;
      active.wait_active_regex -= regexes;
      count.waits--;
      count.regexes -= regexes;
      if (count.waits === 0) this.#byTarget.delete(target);
    };
  }

  #check(count: Count, hasRegex: boolean): void {
    const { maxGlobal, maxPerTarget, maxRegexPerTarget, regexSoftLimit } = this.#limits;
    const active = this.#active.wait_active;
    requireRoom("WAIT_MAX_GLOBAL", active, maxGlobal, "too many waits in this daemon");
    requireRoom("WAIT_MAX_PER_TARGET", count.waits, maxPerTarget, "too many waits on this target");
    if (!hasRegex) return;
    requireRoom("WAIT_MAX_REGEX_PER_TARGET", count.regexes, maxRegexPerTarget, "too many regexes on this target");
    // Overload: literals, which cost a hundredth, keep the places above these thresholds (seed 002 §8.3).
    const soft = (max: number): number => Math.max(1, Math.floor(max * regexSoftLimit));
    const busy = "too busy for another regex";
    requireRoom("WAIT_MAX_GLOBAL for regexes", active, soft(maxGlobal), busy, "wait for a literal, or ");
    requireRoom("WAIT_MAX_PER_TARGET for regexes", count.waits, soft(maxPerTarget), busy, "wait for a literal, or ");
  }
}

/** @throws AppError RESOURCE_LIMIT */
function requireRoom(limit: string, value: number, max: number, what: string, instead = ""): void {
  if (value < max) return;
  const message = `${what} (limit ${max}): ${instead}try again when a wait has ended`;
  throw new AppError("RESOURCE_LIMIT", message, { details: { limit, value, max } });
}
