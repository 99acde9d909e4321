/**
 * Server-sent events from the bytes of a body, in chunks cut anywhere (WHATWG HTML §9.2.6, as much of it as the daemon
 * uses: lines end in LF, no `retry`). Browsers load this: no Node APIs here.
 */

export interface SseEvent {
  /** `message` when the event has none. */
  readonly event: string;
  readonly data: string;
  /** Empty when the event has none. */
  readonly id: string;
}

interface SseParserOptions {
  /** A longer event is an error; without a bound, any length is accepted. */
  readonly maxEventChars?: number | undefined;
}

export class SseParser {
  readonly #decoder = new TextDecoder();
  readonly #maxEventChars: number;
  #rest = "";

  constructor({ maxEventChars = Number.POSITIVE_INFINITY }: SseParserOptions = {}) {
    this.#maxEventChars = maxEventChars;
  }

  /** The events these bytes complete. An event that was cut off is never returned. @throws Error */
  push(bytes: Uint8Array): SseEvent[] {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    const events: SseEvent[] = [];
    let from = 0;
    for (let end = this.#rest.indexOf("\n\n", from); end >= 0; end = this.#rest.indexOf("\n\n", from)) {
      const event = parseEvent(this.#rest.slice(from, end));
      from = end + 2;
      if (event !== undefined) events.push(event);
    }
    this.#rest = this.#rest.slice(from);
    if (this.#rest.length > this.#maxEventChars) throw new Error("an event of the stream has no end");
    return events;
  }
}

/** Undefined for a comment, which is only a keep-alive. */
function parseEvent(block: string): SseEvent | undefined {
  let event = "message";
  let id = "";
  let data: string | undefined;
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const value = line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    switch (line.slice(0, colon)) {
      case "event":
        event = value;
        break;
      case "id":
        id = value;
        break;
      case "data":
        data = data === undefined ? value : `${data}\n${value}`;
        break;
      // From outside: a field that is not used here.
      default:
    }
  }
  return data === undefined ? undefined : { event, data, id };
}
