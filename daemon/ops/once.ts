/**
 * One run per key: a repeated request joins the run under way, or gets what the first run did for as long as the store
 * keeps it. A key belongs to one request. Nothing here knows Node: a page uses it too.
 */
import { AppError } from "../../protocol/errors.ts";

/** Its parts in order: whose it is, and the key itself. */
export type OnceKey = readonly (string | number)[];

export interface Kept<Result> {
  /** What the key was given to: its text, or a digest. */
  readonly request: string;
  readonly result: Result;
}

/** What was done under which key. A store has a bound, and drops the oldest. */
export interface OnceStore<Result> {
  /** A run that was begun and whose end nobody knows has the result that the store has for it. */
  find(key: OnceKey): Kept<Result> | undefined;
  /** Before the first effect, where a crash must not lead to a second run. @throws AppError: then nothing may be done */
  begin?(key: OnceKey, request: string): void;
  complete(key: OnceKey, request: string, result: Result): void;
  forget(key: OnceKey): void;
}

interface OnceOptions<Result> {
  /** Without one, a run is joined while it is under way, and nothing is kept. */
  readonly store?: OnceStore<Result> | undefined;
  /** A record could not be completed or removed; the run's own result is returned all the same. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

export class Once<Result> {
  readonly #store: OnceStore<Result> | undefined;
  readonly #onError: (error: unknown) => void;
  readonly #underWay = new Map<string, Kept<Promise<Result>>>();

  constructor({ store, onError = () => undefined }: OnceOptions<Result>) {
    this.#store = store;
    this.#onError = onError;
  }

  /** What the same request did, or does; undefined for a new key. @throws AppError ALREADY_EXISTS for another request */
  earlier(key: OnceKey, request: string): Promise<Result> | undefined {
    const kept = this.#underWay.get(JSON.stringify(key)) ?? this.#store?.find(key);
    if (kept === undefined) return undefined;
    requireSameRequest(kept.request, request);
    return Promise.resolve(kept.result);
  }

  /**
   * `earlier`, or the first run. `work` is called in this turn; it calls `begin` before its first effect if the store
   * notes beginnings. A result that `keeps` refuses is forgotten; what a run did that rejects after `begin` is unknown.
   * @throws AppError ALREADY_EXISTS when the key belongs to another request; what `work` throws
   */
  async run(
    key: OnceKey,
    request: string,
    work: (begin: () => void) => Promise<Result>,
    keeps: (result: Result) => boolean = () => true,
  ): Promise<Result> {
    const earlier = this.earlier(key, request);
    if (earlier !== undefined) return earlier;
    const id = JSON.stringify(key);
    const result = this.#first(key, request, work, keeps).finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, { request, result });
    return result;
  }

  async #first(...[key, request, work, keeps]: Required<Parameters<Once<Result>["run"]>>): Promise<Result> {
    const result = await work(() => this.#store?.begin?.(key, request));
    this.#record((store) => (keeps(result) ? store.complete(key, request, result) : store.forget(key)));
    return result;
  }

  /** What was done cannot be undone because its record fails. */
  #record(write: (store: OnceStore<Result>) => void): void {
    try {
      if (this.#store !== undefined) write(this.#store);
    } catch (error) {
      this.#onError(error);
    }
  }
}

/** `details.reason` of the refusal of a key that was given to another request. */
const REASON = "idempotency_key";

/** @throws AppError ALREADY_EXISTS */
export function requireSameRequest(known: string, asked: string): void {
  if (known === asked) return;
  throw new AppError(
    "ALREADY_EXISTS",
    "this idempotency key belongs to another request; take a new key for a new one",
    { details: { reason: REASON } },
  );
}

export const isOfOtherRequest = (error: unknown): boolean =>
  error instanceof AppError && error.code === "ALREADY_EXISTS" && error.details?.["reason"] === REASON;

export interface OnceEntry<Result> extends Kept<Result> {
  readonly key: OnceKey;
  readonly atMs: number;
}

interface MemoryOptions<Result> {
  readonly maxEntries: number;
  readonly keptMs: number;
  /** A clock that is set back makes nothing too old. */
  readonly nowMs: () => number;
  /** Oldest first. */
  readonly entries?: Iterable<OnceEntry<Result>> | undefined;
}

export class OnceMemory<Result> implements OnceStore<Result> {
  readonly #options: MemoryOptions<Result>;
  /** Oldest first. */
  readonly #entries = new Map<string, OnceEntry<Result>>();

  constructor(options: MemoryOptions<Result>) {
    this.#options = options;
    for (const entry of options.entries ?? []) this.#entries.set(JSON.stringify(entry.key), entry);
    this.#trim();
  }

  get size(): number {
    return this.#entries.size;
  }

  entries(): Iterable<OnceEntry<Result>> {
    return this.#entries.values();
  }

  find(key: OnceKey): Kept<Result> | undefined {
    const entry = this.#entries.get(JSON.stringify(key));
    return entry !== undefined && this.#isYoung(entry) ? entry : undefined;
  }

  complete(key: OnceKey, request: string, result: Result): void {
    this.forget(key);
    this.#entries.set(JSON.stringify(key), { key, request, result, atMs: this.#options.nowMs() });
    this.#trim();
  }

  forget(key: OnceKey): void {
    this.#entries.delete(JSON.stringify(key));
  }

  #trim(): void {
    for (const [id, oldest] of this.#entries) {
      if (this.#entries.size <= this.#options.maxEntries && this.#isYoung(oldest)) break;
      this.#entries.delete(id);
    }
  }

  #isYoung({ atMs }: OnceEntry<Result>): boolean {
    return this.#options.nowMs() - atMs < this.#options.keptMs;
  }
}
