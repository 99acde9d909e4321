/**
 * Operations called over a WebSocket: `call` any operation of the table, `cancel` a call, `input` and `resize` as short
 * forms. Each gets its response when it ends, in any order. Bounded by number and by what the client has not read.
 */
import type { NativeReceipt } from "../../protocol/api/native/nativeResponses.ts";
import type { StreamMessage, StreamRequestOf as Of } from "../../protocol/api/native/nativeStream.ts";
import type { OperationNames } from "../../protocol/api/operationRoutes.ts";
import { AppError } from "../../protocol/errors.ts";
import { clientGone } from "../kit/guard/requestAbort.ts";
import { perform } from "../operations/perform.ts";
import { operationNamed } from "../operations/operationTable.ts";
import type { NativeContext } from "./nativeContext.ts";

/** Concurrent calls of one connection. */
export const MAX_CALLS = 256;

interface SocketCallsSink {
  /** Bytes that may be written now. */
  room(): number;
  /** Responds once to the request with this id, with the outcome of `work`, and settles then. */
  respond<Output>(id: number, work: Promise<Output>, message: (output: Output) => StreamMessage): Promise<unknown>;
}

export class SocketCalls {
  readonly #context: NativeContext;
  readonly #sink: SocketCallsSink;
  readonly #underWay = new Map<number, AbortController>();
  readonly #gone = new AbortController();

  constructor(context: NativeContext, sink: SocketCallsSink) {
    this.#context = context;
    this.#sink = sink;
  }

  /** @throws AppError INVALID_ARGUMENT, ALREADY_EXISTS, RESOURCE_LIMIT */
  call({ type: _type, id, operation, input = {}, idempotencyKey, ...names }: Of<"call">): Promise<unknown> {
    const name = operationNamed(operation);
    if (this.#underWay.has(id)) throw new AppError("ALREADY_EXISTS", `a call with the id ${id} is still running`);
    if (this.#underWay.size >= MAX_CALLS || this.#sink.room() <= 0) {
      const message = `too many calls (${MAX_CALLS}), or their responses are not being read: wait for some of them`;
      throw new AppError("RESOURCE_LIMIT", message);
    }
    const abort = new AbortController();
    this.#underWay.set(id, abort);
    const { signal } = abort;
    const work = perform(this.#context, name, { names, input, idempotencyKey, signal });
    const ended = work
      .catch((error: unknown) => {
        throw signal.aborted ? (signal.reason as Error) : error;
      })
      .finally(() => this.#underWay.delete(id));
    return this.#sink.respond(id, ended, (output) => ({ type: "result", id, output }));
  }

  /** The short form of the most frequent call; its input is already validated. */
  input({ id, server, pane, parts, profile }: Of<"input">): Promise<unknown> {
    const receipt = this.#checked("input", { server, pane }, { parts, profile }) as Promise<NativeReceipt>;
    return this.#sink.respond(id, receipt, ({ position }) => ({ type: "ack", id, position }));
  }

  resize({ id, server, pane, cols, rows }: Of<"resize">): Promise<unknown> {
    const done = this.#checked("resize", { server, pane }, { cols, rows });
    return this.#sink.respond(id, done, () => ({ type: "ack", id }));
  }

  /** Aborts a call, which still gets a response. Does nothing if the call has ended. */
  cancel({ id }: Of<"cancel">): void {
    this.#underWay.get(id)?.abort(new AppError("CANCELLED", "the client cancelled the call"));
  }

  /** Called when the client is gone. */
  close(): void {
    this.#gone.abort(clientGone());
    for (const abort of this.#underWay.values()) abort.abort(clientGone());
  }

  #checked(name: "input" | "resize", names: OperationNames, input: object): Promise<object> {
    return perform(this.#context, name, { names, input, isChecked: true, whileWaiting: () => this.#gone.signal });
  }
}
