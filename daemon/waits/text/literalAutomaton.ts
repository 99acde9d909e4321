/**
 * One pass over the text for any number of short keys (Aho and Corasick, 1975), as a full transition table: one lookup per
 * byte, whatever the text. Bytes that no key uses share one column, so the table is states × used bytes, and a negative
 * entry says that a key ends there: the hot loop tests one sign and nothing else.
 */

const NONE = -1;

export class LiteralAutomaton {
  /** Column of each byte; column 0 is "in no key". */
  readonly #column = new Uint8Array(256);
  readonly #width: number;
  /** Next row × width; as its complement (negative) when a key ends in that row. */
  readonly #table: Int32Array;
  /** Per row: the key that ends there, and the next shorter row (suffix link) where one does. */
  readonly #key: Int32Array;
  readonly #nextEnding: Int32Array;
  #rows = 1;
  #state = 0;

  /** @param keys not empty, none of them empty, no two alike */
  constructor(keys: readonly Uint8Array[]) {
    let width = 1;
    let bytes = 1;
    for (const key of keys) {
      bytes += key.length;
      // 255 columns at most: UTF-8 never has 0xff, and column 0 is for the rest.
      for (const byte of key) if (this.#column[byte] === 0) this.#column[byte] = width++;
    }
    this.#width = width;
    this.#table = new Int32Array(bytes * width);
    this.#key = new Int32Array(bytes).fill(NONE);
    this.#nextEnding = new Int32Array(bytes).fill(NONE);
    for (const [index, key] of keys.entries()) this.#insert(key, index);
    this.#link();
  }

  /** Continues from what was scanned before; `found(key index, end)` for every key, `end` one past its last byte. */
  scan(text: Uint8Array, found: (key: number, end: number) => void): void {
    const table = this.#table;
    const column = this.#column;
    let state = this.#state;
    for (let at = 0; at < text.length; at++) {
      state = table[state + column[text[at]!]!]!;
      if (state < 0) {
        state = ~state;
        this.#report(state / this.#width, at + 1, found);
      }
    }
    this.#state = state;
  }

  #report(row: number, end: number, found: (key: number, end: number) => void): void {
    for (let at = row; at >= 0; at = this.#nextEnding[at] ?? NONE) {
      const key = this.#key[at] ?? NONE;
      if (key !== NONE) found(key, end);
    }
  }

  #insert(bytes: Uint8Array, key: number): void {
    let row = 0;
    for (const byte of bytes) {
      const cell = row * this.#width + (this.#column[byte] ?? 0);
      let next = this.#table[cell] ?? 0;
      if (next === 0) {
        next = this.#rows++;
        this.#table[cell] = next;
      }
      row = next;
    }
    this.#key[row] = key;
  }

  /** Breadth first: a row without a child for a byte goes where its longest proper suffix would go. */
  #link(): void {
    const rows = this.#rows;
    const width = this.#width;
    const table = this.#table;
    const suffix = new Int32Array(rows);
    const queue = new Int32Array(rows);
    let queued = 0;
    for (let column = 1; column < width; column++) {
      const child = table[column] ?? 0;
      if (child !== 0) queue[queued++] = child;
    }
    for (let index = 0; index < queued; index++) {
      const row = queue[index] ?? 0;
      const shorter = suffix[row] ?? 0;
      const isEnding = (this.#key[shorter] ?? NONE) !== NONE;
      this.#nextEnding[row] = isEnding ? shorter : (this.#nextEnding[shorter] ?? NONE);
      for (let column = 1; column < width; column++) {
        const cell = row * width + column;
        const child = table[cell] ?? 0;
        const fallback = table[shorter * width + column] ?? 0;
        if (child === 0) {
          table[cell] = fallback;
        } else {
          suffix[child] = fallback;
          queue[queued++] = child;
        }
      }
    }
    for (let cell = 0; cell < rows * width; cell++) {
      const row = table[cell] ?? 0;
      const ends = (this.#key[row] ?? NONE) !== NONE || (this.#nextEnding[row] ?? NONE) !== NONE;
      table[cell] = ends ? ~(row * width) : row * width;
    }
  }
}
