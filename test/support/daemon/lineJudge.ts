/** Judges a stream of a pane that prints `line N` with N rising by one: nothing twice, nothing missing without a gap. */
import type { PaneEvent } from "../../../adapters/client/client.ts";
import { parsePosition } from "../../../protocol/position.ts";

export class LineJudge {
  #position = "";
  #rest = "";
  #last = -1;
  /** Lines may be missing, and the first one may be cut. */
  #isNew = true;
  lines = 0;
  gaps = 0;
  snapshots = 0;

  /** After the last event: where a reader resumes. */
  get position(): string {
    return this.#position;
  }

  get last(): number {
    return this.#last;
  }

  /** Throws at the first fault. */
  see(event: PaneEvent): void {
    switch (event.kind) {
      case "open":
        if (this.#position !== "" && event.position !== this.#position)
          throw new Error(`resumed at ${this.#position}, but opened at ${event.position}`);
        this.#position = event.position;
        return;
      case "output": {
        const { epoch, outputSeq } = parsePosition(event.position);
        const from = `${epoch}:${outputSeq - event.bytes.length}`;
        if (from !== this.#position) throw new Error(`at ${this.#position}, but output from ${from} came`);
        this.#position = event.position;
        this.#text(Buffer.from(event.bytes).toString("latin1"));
        return;
      }
      case "gap":
        if (event.from !== this.#position) throw new Error(`at ${this.#position}, but the gap is from ${event.from}`);
        this.#position = event.to;
        this.gaps += 1;
        this.#rest = "";
        this.#isNew = true;
        return;
      case "snapshot":
        if (event.position !== this.#position)
          throw new Error(`at ${this.#position}, but the snapshot is of ${event.position}`);
        this.snapshots += 1;
        return;
      case "closed":
        throw new Error(`closed: ${event.message}`);
      case "resize":
      case "exit":
      case "input":
      case "readiness":
        return;
    }
  }

  #text(text: string): void {
    const lines = (this.#rest + text).split("\r\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const number = Number(/^line (\d+)$/.exec(line)?.[1] ?? Number.NaN);
      const isCut = this.#isNew;
      this.#isNew = false;
      if (Number.isNaN(number)) {
        if (isCut) continue;
        throw new Error(`not a line: ${JSON.stringify(line.slice(0, 80))} after ${this.#last}`);
      }
      // Cut in its number, it says nothing.
      if (isCut && number <= this.#last) continue;
      if (number <= this.#last) throw new Error(`line ${number} came again after ${this.#last}`);
      if (!isCut && this.lines > 0 && number !== this.#last + 1)
        throw new Error(`line ${number} came after ${this.#last}, without a gap`);
      this.#last = number;
      this.lines += 1;
    }
  }
}
