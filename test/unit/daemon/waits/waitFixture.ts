/** What the tests of waits share: a manager on a clock moved by hand, and turns of the loop to let it work. */
import { onTestFinished } from "vitest";
import { WaitManager, type WaitManagerOptions } from "../../../../daemon/waits/waitManager.ts";
import type { WaitLimits } from "../../../../daemon/waits/waitLimits.ts";
import type { WaitRequest } from "../../../../daemon/waits/waitRequest.ts";
import type { AppError } from "../../../../protocol/errors.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";
import { MemorySource } from "../../../support/daemon/memorySource.ts";

export const literal = (text: string): WaitRequest => ({ pattern: { kind: "literal", text } });
export const regex = (text: string): WaitRequest => ({ pattern: { kind: "regex", text } });

export interface WaitBench {
  readonly clock: FakeClock;
  readonly source: MemorySource;
  readonly waits: WaitManager;
}

/** For the test that calls it. */
export function waitBench(limits: Partial<WaitLimits> = {}, options: Partial<WaitManagerOptions> = {}): WaitBench {
  const clock = new FakeClock();
  const waits = new WaitManager({ clock, limits, ...options });
  onTestFinished(() => waits.close());
  return { clock, source: new MemorySource(), waits };
}

/** Lets everything that waits for this turn or the next ones run: microtasks and `setImmediate`. */
export async function turns(count = 4): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** RE2 has returned everything that it was asked before. Not a pattern that is judged without it. */
export async function re2Done(waits: WaitManager): Promise<void> {
  await waits.checkPattern({ kind: "regex", text: "(?P<flush>a)" });
}

/** `pending` when the promise has not settled after the turns at hand. */
export async function outcomeOf<Value>(promise: Promise<Value>): Promise<Value | "pending" | AppError> {
  await turns();
  return Promise.race([promise.catch((error: unknown) => error as AppError), turns(1).then(() => "pending" as const)]);
}

/** The error a promise rejects with; throws when it does not. */
export async function errorOf(promise: Promise<unknown>): Promise<AppError> {
  const value = await promise.then(
    () => "resolved",
    (error: unknown) => error as AppError,
  );
  if (typeof value === "string") throw new Error("expected a rejection");
  return value;
}
