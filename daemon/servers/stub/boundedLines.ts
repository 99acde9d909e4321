/** The newest lines of a stub pane, bounded in lines and in bytes; appending takes constant time. */
export class BoundedLines {
  readonly #maxLines: number;
  readonly #maxBytes: number;
  #lines: { readonly text: string; readonly bytes: number }[] = [];
  #first = 0;
  #bytes = 0;

  constructor(maxLines: number, maxBytes: number) {
    this.#maxLines = maxLines;
    this.#maxBytes = maxBytes;
  }

  get count(): number {
    return this.#lines.length - this.#first;
  }

  append(text: string, bytes: number): void {
    this.#lines.push({ text, bytes });
    this.#bytes += bytes;
    while (this.count > 1 && (this.count > this.#maxLines || this.#bytes > this.#maxBytes)) {
      this.#bytes -= this.#lines[this.#first]?.bytes ?? 0;
      this.#first++;
    }
    // Cut only when half of the array is unused.
    if (this.#first > this.#lines.length / 2) {
      this.#lines = this.#lines.slice(this.#first);
      this.#first = 0;
    }
  }

  last(count: number): string[] {
    return this.#lines.slice(Math.max(this.#first, this.#lines.length - count)).map((line) => line.text);
  }
}
