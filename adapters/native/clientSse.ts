/** Server-sent events from a body that is read as it comes, and the silence that ends it. */
import type { Timer } from "../../daemon/time/clock.ts";
import { type SseEvent, SseParser } from "../../protocol/text/sse.ts";
import { after } from "./clientEvents.ts";

/** Ends with the body. Throws when nothing came for `idleMs`, or when the body does. */
export async function* readSse(body: ReadableStream<Uint8Array>, idleMs: number): AsyncGenerator<SseEvent, void, void> {
  const reader = body.getReader();
  const parser = new SseParser();
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, idleMs);
      if (done) return;
      for (const event of parser.push(value)) yield event;
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
