/** The results of requests by their idempotency keys, in memory and in a file, so that a repeat after a restart gets them. */
import { createHash } from "node:crypto";
import * as v from "valibot";
import { parse } from "../../../protocol/api/parse.ts";
import type { Surroundings } from "../../../daemon/ops/log.ts";
import { type Kept, type OnceEntry, type OnceKey, OnceMemory, type OnceStore } from "../../../daemon/ops/once.ts";
import type { RpcOutcome, RpcRequest } from "../../../protocol/api/freshell/rpc.ts";
import { MAX_RESULT_CHARS, MAX_RESULTS_KEPT, RESULTS_KEPT_MS } from "../freshellLimits.ts";
import { LineFile } from "./lineFile.ts";

const lineSchema = v.object({
  id: v.string(),
  asked: v.string(),
  atMs: v.number(),
  result: v.record(v.string(), v.unknown()),
  appliedRevision: v.optional(v.number()),
});

/** Read from the file at start. */
const MAX_FILE_BYTES = 67_108_864;

interface ResultFileOptions extends Surroundings {
  readonly path: string;
}

/** Failures are not kept, so they can be retried. */
export class ResultFile implements OnceStore<RpcOutcome> {
  readonly #options: ResultFileOptions;
  readonly #file: LineFile;
  readonly #memory: OnceMemory<RpcOutcome>;
  #lines = 0;

  constructor(options: ResultFileOptions) {
    this.#options = options;
    this.#file = new LineFile({ path: options.path, maxBytes: Infinity, files: 1, clock: options.clock });
    const lines = this.#guarded(() => this.#file.tail(MAX_FILE_BYTES)) ?? [];
    this.#lines = lines.length;
    this.#memory = new OnceMemory({
      maxEntries: MAX_RESULTS_KEPT,
      keptMs: RESULTS_KEPT_MS,
      nowMs: options.nowUnixMs,
      entries: lines.flatMap(entriesOf),
    });
    this.#guarded(() => this.#shorten());
  }

  find(key: OnceKey): Kept<RpcOutcome> | undefined {
    return this.#memory.find(key);
  }

  complete(key: OnceKey, request: string, outcome: RpcOutcome): void {
    const line = lineOf({ key, request, result: outcome, atMs: this.#options.nowUnixMs() });
    // One that is too long is remembered by the owner.
    if (!outcome.ok || line.length > MAX_RESULT_CHARS) return;
    this.#memory.complete(key, request, outcome);
    this.#guarded(() => {
      this.#write(line);
      this.#shorten();
    });
  }

  forget(key: OnceKey): void {
    this.#memory.forget(key);
  }

  close(): void {
    this.#file.close();
  }

  #write(line: string): void {
    this.#file.append(line);
    this.#lines += 1;
  }

  /** Rewrites the file once most of it is forgotten. */
  #shorten(): void {
    if (this.#lines <= 2 * this.#memory.size + 1_000) return;
    this.#file.clear();
    this.#lines = 0;
    for (const entry of this.#memory.entries()) this.#write(lineOf(entry));
  }

  /** What cannot be written remains valid until this daemon ends. */
  #guarded<Result>(use: () => Result): Result | undefined {
    try {
      return use();
    } catch (error) {
      this.#options.log.error("freshell.results.unwritten", { path: this.#options.path, error });
      return undefined;
    }
  }
}

function entriesOf(line: string): readonly OnceEntry<RpcOutcome>[] {
  try {
    const { id, asked, atMs, result, appliedRevision } = parse(lineSchema, JSON.parse(line));
    return [{ key: [id], request: asked, atMs, result: { ok: true, result, appliedRevision } }];
  } catch {
    return [];
  }
}

function lineOf({ key: [id], request: asked, result: outcome, atMs }: OnceEntry<RpcOutcome>): string {
  const { result, appliedRevision } = outcome.ok ? outcome : {};
  return JSON.stringify({ id, asked, atMs, result, appliedRevision });
}

/** Of a request, and what it asks for. */
export function keyOf(request: RpcRequest, idempotencyKey: string): { readonly key: OnceKey; readonly asked: string } {
  const { callerDeviceId, targetDeviceId, command, args } = request;
  return {
    key: [digest([callerDeviceId, targetDeviceId, idempotencyKey])],
    asked: digest([command, sorted(args)]),
  };
}

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
