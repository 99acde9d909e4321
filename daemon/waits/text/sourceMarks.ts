/**
 * Where plain text and the source it was derived from run out of step: pairs of a text offset and a source position, both
 * ascending. Between two pairs one byte of text is one byte of source.
 */
const FIRST_MARKS = 64;

export class SourceMarks {
  #text: Float64Array;
  #source: Float64Array;
  #count: number;

  constructor(text = new Float64Array(FIRST_MARKS), source = new Float64Array(FIRST_MARKS), count = 0) {
    this.#text = text;
    this.#source = source;
    this.#count = count;
  }

  add(offset: number, source: number): void {
    const last = this.#count - 1;
    if (last >= 0 && (this.#text[last] ?? 0) >= offset) {
      // Nothing came between: the later position is the true one.
      this.#source[last] = source;
      return;
    }
    if (this.#count === this.#text.length) {
      const grown = this.#count * 2;
      const [text, sources] = [this.#text, this.#source];
      (this.#text = new Float64Array(grown)).set(text);
      (this.#source = new Float64Array(grown)).set(sources);
    }
    this.#text[this.#count] = offset;
    this.#source[this.#count] = source;
    this.#count++;
  }

  /** Forgets what only text below `offset` needs. */
  dropBefore(offset: number): void {
    const first = lastAtOrBelow(this.#text, this.#count, offset);
    this.#text.copyWithin(0, first, this.#count);
    this.#source.copyWithin(0, first, this.#count);
    this.#count -= first;
  }

  /** A copy of what the text in `[from, to]` needs. */
  slice(from: number, to: number): SourceMarks {
    const first = lastAtOrBelow(this.#text, this.#count, from);
    const end = lastAtOrBelow(this.#text, this.#count, to) + 1;
    return new SourceMarks(this.#text.slice(first, end), this.#source.slice(first, end), end - first);
  }

  sourceOf(offset: number): number {
    const index = lastAtOrBelow(this.#text, this.#count, offset);
    return (this.#source[index] ?? 0) + offset - (this.#text[index] ?? 0);
  }

  /** The source position of a pair at exactly this text offset. */
  sourceAt(offset: number): number | undefined {
    const index = lastAtOrBelow(this.#text, this.#count, offset);
    return this.#text[index] === offset ? this.#source[index] : undefined;
  }

  /** The text offset that a source position falls on, and the next pair's, at most `head`: text in between is in step. */
  offsetOf(source: number, head: number): { readonly offset: number; readonly next: number } {
    const index = lastAtOrBelow(this.#source, this.#count, source);
    const next = index + 1 < this.#count ? (this.#text[index + 1] ?? 0) : head;
    const beyond = Math.max(0, source - (this.#source[index] ?? 0));
    return { offset: Math.min(next, (this.#text[index] ?? 0) + beyond), next };
  }
}

/** The last entry at or below `value` of an ascending column; the first entry if there is none. */
function lastAtOrBelow(column: Float64Array, count: number, value: number): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((column[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
