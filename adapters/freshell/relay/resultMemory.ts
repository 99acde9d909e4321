/**
 * A request repeated with its idempotency key is done once: a repeat while it is under way gets its outcome, and a repeat
 * within ten minutes its result, even after a restart. Failures are forgotten, so they can be retried.
 */
import { createHash } from "node:crypto";
import * as v from "valibot";
import { parse } from "../../../protocol/api/parse.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { RpcOutcome, RpcRequest } from "../../../protocol/api/freshell/rpc.ts";
import { AppError } from "../../../protocol/errors.ts";
import { MAX_RESULT_CHARS, MAX_RESULTS_KEPT, RESULTS_KEPT_MS } from "../freshellLimits.ts";
import { LineFile } from "./lineFile.ts";
import { failureOf } from "../rpc/outcomes.ts";

const lineSchema = v.object({
  id: v.string(),
  asked: v.string(),
  atMs: v.number(),
  result: v.record(v.string(), v.unknown()),
  appliedRevision: v.optional(v.number()),
});
type Remembered = v.InferOutput<typeof lineSchema>;

/** Read from the file at start. */
const MAX_FILE_BYTES = 67_108_864;

interface ResultMemoryOptions {
  readonly path: string;
  readonly nowUnixMs: () => number;
  readonly clock: Clock;
  readonly log: Log;
}

export class ResultMemory {
  readonly #options: ResultMemoryOptions;
  readonly #file: LineFile;
  /** Oldest first. */
  readonly #results = new Map<string, Remembered>();
  readonly #underWay = new Map<string, { readonly asked: string; readonly outcome: Promise<RpcOutcome> }>();
  #lines = 0;

  constructor(options: ResultMemoryOptions) {
    this.#options = options;
    this.#file = new LineFile({ path: options.path, maxBytes: Infinity, files: 1, clock: options.clock });
    try {
      const since = options.nowUnixMs() - RESULTS_KEPT_MS;
      for (const line of this.#file.tail(MAX_FILE_BYTES)) {
        this.#lines += 1;
        const remembered = parsed(line);
        if (remembered !== undefined && remembered.atMs > since) this.#results.set(remembered.id, remembered);
      }
      this.#shorten();
    } catch (error) {
      this.#unwritten(error);
    }
  }

  /** Never rejects; neither may `work`. */
  once(request: RpcRequest, work: () => Promise<RpcOutcome>): Promise<RpcOutcome> {
    const { idempotencyKey, callerDeviceId, targetDeviceId } = request;
    if (idempotencyKey === undefined) return work();
    const id = digest([callerDeviceId, targetDeviceId, idempotencyKey]);
    const asked = digest([request.command, sorted(request.args)]);
    const known = this.#find(id);
    const before = known ?? this.#underWay.get(id);
    if (before !== undefined && before.asked !== asked) return Promise.resolve(failureOf(otherRequest()));
    if (known !== undefined) {
      const { result, appliedRevision } = known;
      return Promise.resolve({ ok: true, result, appliedRevision });
    }
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined) return underWay.outcome;
    const outcome = work().then((settled) => {
      this.#underWay.delete(id);
      if (settled.ok) {
        const { result, appliedRevision } = settled;
        this.#remember({ id, asked, atMs: this.#options.nowUnixMs(), result, appliedRevision });
      }
      return settled;
    });
    this.#underWay.set(id, { asked, outcome });
    return outcome;
  }

  close(): void {
    this.#file.close();
  }

  #find(id: string): Remembered | undefined {
    const known = this.#results.get(id);
    if (known === undefined || known.atMs > this.#options.nowUnixMs() - RESULTS_KEPT_MS) return known;
    this.#results.delete(id);
    return undefined;
  }

  #remember(remembered: Remembered): void {
    // The owner has it too.
    if (JSON.stringify(remembered).length > MAX_RESULT_CHARS) return;
    this.#results.set(remembered.id, remembered);
    const since = this.#options.nowUnixMs() - RESULTS_KEPT_MS;
    for (const [oldest, { atMs }] of this.#results) {
      if (this.#results.size <= MAX_RESULTS_KEPT && atMs > since) break;
      this.#results.delete(oldest);
    }
    try {
      this.#write(remembered);
      this.#shorten();
    } catch (error) {
      this.#unwritten(error);
    }
  }

  #write(remembered: Remembered): void {
    this.#file.append(JSON.stringify(remembered));
    this.#lines += 1;
  }

  /** Rewrites the file once most of it is forgotten. */
  #shorten(): void {
    if (this.#lines <= 2 * this.#results.size + 1_000) return;
    this.#file.clear();
    this.#lines = 0;
    for (const remembered of this.#results.values()) this.#write(remembered);
  }

  /** They remain valid until this daemon ends. */
  #unwritten(error: unknown): void {
    this.#options.log.error("freshell.results.unwritten", { path: this.#options.path, error });
  }
}

function parsed(line: string): Remembered | undefined {
  try {
    return parse(lineSchema, JSON.parse(line));
  } catch {
    return undefined;
  }
}

const otherRequest = (): AppError =>
  new AppError("INVALID_ARGUMENT", "this idempotencyKey is that of another request; use a new one for a new request");

const digest = (parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url");

/** The order of fields makes no difference. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, sorted(member)]);
}
