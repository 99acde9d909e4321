/** Predicates that must hold together, and the progress of each within one wait. */
import type { FoundText } from "./text/patternWatch.ts";
import type { Predicate, TargetState } from "./predicates/predicate.ts";
import type { Prepared } from "./prepared.ts";
import type { WaitContext } from "./waitContext.ts";
import type { CheckedSet } from "./waitRequest.ts";
import type { PredicateProgress } from "./waitTypes.ts";

interface SatisfiedPredicate {
  readonly predicate: string;
  readonly found: FoundText | undefined;
}

interface ArmedPredicate {
  readonly row: Predicate;
  readonly armed: unknown;
}

export class PredicateSet {
  readonly #checked: CheckedSet;
  readonly #armed: ArmedPredicate[] = [];

  constructor(checked: CheckedSet) {
    this.#checked = checked;
  }

  asksFor(name: string): boolean {
    return this.#checked.predicates.some(({ row }) => row.name === name);
  }

  /** Once. @throws AppError */
  arm(context: WaitContext, prepared: Prepared["predicates"]): void {
    for (const predicate of this.#checked.predicates) {
      const { row, checked } = predicate;
      this.#armed.push({ row, armed: row.arm(checked, context, prepared.get(predicate)) });
    }
  }

  /**
   * When the set will hold if nothing more happens: `nowMs` or earlier when it holds, undefined when something is
   * missing.
   */
  dueMs(state: TargetState): number | undefined {
    let latestMs = -Infinity;
    for (const { row, armed } of this.#armed) {
      const dueMs = row.dueMs(armed, state);
      if (dueMs === undefined) return undefined;
      if (dueMs > latestMs) latestMs = dueMs;
    }
    return latestMs;
  }

  progress(state: TargetState): PredicateProgress {
    return Object.fromEntries(this.#armed.map(({ row, armed }) => [row.name, row.progress(armed, state)]));
  }

  /** For a set that holds. */
  satisfied(): SatisfiedPredicate[] {
    const { prefix } = this.#checked;
    return this.#armed.map(({ row, armed }) => ({ predicate: prefix + row.name, found: row.found?.(armed) }));
  }
}
