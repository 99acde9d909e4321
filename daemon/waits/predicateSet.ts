/** Predicates that must hold together, and what has become of each: latched for good, or a level that may fall again. */
import type { FoundText } from "./patternWatch.ts";
import type { CheckedSet } from "./waitRequest.ts";
import type { PredicateProgress } from "./waitTypes.ts";

/** What a set must know of its target. */
export interface TargetState {
  readonly nowMs: number;
  readonly registeredMs: number;
  /** -Infinity before the first output. */
  readonly lastOutputMs: number;
  /** When the program ended; undefined while it runs. */
  readonly exitedMs: number | undefined;
  readonly isGone: boolean;
}

export interface SatisfiedPredicate {
  readonly predicate: string;
  readonly found: FoundText | undefined;
}

export class PredicateSet {
  readonly checked: CheckedSet;
  pattern: FoundText | undefined;
  prompt: FoundText | undefined;
  /** By index of the set's external predicates. */
  readonly external: boolean[];

  constructor(checked: CheckedSet) {
    this.checked = checked;
    this.external = checked.external.map(() => false);
  }

  /** When the set will hold if nothing more happens: `nowMs` or earlier when it holds, undefined when something lacks. */
  dueMs(state: TargetState): number | undefined {
    const { checked } = this;
    if (checked.pattern !== undefined && this.pattern === undefined) return undefined;
    if (checked.prompt && this.prompt === undefined) return undefined;
    if (checked.exit && state.exitedMs === undefined) return undefined;
    if (checked.gone && !state.isGone) return undefined;
    if (!this.external.every(Boolean)) return undefined;
    return checked.stableMs === undefined ? state.nowMs : this.#quietSinceMs(state) + checked.stableMs;
  }

  progress(state: TargetState): PredicateProgress {
    const { checked } = this;
    const progress: PredicateProgress = {};
    if (checked.pattern !== undefined) progress.pattern = this.pattern !== undefined;
    if (checked.stableMs !== undefined) {
      const quietMs = Math.max(0, state.nowMs - this.#quietSinceMs(state));
      const satisfied = quietMs >= checked.stableMs && (!checked.exit || state.exitedMs !== undefined);
      progress.stable = { satisfied, quietMs: Math.round(quietMs) };
    }
    if (checked.exit) progress.exit = state.exitedMs !== undefined;
    if (checked.prompt) progress.prompt = this.prompt !== undefined;
    if (checked.gone) progress.gone = state.isGone;
    for (const [index, { name }] of checked.external.entries()) progress[name] = this.external[index] === true;
    return progress;
  }

  /** For a set that holds. */
  satisfied(): SatisfiedPredicate[] {
    const { checked } = this;
    const names: [string, FoundText | undefined][] = [];
    if (checked.pattern !== undefined) names.push(["pattern", this.pattern]);
    if (checked.stableMs !== undefined) names.push(["stable", undefined]);
    if (checked.exit) names.push(["exit", undefined]);
    if (checked.prompt) names.push(["prompt", this.prompt]);
    if (checked.gone) names.push(["gone", undefined]);
    for (const { name } of checked.external) names.push([name, undefined]);
    return names.map(([name, found]) => ({ predicate: checked.prefix + name, found }));
  }

  /** With `exit` in the set the window begins at the later of exit and last output, never before registration. */
  #quietSinceMs(state: TargetState): number {
    const exitedMs = this.checked.exit ? (state.exitedMs ?? -Infinity) : -Infinity;
    return Math.max(state.registeredMs, state.lastOutputMs, exitedMs);
  }
}
