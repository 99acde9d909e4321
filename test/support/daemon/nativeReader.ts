/** Reads a pane's events one at a time, or its text until enough has come. */
import type { PaneEvent } from "../../../adapters/client/client.ts";

export class Reader implements AsyncDisposable {
  readonly #events: AsyncGenerator<PaneEvent, void, void>;
  readonly #close: () => void;
  /** After what was read last. */
  position = "";

  constructor(events: AsyncGenerator<PaneEvent, void, void>, close: () => void = () => undefined) {
    this.#events = events;
    this.#close = close;
  }

  async next(): Promise<PaneEvent | undefined> {
    const { value } = await this.#events.next();
    if (value !== undefined && value.kind !== "readiness" && "position" in value) this.position = value.position;
    return value ?? undefined;
  }

  /** Output until there are `length` bytes; `open` is passed over, anything else is an error. */
  async text(length: number): Promise<string> {
    const chunks: Uint8Array[] = [];
    let have = 0;
    while (have < length) {
      const event = await this.next();
      if (event?.kind === "open") continue;
      if (event?.kind !== "output") throw new Error(`instead of output: ${JSON.stringify(event)}`);
      chunks.push(event.bytes);
      have += event.bytes.length;
    }
    return Buffer.concat(chunks).toString();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    await this.#events.return().catch(() => undefined);
  }
}
