/**
 * Request bodies are read with a bound for each and one for all requests in progress (`bodyBudget`), which is checked before
 * a body is read. A refused body is read to its end and dropped, so that the client gets its response on a connection that
 * stays usable; past `MAX_DRAIN_BYTES` over the limit or `MAX_DRAIN_MS` the connection is closed.
 */
import type { IncomingMessage, OutgoingMessage } from "node:http";
import type { Socket } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { ByteBudget } from "../../../daemon/ops/byteBudget.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import { parseJsonText } from "./jsonText.ts";
import {
  BODY_BYTES_FOR_LITTLE,
  LINGER_MS,
  MAX_BODY_BYTES_ALONE,
  MAX_BODY_BYTES_EACH,
  MAX_BODY_BYTES_UNDER_WAY,
  MAX_DRAIN_BYTES,
  MAX_DRAIN_MS,
} from "../peers/httpLimits.ts";

/** Bounds the bytes that bodies and messages of all listeners in this process hold at once. */
export const bodyBudget = new ByteBudget({
  maxBytes: MAX_BODY_BYTES_UNDER_WAY,
  maxBytesEach: MAX_BODY_BYTES_EACH,
  maxBytesAlone: MAX_BODY_BYTES_ALONE,
  forLittleBytes: BODY_BYTES_FOR_LITTLE,
});

/** `details.close`: whether the connection is closed. */
const tooLarge = (maxBytes: number, close: boolean): AppError =>
  new AppError("BODY_TOO_LARGE", `Request body too large (max ${maxBytes} bytes).`, { details: { close } });
const noRoom = (close: boolean): AppError =>
  new AppError("RESOURCE_LIMIT", "too many large requests at once; try again shortly", {
    details: { close },
  });

/** The part of Hono's `Context` that is used here. */
interface RequestContext {
  /** Node's request and response, if the request came over a socket. */
  readonly env: Partial<HttpBindings> | undefined;
  readonly req: { readonly path: string; readonly raw: Request };
}

/** The bytes count against the budget until the response has ended. @throws AppError BODY_TOO_LARGE, RESOURCE_LIMIT, CANCELLED when the client goes away. */
export function readBody(c: RequestContext, maxBytes: number, clock: Clock): Promise<Uint8Array> {
  const { incoming, outgoing } = c.env ?? {};
  if (incoming === undefined || outgoing === undefined) return readStream(c.req.raw, maxBytes);
  return readIncoming(incoming, maxBytes, clock, new BodyLease(c.req.path, outgoing));
}

/** One body's share of the budget, kept per path because each pane has its own paths. */
class BodyLease {
  readonly #path: string;
  #bytes = 0;
  #isOver = false;

  constructor(path: string, response: OutgoingMessage) {
    this.#path = path;
    response.once("close", () => {
      this.#isOver = true;
      bodyBudget.release(this.#path, this.#bytes);
      this.#bytes = 0;
    });
  }

  /** Reserves up to this many bytes in all; false if there is no room. */
  reaches(bytes: number): boolean {
    const more = Math.max(0, bytes - this.#bytes);
    if (this.#isOver || !bodyBudget.hold(this.#path, more)) return false;
    this.#bytes += more;
    return true;
  }
}

function readIncoming(
  incoming: IncomingMessage,
  maxBytes: number,
  clock: Clock,
  lease: BodyLease,
): Promise<Uint8Array> {
  const announced = Number(incoming.headers["content-length"] ?? 0);
  if (announced > maxBytes + MAX_DRAIN_BYTES) {
    lingerAfterResponse(incoming.socket, clock);
    return Promise.reject(tooLarge(maxBytes, true));
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let refusal: ((close: boolean) => AppError) | undefined;
    let drainTimer: Timer | undefined;
    const settle = (act: () => void): void => {
      drainTimer?.cancel();
      incoming.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      act();
    };
    const giveUp = (): void =>
      settle(() => {
        lingerAfterResponse(incoming.socket, clock);
        reject(refusal?.(true));
      });
    const refuse = (why: (close: boolean) => AppError): void => {
      refusal = why;
      chunks.length = 0;
      drainTimer ??= clock.callAt(clock.nowMs() + MAX_DRAIN_MS, giveUp);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes + MAX_DRAIN_BYTES) giveUp();
      else if (size > maxBytes) refuse((close) => tooLarge(maxBytes, close));
      else if (refusal === undefined && lease.reaches(size)) chunks.push(chunk);
      else if (refusal === undefined) refuse(noRoom);
    };
    const onEnd = (): void =>
      settle(() => {
        if (refusal !== undefined) reject(refusal(false));
        else {
          const body = Buffer.concat(chunks, size);
          resolve(turnFor(size)?.then(() => body) ?? body);
        }
      });
    const onGone = (cause?: Error): void =>
      settle(() =>
        reject(new AppError("CANCELLED", "the client disconnected before its request was complete", { cause })),
      );
    if (announced <= maxBytes && !lease.reaches(announced)) refuse(noRoom);
    incoming.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
    if (incoming.destroyed) onGone();
  });
}

/** A larger body takes milliseconds to parse and to plan. */
const MAX_SHARED_TURN_BYTES = 65_536;
let lastTurn = Promise.resolve();

/**
 * Large bodies that are complete at the same time are handled one per turn of the event loop, so that other requests are
 * answered between them. Undefined for one that is not large.
 */
export function turnFor(bodyBytes: number): Promise<void> | undefined {
  if (bodyBytes <= MAX_SHARED_TURN_BYTES) return undefined;
  lastTurn = lastTurn.then(() => new Promise((resolve) => setImmediate(resolve)));
  return lastTurn;
}

/**
 * Destroying a connection while bytes from its client are unread resets it, and the reset can overtake the response. So
 * after the response we close our end, read nothing more, and destroy the socket once the client has had time to read.
 */
function lingerAfterResponse(socket: Socket, clock: Clock): void {
  // Node calls this when the last response of a connection has been written.
  socket.destroySoon = () => {
    socket.end();
    socket.pause();
    clock.callAt(clock.nowMs() + LINGER_MS, () => socket.destroy());
  };
}

/** `readBody` for a request without a socket, from tests and in-process callers. */
async function readStream(request: Request, maxBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.length > maxBytes) throw tooLarge(maxBytes, false);
  return bytes;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** @throws AppError INVALID_ARGUMENT. Refuses invalid UTF-8, because replacement characters would be typed instead. */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes).trim();
  } catch (error) {
    throw new AppError("INVALID_ARGUMENT", "Invalid JSON body.", { cause: error });
  }
  if (text === "") throw invalidArgument("Missing JSON request body.");
  return parseJsonText(text);
}

/** A missing type is accepted. Refusing a wrong one also keeps out cross-site forms and `text/plain` requests. */
export function isJsonContentType(header: string | undefined): boolean {
  if (header === undefined || header.trim() === "") return true;
  const essence = header.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return essence === "application/json" || /^application\/[a-z0-9!#$&^_.+-]+\+json$/.test(essence);
}
