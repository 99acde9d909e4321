/**
 * The requests a device has done, by caller and key: a repeated one gets the same result and is not done again. Bounded
 * in number and in age; the oldest are dropped.
 */
import * as v from "valibot";
import { AppError } from "../../../protocol/errors.ts";

const MAX_REMEMBERED = 1_000;
const REMEMBERED_MS = 86_400_000;

export const rememberedSchema = v.object({
  caller: v.string(),
  key: v.string(),
  /** Command and arguments. */
  asked: v.string(),
  atUnixMs: v.number(),
  appliedRevision: v.number(),
  result: v.record(v.string(), v.unknown()),
});
export type RememberedRequest = v.InferOutput<typeof rememberedSchema>;

export interface AskedWithKey {
  readonly caller: string;
  readonly key: string;
  readonly asked: string;
}

/** Its result; undefined: it is new. @throws AppError INVALID_ARGUMENT when the key belongs to something else */
export function remembered(
  requests: readonly RememberedRequest[],
  { caller, key, asked }: AskedWithKey,
  nowUnixMs: number,
): RememberedRequest | undefined {
  const found = requests.find((one) => one.caller === caller && one.key === key && isYoung(one, nowUnixMs));
  if (found !== undefined) requireSame(found.asked, asked);
  return found;
}

/** With one more, for the next save. */
export function remembering(
  requests: readonly RememberedRequest[],
  done: RememberedRequest,
): readonly RememberedRequest[] {
  const others = requests.filter(
    (one) => isYoung(one, done.atUnixMs) && !(one.caller === done.caller && one.key === done.key),
  );
  return [...others, done].slice(-MAX_REMEMBERED);
}

/** @throws AppError INVALID_ARGUMENT */
export function requireSame(known: string, asked: string): void {
  if (known === asked) return;
  throw new AppError(
    "INVALID_ARGUMENT",
    "this idempotency key belongs to another request: take a new key for a new one",
    { details: { reason: "idempotency_key" } },
  );
}

/** A clock that was set back makes nothing too old. */
const isYoung = ({ atUnixMs }: RememberedRequest, nowUnixMs: number): boolean => nowUnixMs - atUnixMs < REMEMBERED_MS;
