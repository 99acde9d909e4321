/**
 * One response per request, however often it is sent. With an `Idempotency-Key` the first one is kept on disk, begun
 * before anything is typed; without one, the same body within half a minute of a failure that may have typed something is
 * that request once more, because the contract's page sends it again by itself. What failed before anything could be typed
 * is not kept: then trying again is the point.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../../daemon/time/clock.ts";
import { MAX_AGENTS, REPEAT_WITHOUT_KEY_MS } from "../dashboardLimits.ts";
import type { DashboardStore } from "../store/store.ts";
import { INTERRUPTED } from "./failures.ts";
import { failureResponse, type RespondResponse } from "./respondResponse.ts";

interface AnswerKeysOptions {
  readonly store: DashboardStore;
  readonly clock: Clock;
  readonly nowUnixMs: () => number;
}

interface RequestIdentity {
  readonly agentId: number;
  readonly key: string | undefined;
  readonly hash: string;
}

export const requestHash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export class AnswerKeys {
  readonly #options: AnswerKeysOptions;
  readonly #underWay = new Map<string, { readonly hash: string; readonly response: Promise<RespondResponse> }>();
  /** By agent: the last response without a key that may have typed something. */
  readonly #uncertain = new Map<
    number,
    { readonly hash: string; readonly response: RespondResponse; readonly atMs: number }
  >();

  constructor(options: AnswerKeysOptions) {
    this.#options = options;
  }

  /** The response to the same request before; `conflict` when the key was another request's. */
  earlier(request: RequestIdentity): Promise<RespondResponse> | RespondResponse | "conflict" | undefined {
    const { agentId, key, hash } = request;
    if (key === undefined) {
      const last = this.#uncertain.get(agentId);
      const isRepeat = last?.hash === hash && this.#options.clock.nowMs() - last.atMs < REPEAT_WITHOUT_KEY_MS;
      return isRepeat ? last.response : undefined;
    }
    const underWay = this.#underWay.get(`${agentId} ${key}`);
    if (underWay !== undefined) return underWay.hash === hash ? underWay.response : "conflict";
    const kept = this.#options.store.answer(agentId, key);
    if (kept === undefined) return undefined;
    if (kept.requestHash !== hash) return "conflict";
    if (kept.status === undefined || kept.body === undefined) return failureResponse(INTERRUPTED, undefined);
    const body = JSON.parse(kept.body) as RespondResponse["body"];
    return { status: kept.status as RespondResponse["status"], body, isKept: true };
  }

  /** Carries the request out; the record that it was begun is on disk before. */
  async first(request: RequestIdentity, act: () => Promise<RespondResponse>): Promise<RespondResponse> {
    const { agentId, key, hash } = request;
    if (key === undefined) {
      const response = await act();
      this.#uncertain.delete(agentId);
      if (response.status === 502 && response.isKept) this.#keepUncertain(agentId, hash, response);
      return response;
    }
    const { store } = this.#options;
    this.#save(request, key, undefined);
    store.flush();
    const response = act();
    const name = `${agentId} ${key}`;
    this.#underWay.set(name, { hash, response });
    try {
      const made = await response;
      if (made.isKept) this.#save(request, key, made);
      else store.removeAnswer(agentId, key);
      return made;
    } finally {
      this.#underWay.delete(name);
    }
  }

  /** Newest last: the oldest beyond the bound has had time to be repeated. */
  #keepUncertain(agentId: number, hash: string, response: RespondResponse): void {
    this.#uncertain.set(agentId, { hash, response, atMs: this.#options.clock.nowMs() });
    if (this.#uncertain.size <= MAX_AGENTS) return;
    const [oldest = agentId] = this.#uncertain.keys();
    this.#uncertain.delete(oldest);
  }

  #save({ agentId, hash }: RequestIdentity, key: string, response: RespondResponse | undefined): void {
    this.#options.store.save("answers", {
      agentId,
      key,
      requestHash: hash,
      status: response?.status,
      body: response === undefined ? undefined : JSON.stringify(response.body),
      atUnixMs: this.#options.nowUnixMs(),
    });
  }
}
