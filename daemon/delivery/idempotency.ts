/**
 * One delivery per key: who asks again gets what the first request did, or joins it while it is under way. What typed
 * nothing is not remembered, so that the same request may succeed later; what a killed daemon had begun is undecided.
 */
import { createHash } from "node:crypto";
import { AppError, toAppError } from "../../protocol/errors.ts";
import type { SubmitResult } from "./delivery.ts";
import { MAX_DELIVERY_KEY_CHARS } from "./deliveryLimits.ts";
import type { DeliveryKey, DeliveryStore, StoredDelivery } from "./deliveryStore.ts";

/** What a delivery reports while it is under way. */
export interface Attempt {
  /** In the turn of the first write. @throws AppError: then nothing may be written */
  readonly beforeFirstWrite: () => void;
  /** Whether something was written; asked when it has failed. */
  readonly wrote: { value: boolean };
}

export class Idempotency {
  readonly #store: DeliveryStore;
  readonly #onError: (error: unknown) => void;
  readonly #underWay = new Map<string, { readonly requestHash: string; readonly result: Promise<SubmitResult> }>();

  constructor(store: DeliveryStore, onError: (error: unknown) => void) {
    this.#store = store;
    this.#onError = onError;
  }

  /** @throws AppError ALREADY_EXISTS when the key was given to another request */
  async run(
    key: DeliveryKey,
    request: unknown,
    deliver: (attempt: Attempt) => Promise<SubmitResult>,
  ): Promise<SubmitResult> {
    requireKey(key.key);
    const id = JSON.stringify([key.scope, key.pane, key.key]);
    const requestHash = createHash("sha256").update(JSON.stringify(request)).digest("hex");
    const underWay = this.#underWay.get(id);
    if (underWay !== undefined) {
      requireSame(underWay.requestHash, requestHash);
      return { ...(await underWay.result), repeated: true };
    }
    const stored = this.#store.find(key);
    if (stored !== undefined) return this.#again(stored, requestHash);
    const result = this.#first(key, requestHash, deliver).finally(() => void this.#underWay.delete(id));
    this.#underWay.set(id, { requestHash, result });
    return await result;
  }

  async #first(
    key: DeliveryKey,
    requestHash: string,
    deliver: (attempt: Attempt) => Promise<SubmitResult>,
  ): Promise<SubmitResult> {
    let isBegun = false;
    const wrote = { value: false };
    const beforeFirstWrite = (): void => {
      this.#store.begin(key, requestHash);
      isBegun = true;
    };
    try {
      const result = await deliver({ beforeFirstWrite, wrote });
      if (isBegun) this.#guarded(() => this.#store.complete(key, { kind: "result", result }));
      return result;
    } catch (thrown) {
      const { code, message, details } = toAppError(thrown);
      if (isBegun && wrote.value) {
        this.#guarded(() => this.#store.complete(key, { kind: "error", code, message, details }));
      } else if (isBegun) {
        this.#guarded(() => this.#store.forget(key));
      }
      throw thrown;
    }
  }

  #again({ requestHash, outcome }: StoredDelivery, asked: string): SubmitResult {
    requireSame(requestHash, asked);
    if (outcome === undefined) return { ...UNDECIDED, repeated: true };
    if (outcome.kind === "result") return { ...outcome.result, repeated: true };
    const { code, message, details } = outcome;
    throw new AppError(code, message, { details: { ...details, repeated: true } });
  }

  /** What was typed cannot be untyped: if its record cannot be completed, later requests with the key get an unknown outcome. */
  #guarded(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#onError(error);
    }
  }
}

/** Begun by a daemon that has ended since. */
const UNDECIDED: SubmitResult = {
  outcome: "indeterminate",
  position: undefined,
  latencyMs: 0,
  firstByteMs: undefined,
  enterMs: undefined,
  enterPresses: 0,
};

function requireKey(key: string): void {
  if (key.length > 0 && key.length <= MAX_DELIVERY_KEY_CHARS && /^[\u0021-\u007e]+$/.test(key)) return;
  throw new AppError(
    "INVALID_ARGUMENT",
    `an idempotency key is 1 to ${MAX_DELIVERY_KEY_CHARS} printable ASCII characters without blanks, such as a UUID`,
  );
}

function requireSame(known: string, asked: string): void {
  if (known === asked) return;
  throw new AppError("ALREADY_EXISTS", "this idempotency key belongs to another request; take a new key for a new one");
}
