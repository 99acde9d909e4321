/** Counts of values by bucket, for durations in `/metrics`. */
export interface HistogramSnapshot {
  /** Observations above the previous `le` and up to this one, not cumulative; the last `le` is Infinity. */
  readonly buckets: readonly { readonly le: number; readonly count: number }[];
  readonly count: number;
  readonly sum: number;
}

export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #count = 0;
  #sum = 0;

  /** @param bounds upper bounds, ascending; values above the last are counted too */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.#bounds.length && value > this.#bounds[index]!) index += 1;
    this.#counts[index]! += 1;
    this.#count += 1;
    this.#sum += value;
  }

  snapshot(): HistogramSnapshot {
    const buckets = this.#counts.map((count, index) => ({ le: this.#bounds[index] ?? Infinity, count }));
    return { buckets, count: this.#count, sum: this.#sum };
  }
}
