/**
 * Operations called over NATS by request and reply: those that the settings allow, on the servers that are published. Who
 * may call which is a right of NATS to a subject. A request that is lost is not performed; one whose reply is lost is not
 * performed again with the same idempotency key.
 */
import type { Msg } from "@nats-io/transport-node";
import * as v from "valibot";
import { parse } from "../../protocol/api/parse.ts";
import type { OperationName } from "../../protocol/api/operationRoutes.ts";
import { AppError, invalidArgument } from "../../protocol/errors.ts";
import { fieldsOf, textOf } from "../../protocol/text/jsonObject.ts";
import { errorBody } from "../kit/operations/errorBody.ts";
import { visibleError } from "../kit/guard/httpErrors.ts";
import type { OperationContext, Scope } from "../operations/operation.ts";
import { operationNamed, OPERATIONS } from "../operations/operationTable.ts";
import { perform } from "../operations/perform.ts";
import { requireServed } from "../serving/operationContext.ts";
import { callSubject } from "./fleetSubjects.ts";
import type { NatsLink } from "./natsLink.ts";

const MAX_CALLS = 256;
/** Of the requests that are under way. */
const MAX_BYTES = 16_777_216;
/** What is about the daemon as a whole, its recordings, hosts or channels is not called from elsewhere. */
const SCOPES: ReadonlySet<Scope> = new Set(["server", "session", "pane", "agent", "message"]);

/** A call without its operation, which its subject names. */
const requestSchema = v.strictObject({
  server: v.optional(v.string()),
  session: v.optional(v.string()),
  pane: v.optional(v.string()),
  agent: v.optional(v.string()),
  message: v.optional(v.string()),
  /** Validated by the operation. */
  input: v.optional(v.unknown()),
  idempotencyKey: v.optional(v.string()),
});

/** @throws AppError INVALID_ARGUMENT */
export function callableOperations(names: readonly string[]): ReadonlySet<OperationName> {
  // The tree is published anyway.
  const callable = (Object.keys(OPERATIONS) as OperationName[]).filter(
    (name) => SCOPES.has(OPERATIONS[name].scope) && name !== "tree",
  );
  if (names.includes("all")) return new Set(callable);
  const wanted = names.map(operationNamed);
  const refused = wanted.find((name) => !callable.includes(name));
  if (refused === undefined) return new Set(wanted);
  throw invalidArgument(`${refused} cannot be called over NATS; use ${callable.join(", ")} or all`);
}

export class FleetCalls {
  readonly #context: OperationContext;
  readonly #maxPayload: () => number;
  readonly #underWay = new Set<AbortController>();
  #bytes = 0;

  constructor(context: OperationContext, maxPayload: () => number) {
    this.#context = context;
    this.#maxPayload = maxPayload;
  }

  /** Answers until the returned function is called. */
  serve(link: NatsLink, host: string, operations: ReadonlySet<OperationName>): () => void {
    const stops = [...operations].map((operation) =>
      link.answer(callSubject(host, operation), (message) => void this.#answer(operation, message)),
    );
    return () => {
      for (const stop of stops) stop();
    };
  }

  /** Ends the calls under way. */
  close(): void {
    for (const abort of this.#underWay) abort.abort(new AppError("SHUTTING_DOWN", "the daemon is stopping"));
  }

  async #answer(operation: OperationName, message: Msg): Promise<void> {
    const abort = new AbortController();
    const { length } = message.data;
    this.#underWay.add(abort);
    this.#bytes += length;
    let reply: object;
    try {
      reply = { output: await this.#perform(operation, message, abort.signal) };
    } catch (error) {
      reply = errorBody(visibleError(error));
    } finally {
      this.#underWay.delete(abort);
      this.#bytes -= length;
    }
    try {
      message.respond(this.#fitting(reply));
    } catch {
      // The connection that it came on is closed: who asked gets no reply, and may ask again with the same key.
    }
  }

  #perform(operation: OperationName, message: Msg, signal: AbortSignal): Promise<object> {
    if (this.#underWay.size > MAX_CALLS || this.#bytes > MAX_BYTES) {
      throw new AppError(
        "RESOURCE_LIMIT",
        `too many calls are under way (${MAX_CALLS}, ${MAX_BYTES} bytes): wait for some of them`,
      );
    }
    const { input = {}, idempotencyKey, ...names } = parse(requestSchema, jsonOf(message));
    const { servers } = this.#context;
    // Operations on windows and panes have their pane in the input, where it may be an agent of any server as well.
    const { pane = textOf(fieldsOf(input)?.["pane"]) } = names;
    requireServed(this.#context, { ...names, pane }, (server) => [...servers.values()].includes(server));
    return perform(this.#context, operation, { names, input, idempotencyKey, signal });
  }

  #fitting(reply: object): string {
    const text = JSON.stringify(reply);
    if (Buffer.byteLength(text) <= this.#maxPayload()) return text;
    const error = new AppError(
      "RESOURCE_LIMIT",
      `the output is longer than a message of NATS (${this.#maxPayload()} bytes): ask for less`,
    );
    return JSON.stringify(errorBody(visibleError(error)));
  }
}

/** @throws AppError INVALID_ARGUMENT */
function jsonOf(message: Msg): unknown {
  try {
    return message.data.length === 0 ? {} : message.json();
  } catch (error) {
    throw new AppError("INVALID_ARGUMENT", "a call must be JSON", { cause: error });
  }
}
