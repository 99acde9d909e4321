/**
 * One response per request, however often it is sent. With an `Idempotency-Key` the first one is kept on disk, begun
 * before anything is typed; without one, the same body within half a minute of a failure that may have typed something is
 * that request once more, because the contract's page sends it again by itself. What failed before anything could be typed
 * is not kept: then trying again is the point.
 */
import { createHash } from "node:crypto";
import { isOfOtherRequest, Once, OnceMemory, type OnceStore } from "../../../daemon/ops/once.ts";
import type { Timed } from "../../../daemon/time/clock.ts";
import { MAX_AGENTS, REPEAT_WITHOUT_KEY_MS } from "../dashboardLimits.ts";
import type { DashboardStore } from "../store/store.ts";
import { INTERRUPTED } from "./failures.ts";
import { failureResponse, refusalResponse, type RespondResponse } from "./respondResponse.ts";

interface AnswerKeysOptions extends Timed {
  readonly store: DashboardStore;
}

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

  constructor({ store, clock, nowUnixMs }: AnswerKeysOptions) {
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
      return refusalResponse(409, "idempotency_conflict", message);
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
export function answersOf(store: DashboardStore, nowUnixMs: () => number): OnceStore<RespondResponse> {
  const save = (agentId: number, key: string, hash: string, response: RespondResponse | undefined): void => {
    const { status, body } = response ?? {};
    const text = body === undefined ? undefined : JSON.stringify(body);
    store.save("answers", { agentId, key, requestHash: hash, status, body: text, atUnixMs: nowUnixMs() });
  };
  return {
    find: ([agentId, key]) => {
      const kept = store.tables.answers.first("WHERE agent_id = ? AND key = ?", Number(agentId), String(key));
      if (kept === undefined) return undefined;
      const { requestHash: request, status, body } = kept;
      if (status === undefined || body === undefined) {
        return { request, result: failureResponse(INTERRUPTED) };
      }
      return { request, result: { status, body: JSON.parse(body) as unknown, isKept: true } as RespondResponse };
    },
    begin: ([agentId, key], hash) => {
      save(Number(agentId), String(key), hash, undefined);
      store.flush();
    },
    complete: ([agentId, key], hash, response) => save(Number(agentId), String(key), hash, response),
    forget: ([agentId, key]) => store.removeAnswer(Number(agentId), String(key)),
  };
}
