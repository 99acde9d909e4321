/**
 * Responses that may take minutes. What fails early is an ordinary error with its own status; what is ready late has status
 * 200, whatever it is, and something is sent every 10 s meanwhile, so that no proxy considers the connection dead.
 * `longResponse` is JSON, after spaces if it is late; an error is then `{"error": …}`. `streamedResponse` streams output as
 * lines of JSON (`application/x-ndjson`): `{"typed":true}`, `{"output":BASE64}`, `{"skipped":BYTES}` if the reader was too
 * slow, and last the result or `{"error": …}`. `textResponse` is the result's text alone. The work is aborted when the client disconnects.
 */
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import type { PlainText } from "../../operations/operation.ts";
import { requestAbort } from "../guard/requestAbort.ts";
import type { GuardEnv } from "../guard/requestGuard.ts";

/** Clients are promised a byte every 15 s. */
const SENT_EVERY_MS = 10_000;
/** Bytes held for a slow reader, the same as a buffered response may hold. */
const HELD_BYTES = 8_388_608;
const encoder = new TextEncoder();

interface Form {
  readonly type: string;
  /** Sent while nothing else is. */
  readonly blank: string;
  readonly lineEnd: string;
}
const JSON_FORM: Form = { type: "application/json", blank: " ", lineEnd: "" };
const TEXT_TYPE = "text/plain; charset=utf-8";
const LINES_FORM: Form = { type: "application/x-ndjson", blank: "\n", lineEnd: "\n" };

interface StreamedResponseOptions {
  readonly clock: Clock;
  /** Makes an error body in the contract's shape. */
  readonly errorBody: (error: unknown) => object;
}

interface LongResponseOptions<Body> extends StreamedResponseOptions {
  /** The status of an early response; default 200. */
  readonly statusOf?: ((body: Body) => ContentfulStatusCode) | undefined;
}

export const longResponse = <Body extends object>(
  c: Context<GuardEnv>,
  options: LongResponseOptions<Body>,
  work: (signal: AbortSignal) => Promise<Body>,
): Promise<Response> =>
  // Without the listener: what it would send is no part of one JSON value.
  responseOf(
    c,
    options,
    JSON_FORM,
    (signal) => work(signal),
    (body) => c.json(body, options.statusOf?.(body) ?? 200),
  );

interface RunListener {
  readonly onTyped: () => void;
  readonly onOutput: (bytes: Uint8Array) => void;
}

export const streamedResponse = (
  c: Context<GuardEnv>,
  options: StreamedResponseOptions,
  work: (signal: AbortSignal, listener: RunListener) => Promise<object>,
): Promise<Response> => responseOf(c, options, LINES_FORM, work);

/** Sent when it is ready, however late: a blank would be part of the text, and the status comes first. */
export async function textResponse(
  c: Context<GuardEnv>,
  work: (signal: AbortSignal) => Promise<PlainText>,
): Promise<Response> {
  const { text, headers } = await work(requestAbort(c).signal);
  return c.body(text, 200, { "content-type": TEXT_TYPE, ...headers });
}

/** By name: a caller that takes anything gets JSON. */
const accepts = (c: Context<GuardEnv>, wanted: string): boolean =>
  (c.req.header("accept") ?? "").split(",").some((type) => type.split(";", 1)[0]?.trim().toLowerCase() === wanted);

export const wantsLines = (c: Context<GuardEnv>): boolean => accepts(c, LINES_FORM.type);
/** Some clients accept both in every request, and read JSON. */
export const wantsText = (c: Context<GuardEnv>): boolean => accepts(c, "text/plain") && !accepts(c, JSON_FORM.type);

/** @param early makes the response of what is ready before anything was sent; default: it is sent as well */
async function responseOf<Body extends object>(
  c: Context<GuardEnv>,
  { clock, errorBody }: StreamedResponseOptions,
  form: Form,
  work: (signal: AbortSignal, listener: RunListener) => Promise<Body>,
  early?: (body: Body) => Response,
): Promise<Response> {
  const abort = requestAbort(c);
  const sent = new SentBody(clock, form, () => abort.abort());
  const done = work(abort.signal, sent).then(
    (body) => ({ body }),
    (error: unknown) => ({ error: abort.signal.aborted ? (abort.signal.reason as unknown) : error }),
  );
  const first = await Promise.race([done, sent.begun]);
  if (first !== undefined && ("error" in first || early !== undefined)) {
    sent.stop();
    if ("error" in first) throw first.error;
    return early!(first.body);
  }
  void done.then((outcome) => sent.end("error" in outcome ? errorBody(outcome.error) : outcome.body));
  return c.body(sent.stream, 200, { "content-type": form.type });
}

class SentBody implements RunListener {
  /** Resolves when something has been sent. */
  readonly begun: Promise<undefined>;
  readonly #clock: Clock;
  readonly #form: Form;
  readonly #onCancel: () => void;
  readonly #begin: () => void;
  /** Made when it is needed: most responses are ready early. */
  #stream: ReadableStream<Uint8Array> | undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isOver = false;
  #timer: Timer | undefined;
  #skipped = 0;

  constructor(clock: Clock, form: Form, onCancel: () => void) {
    this.#clock = clock;
    this.#form = form;
    this.#onCancel = onCancel;
    let begin = (): void => undefined;
    this.begun = new Promise((resolve) => (begin = () => resolve(undefined)));
    this.#begin = begin;
    this.#keepAlive();
  }

  get stream(): ReadableStream<Uint8Array> {
    this.#stream ??= new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => {
          this.stop();
          this.#onCancel();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: HELD_BYTES }),
    );
    return this.#stream;
  }

  readonly onTyped = (): void => this.#line({ typed: true });

  readonly onOutput = (bytes: Uint8Array): void => {
    if (this.#isOver || (this.#controller?.desiredSize ?? HELD_BYTES) <= 0) {
      this.#skipped += bytes.length;
      return;
    }
    this.#tellSkipped();
    this.#line({ output: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64") });
  };

  end(last: object): void {
    if (this.#isOver) return;
    this.#tellSkipped();
    this.#line(last);
    this.#controller?.close();
    this.stop();
  }

  /** Sends nothing more. Safe to call twice. */
  stop(): void {
    this.#isOver = true;
    this.#timer?.cancel();
  }

  #tellSkipped(): void {
    if (this.#skipped > 0) this.#line({ skipped: this.#skipped });
    this.#skipped = 0;
  }

  #line(message: object): void {
    this.#send(`${JSON.stringify(message)}${this.#form.lineEnd}`);
  }

  #send(text: string): void {
    if (this.#isOver) return;
    void this.stream;
    this.#controller?.enqueue(encoder.encode(text));
    this.#begin();
  }

  #keepAlive(): void {
    this.#timer = this.#clock.callAt(this.#clock.nowMs() + SENT_EVERY_MS, () => {
      this.#send(this.#form.blank);
      this.#keepAlive();
    });
  }
}
