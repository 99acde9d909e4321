/** The keys that the contract names for an answer (docs/contracts/dashboard.md §2), pressed as a person presses them. */
import { type AddresseeRequest, findAddressee } from "../../../daemon/delivery/pane/addressee.ts";
import type { PressStep } from "../../../daemon/delivery/delivery.ts";
import { GENERIC_PROFILE } from "../../../daemon/readiness/profiles.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { sleep } from "../../../daemon/time/within.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { MultiAnswer } from "./respondRequest.ts";

/** Two keys in one read count as a paste to some programs (docs/agentFacts.md). */
export const KEY_GAP_MS = 60;

/** `Down` to each option, `Space` where several may be chosen, `Enter` after each question. */
export function selectKeys(answers: readonly MultiAnswer[]): string[] {
  return answers.flatMap(({ indices, isMulti }) => {
    let at = 0;
    const keys: string[] = [];
    for (const index of indices) {
      keys.push(...Array.from({ length: index - at }, () => "Down"));
      if (isMulti) keys.push("Space");
      at = index;
    }
    return [...keys, "Enter"];
  });
}

/** The free text of such a list comes after its options. */
export const otherKeys = (options: number): string[] => [...Array.from({ length: options }, () => "Down"), "Enter"];

/** As steps of a delivery: keys, then text that is pasted and entered. */
export const stepsOf = (keys: readonly string[], text?: string): PressStep[] => [
  ...keys.map((key) => ({ kind: "key", key }) as const),
  ...(text === undefined ? [] : ([{ kind: "paste", text }, ...stepsOf(["Enter"])] as const)),
];

/**
 * Keys that a person presses from afar: at once, whatever is being delivered, and for the agent alone.
 * @throws AppError WRONG_STATE, NOT_FOUND, CONNECTION_LOST
 */
export async function pressSlowly(
  { server, clock }: { readonly server: TmuxServer; readonly clock: Clock },
  pane: PaneId,
  keys: readonly string[],
  request: AddresseeRequest,
): Promise<void> {
  const arrival = { readers: request.readers, isNamed: false, hadAgent: false };
  const addressee = await findAddressee(server, pane, GENERIC_PROFILE, arrival, request);
  for (const [at, key] of keys.entries()) {
    if (at > 0) await sleep(clock, KEY_GAP_MS);
    await addressee.type(server, pane, [{ kind: "keys", keys: [key] }], at > 0);
  }
}
