/**
 * One response per request, however often it is sent. With an `Idempotency-Key` the first one is kept on disk, begun
 * before anything is typed; without one, the same body within half a minute of a failure that may have typed something is
 * that request once more, because the contract's page sends it again by itself. What failed before anything could be typed
 * is not kept: then trying again is the point.
 */
import { createHash } from "node:crypto";
import { isOfOtherRequest, Once, OnceMemory } from "../../../daemon/ops/once.ts";
import { OnceTable } from "../../../daemon/ops/sql/onceTable.ts";
import { KEEP_ANSWERS_MS, MAX_AGENTS, MAX_KEPT_ANSWERS, REPEAT_WITHOUT_KEY_MS } from "../dashboardLimits.ts";
import type { DashboardParts } from "../dashboardParts.ts";
import type { DashboardStore } from "../store/store.ts";
import { failure, INTERRUPTED, type RespondResponse } from "./failures.ts";

interface RequestIdentity {
  readonly agentId: number;
  readonly key: string | undefined;
  readonly hash: string;
}

export const requestHash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export class AnswerKeys {
  readonly #keys: Once<RespondResponse>;
  /** By agent: the last response without a key that may have typed something. */
  readonly #uncertain: OnceMemory<RespondResponse>;

  constructor({ store, clock, nowUnixMs }: DashboardParts) {
    this.#keys = new Once({ store: answersOf(store, nowUnixMs) });
    const nowMs = (): number => clock.nowMs();
    this.#uncertain = new OnceMemory({ maxEntries: MAX_AGENTS, keptMs: REPEAT_WITHOUT_KEY_MS, nowMs });
  }

  /** The response to the same request before, or the refusal of a key that was another request's. */
  async earlier({ agentId, key, hash }: RequestIdentity): Promise<RespondResponse | undefined> {
    if (key === undefined) {
      const last = this.#uncertain.find([agentId]);
      return last?.request === hash ? last.result : undefined;
    }
    try {
      return await this.#keys.earlier([agentId, key], hash);
    } catch (error) {
      if (!isOfOtherRequest(error)) throw error;
      const message = "This Idempotency-Key was used for another answer; use a new one.";
      return failure(409, "idempotency_conflict", message);
    }
  }

  /** Carries the request out; the record that it was begun is on disk before. */
  async first({ agentId, key, hash }: RequestIdentity, act: () => Promise<RespondResponse>): Promise<RespondResponse> {
    if (key === undefined) {
      const response = await act();
      this.#uncertain.forget([agentId]);
      if (response.status === 502 && response.isKept) this.#uncertain.complete([agentId], hash, response);
      return response;
    }
    const begun = (begin: () => void): Promise<RespondResponse> => {
      begin();
      return act();
    };
    return this.#keys.run([agentId, key], hash, begun, ({ isKept }) => isKept);
  }
}

/** By agent and key. */
export const answersOf = (store: DashboardStore, nowUnixMs: () => number): OnceTable<RespondResponse> =>
  new OnceTable<RespondResponse>({
    prepare: store.prepare,
    name: "answers",
    key: ["agent_id", "key"],
    columns: { request: "request_hash", result: "response", begunUnixMs: "at_unix_ms" },
    unfinished: INTERRUPTED,
    keptMs: KEEP_ANSWERS_MS,
    maxRows: MAX_KEPT_ANSWERS,
    write: (run) => store.writeNow(run),
    nowUnixMs,
  });
