/** Finds `?2004h`, with which a line editor begins to read, in chunks cut anywhere: at the speed of `indexOf`. */

const EDITOR_ON = Buffer.from("\x1b[?2004h", "latin1");

export class EditorAlarm {
  /** The end of what was seen, in which the sequence may have begun. */
  #carry = Buffer.alloc(0);

  /** Forgets what was seen and begins behind `seen`. */
  reset(seen: Uint8Array): void {
    this.#carry = Buffer.from(seen.subarray(Math.max(0, seen.length - EDITOR_ON.length + 1)));
  }

  /** Everything from the sequence on; undefined when it has not come. */
  find(bytes: Uint8Array): Buffer | undefined {
    const joined = Buffer.concat([this.#carry, bytes]);
    const found = joined.indexOf(EDITOR_ON);
    if (found < 0) {
      this.reset(joined);
      return undefined;
    }
    return joined.subarray(found);
  }
}
