/**
 * Server-sent events from a body (WHATWG HTML §9.2.6, as much of it as the daemon uses: one `data` line per event, lines
 * end in LF). An event that was cut off is never handed out.
 */
import type { Timer } from "../../daemon/time/clock.ts";
import { after } from "./clientEvents.ts";

export interface SseEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string;
}

/** Ends with the body. Throws when nothing came for `idleMs`, or when the body does. */
export async function* readSse(body: ReadableStream<Uint8Array>, idleMs: number): AsyncGenerator<SseEvent, void, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, idleMs);
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      let from = 0;
      for (let end = rest.indexOf("\n\n", from); end >= 0; end = rest.indexOf("\n\n", from)) {
        const event = parseEvent(rest.slice(from, end));
        from = end + 2;
        if (event !== undefined) yield event;
      }
      rest = rest.slice(from);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function readWithin(reader: ReadableStreamDefaultReader<Uint8Array>, idleMs: number) {
  let timer: Timer | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = after(idleMs, () => reject(new Error("nothing came from the daemon")));
  });
  try {
    return await Promise.race([reader.read(), silence]);
  } finally {
    timer?.cancel();
  }
}

/** Undefined for a comment. */
function parseEvent(block: string): SseEvent | undefined {
  let event = "";
  let data: string | undefined;
  let id = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("data: ")) data = line.slice(6);
    else if (line.startsWith("event: ")) event = line.slice(7);
    else if (line.startsWith("id: ")) id = line.slice(4);
  }
  return data === undefined ? undefined : { event, data, id };
}
