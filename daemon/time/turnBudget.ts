/**
 * Runs work that must never block the event loop. A task first runs in a microtask, after everything that this turn fans out
 * to its subscribers. Once the budget is spent, the rest waits for `setImmediate`, so that each turn of the loop spends at
 * most the budget on tasks and the remainder on I/O (seed 002 §8.3: "overflow work is deferred").
 */
import type { Clock } from "./clock.ts";

/** 2 ms: two hundredths of what a person notices, and 40 chunks of 16 KiB at 300 MB/s. */
const DEFAULT_TURN_BUDGET_MS = 2;

export interface BudgetedTask {
  /** Works while `hasTimeLeft()`, which it calls between pieces of well under a millisecond. Returns true if nothing is left. */
  run(hasTimeLeft: () => boolean): boolean;
}

interface TurnBudgetOptions {
  readonly clock: Clock;
  readonly budgetMs?: number | undefined;
  /** Gets the time that each turn spent working. */
  readonly onTurn?: ((elapsedMs: number) => void) | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
}

export class TurnBudget {
  readonly #clock: Clock;
  readonly #budgetMs: number;
  readonly #onTurn: ((elapsedMs: number) => void) | undefined;
  readonly #onError: (error: unknown) => void;
  /** In order of arrival; each task at most once. */
  readonly #tasks = new Set<BudgetedTask>();
  /** Whether a run is already scheduled, as a microtask or by `setImmediate`. */
  #scheduled = false;
  #deadlineMs = 0;
  readonly #hasTimeLeft = (): boolean => this.#clock.nowMs() < this.#deadlineMs;
  readonly #turn = (): void => this.#work();

  constructor(options: TurnBudgetOptions) {
    this.#clock = options.clock;
    this.#budgetMs = options.budgetMs ?? DEFAULT_TURN_BUDGET_MS;
    this.#onTurn = options.onTurn;
    this.#onError = options.onError ?? (() => undefined);
  }

  /** The number of tasks that have work left. */
  get backlog(): number {
    return this.#tasks.size;
  }

  /** Runs the task soon; a task that is already waiting keeps its place. */
  add(task: BudgetedTask): void {
    this.#tasks.add(task);
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(this.#turn);
  }

  has(task: BudgetedTask): boolean {
    return this.#tasks.has(task);
  }

  remove(task: BudgetedTask): void {
    this.#tasks.delete(task);
  }

  #work(): void {
    const startMs = this.#clock.nowMs();
    this.#deadlineMs = startMs + this.#budgetMs;
    for (const task of this.#tasks) {
      this.#tasks.delete(task);
      let finished = true;
      try {
        finished = task.run(this.#hasTimeLeft);
      } catch (error) {
        this.#onError(error);
      }
      // A task that ran out of time goes to the back of the queue, so that one busy pane cannot starve the rest.
      if (!finished) this.#tasks.add(task);
      if (!this.#hasTimeLeft()) break;
    }
    this.#onTurn?.(this.#clock.nowMs() - startMs);
    this.#scheduled = this.#tasks.size > 0;
    if (this.#scheduled) setImmediate(this.#turn);
  }
}
