/**
 * Parses server-sent events from the bytes of a body, in chunks cut anywhere (WHATWG HTML §9.2.6, the subset that the daemon
 * uses: lines end in LF, no `retry`). Browsers load this, so it uses no Node APIs.
 */

export interface SseEvent {
  /** `message` if the event has no name. */
  readonly event: string;
  readonly data: string;
  /** Empty if the event has no id. */
  readonly id: string;
}

interface SseParserOptions {
  /** A longer event is an error; default: no bound. */
  readonly maxEventChars?: number | undefined;
}

export class SseParser {
  readonly #decoder = new TextDecoder();
  readonly #maxEventChars: number;
  #rest = "";

  constructor({ maxEventChars = Number.POSITIVE_INFINITY }: SseParserOptions = {}) {
    this.#maxEventChars = maxEventChars;
  }

  /** The events that these bytes complete. An incomplete event is never returned. @throws Error */
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
    if (this.#rest.length > this.#maxEventChars) throw new Error("an event of the stream is too long");
    return events;
  }
}

/** Undefined for a comment, which is a keep-alive. */
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
      // A field that is not used here.
      default:
    }
  }
  return data === undefined ? undefined : { event, data, id };
}
