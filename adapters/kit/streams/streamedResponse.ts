/**
 * Responses that stream output as lines of JSON (`application/x-ndjson`): `{"typed":true}`, `{"output":BASE64}`,
 * `{"skipped":BYTES}` if the reader was too slow, and last the result or `{"error": …}`; an empty line every 10 s while
 * nothing else is sent. A failure before the first line is an ordinary error with its own status.
 */
import type { Context } from "hono";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { requestAbort } from "../guard/requestAbort.ts";
import type { GuardEnv } from "../guard/requestGuard.ts";

const LINES_TYPE = "application/x-ndjson";
const EMPTY_LINE_EVERY_MS = 10_000;
/** Bytes held for a slow reader, the same as a buffered response may hold. */
const HELD_BYTES = 8_388_608;
const encoder = new TextEncoder();

interface RunListener {
  readonly onTyped: () => void;
  readonly onOutput: (bytes: Uint8Array) => void;
}

interface StreamedResponseOptions {
  readonly clock: Clock;
  /** Makes an error body in the contract's shape. */
  readonly errorBody: (error: unknown) => object;
}

export const wantsLines = (c: Context<GuardEnv>): boolean =>
  (c.req.header("accept") ?? "").split(",").some((type) => type.split(";", 1)[0]?.trim().toLowerCase() === LINES_TYPE);

export async function streamedResponse(
  c: Context<GuardEnv>,
  { clock, errorBody }: StreamedResponseOptions,
  work: (signal: AbortSignal, listener: RunListener) => Promise<object>,
): Promise<Response> {
  const abort = requestAbort(c);
  const lines = new Lines(clock, () => abort.abort());
  const done = work(abort.signal, lines).then(
    (result) => ({ result }),
    (error: unknown) => ({ error: abort.signal.aborted ? (abort.signal.reason as unknown) : error }),
  );
  const first = await Promise.race([done, lines.begun]);
  if (first !== undefined && "error" in first) {
    lines.end();
    throw first.error;
  }
  void done.then((outcome) => lines.end("error" in outcome ? errorBody(outcome.error) : outcome.result));
  return c.body(lines.body, 200, { "content-type": LINES_TYPE });
}

class Lines implements RunListener {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves with the first line, or when the first empty line is due. */
  readonly begun: Promise<undefined>;
  readonly #clock: Clock;
  readonly #begin: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timer: Timer | undefined;
  #skipped = 0;

  constructor(clock: Clock, onCancel: () => void) {
    this.#clock = clock;
    let begin = (): void => undefined;
    this.begun = new Promise((resolve) => (begin = () => resolve(undefined)));
    this.#begin = begin;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => {
          this.#stop();
          onCancel();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: HELD_BYTES }),
    );
    this.#keepAlive();
  }

  readonly onTyped = (): void => this.#line({ typed: true });

  readonly onOutput = (bytes: Uint8Array): void => {
    if ((this.#controller?.desiredSize ?? 0) <= 0) {
      this.#skipped += bytes.length;
      return;
    }
    this.#tellSkipped();
    this.#line({ output: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64") });
  };

  /** Ends the stream with `last`, if given. Safe to call twice. */
  end(last?: object): void {
    if (this.#controller === undefined) return;
    if (last !== undefined) {
      this.#tellSkipped();
      this.#line(last);
    }
    this.#controller.close();
    this.#stop();
  }

  #tellSkipped(): void {
    if (this.#skipped > 0) this.#line({ skipped: this.#skipped });
    this.#skipped = 0;
  }

  #line(message: object): void {
    this.#controller?.enqueue(encoder.encode(`${JSON.stringify(message)}\n`));
    this.#begin();
  }

  #keepAlive(): void {
    this.#timer = this.#clock.callAt(this.#clock.nowMs() + EMPTY_LINE_EVERY_MS, () => {
      this.#controller?.enqueue(encoder.encode("\n"));
      this.#begin();
      this.#keepAlive();
    });
  }

  #stop(): void {
    this.#controller = undefined;
    this.#timer?.cancel();
  }
}
