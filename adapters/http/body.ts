/**
 * Request bodies, read with a bound. A body that is slightly too large is read to its end and dropped, so that the
 * client gets its 413 on a connection that stays usable; past `MAX_DRAIN_BYTES` or `MAX_DRAIN_MS` the client loses its
 * connection. What is kept is bounded by the limit in either case.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Timer } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";
import { parseJsonText } from "./jsonText.ts";
import { LINGER_MS, MAX_DRAIN_BYTES, MAX_DRAIN_MS } from "./httpLimits.ts";

/** The error for a body past its limit; `details.close` says whether the connection is closed. */
function tooLarge(maxBytes: number, close: boolean): AppError {
  return new AppError("BODY_TOO_LARGE", `Request body too large (max ${maxBytes} bytes).`, { details: { close } });
}

/** @throws AppError BODY_TOO_LARGE, CANCELLED when the client goes away. */
export function readIncoming(incoming: IncomingMessage, maxBytes: number, clock: Clock): Promise<Uint8Array> {
  const announced = Number(incoming.headers["content-length"] ?? 0);
  if (announced > maxBytes + MAX_DRAIN_BYTES) {
    lingerAfterResponse(incoming.socket, clock);
    return Promise.reject(tooLarge(maxBytes, true));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let drainTimer: Timer | undefined;
    const settle = (act: () => void): void => {
      drainTimer?.cancel();
      incoming.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      act();
    };
    const giveUp = (): void =>
      settle(() => {
        lingerAfterResponse(incoming.socket, clock);
        reject(tooLarge(maxBytes, true));
      });
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      chunks.length = 0;
      if (size > maxBytes + MAX_DRAIN_BYTES) giveUp();
      else drainTimer ??= clock.callAt(clock.nowMs() + MAX_DRAIN_MS, giveUp);
    };
    const onEnd = (): void =>
      settle(() => {
        if (size > maxBytes) reject(tooLarge(maxBytes, false));
        else resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size));
      });
    const onGone = (cause?: Error): void =>
      settle(() => reject(new AppError("CANCELLED", "the client left before its request was complete", { cause })));
    incoming.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

/**
 * A connection destroyed while bytes of its client are unread is reset, and a reset can overtake the response. So after
 * the response we close our end, read nothing more, and destroy the socket once the client has had time to read.
 */
function lingerAfterResponse(socket: Socket, clock: Clock): void {
  // Node calls this when the last response of a connection has been written.
  socket.destroySoon = () => {
    socket.end();
    socket.pause();
    clock.callAt(clock.nowMs() + LINGER_MS, () => socket.destroy());
  };
}

/** The same for a request without a socket, from tests and in-process callers. */
export async function readStream(request: Request, maxBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.length > maxBytes) throw tooLarge(maxBytes, false);
  return bytes;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** @throws AppError INVALID_ARGUMENT. Invalid UTF-8 is refused: with replacement characters, the wrong text would be typed. */
export function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw new AppError("INVALID_ARGUMENT", "Missing JSON request body.");
  let text: string;
  try {
    text = decoder.decode(bytes).trim();
  } catch (error) {
    throw new AppError("INVALID_ARGUMENT", "Invalid JSON body.", { cause: error });
  }
  if (text === "") throw new AppError("INVALID_ARGUMENT", "Missing JSON request body.");
  return parseJsonText(text);
}

/** A missing type is accepted; a wrong one also keeps cross-site forms and `text/plain` requests out. */
export function isJsonContentType(header: string | undefined): boolean {
  if (header === undefined || header.trim() === "") return true;
  const essence = header.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return essence === "application/json" || /^application\/[a-z0-9!#$&^_.+-]+\+json$/.test(essence);
}
