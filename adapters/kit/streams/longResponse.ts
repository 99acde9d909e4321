/**
 * Responses that may take minutes. One that is ready early is ordinary, with its own status. A late one has status 200,
 * sends spaces until it is ready, so that no proxy considers the connection dead, and then the JSON, in which an error is
 * `{"error": …}`. The work is aborted when the client disconnects.
 */
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { requestAbort } from "../guard/requestAbort.ts";
import type { GuardEnv } from "../guard/requestGuard.ts";

/** Clients are promised a byte every 15 s. */
const SPACE_EVERY_MS = 10_000;
const encoder = new TextEncoder();
const BLANK = encoder.encode(" ");

type Outcome<Body> = { readonly body: Body } | { readonly error: unknown };

interface LongResponseOptions<Body> {
  readonly clock: Clock;
  /** Makes an error body in the contract's shape. */
  readonly errorBody: (error: unknown) => object;
  /** The status of an early response; default 200. */
  readonly statusOf?: ((body: Body) => ContentfulStatusCode) | undefined;
}

export async function longResponse<Body extends object>(
  c: Context<GuardEnv>,
  { clock, errorBody, statusOf = () => 200 }: LongResponseOptions<Body>,
  work: (signal: AbortSignal) => Promise<Body>,
): Promise<Response> {
  const { signal } = requestAbort(c);
  const outcome: Promise<Outcome<Body>> = work(signal).then(
    (body) => ({ body }),
    (error: unknown) => ({ error: signal.aborted ? (signal.reason as unknown) : error }),
  );
  const first = await firstOf(clock, outcome);
  if (first !== undefined) {
    if ("error" in first) throw first.error;
    return c.json(first.body, statusOf(first.body));
  }
  return c.body(blanksThen({ clock, errorBody }, outcome), 200, { "content-type": "application/json" });
}

/** The outcome, or undefined when the first space is due. */
async function firstOf<Settled>(clock: Clock, outcome: Promise<Settled>): Promise<Settled | undefined> {
  let timer: Timer | undefined;
  const blankIsDue = new Promise<undefined>((resolve) => {
    timer = clock.callAt(clock.nowMs() + SPACE_EVERY_MS, () => resolve(undefined));
  });
  const first = await Promise.race([outcome, blankIsDue]);
  timer?.cancel();
  return first;
}

function blanksThen(
  { clock, errorBody }: Pick<LongResponseOptions<object>, "clock" | "errorBody">,
  outcome: Promise<Outcome<object>>,
): ReadableStream<Uint8Array> {
  let timer: Timer | undefined;
  let open = true;
  const finish = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const settled = await outcome;
    timer?.cancel();
    if (!open) return;
    const body = "error" in settled ? errorBody(settled.error) : settled.body;
    controller.enqueue(encoder.encode(JSON.stringify(body)));
    controller.close();
  };
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      const sendSpace = (): void => {
        controller.enqueue(BLANK);
        timer = clock.callAt(clock.nowMs() + SPACE_EVERY_MS, sendSpace);
      };
      sendSpace();
      void finish(controller);
    },
    cancel: () => {
      open = false;
      timer?.cancel();
    },
  });
}
