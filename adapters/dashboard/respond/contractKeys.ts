/** The keys that the contract names for an answer (docs/contracts/dashboard.md §2), pressed as a person presses them. */
import type { TmuxServer } from "../../../daemon/server/tmuxServer.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { MultiAnswer } from "./respondRequest.ts";

/** Two keys in one read count as a paste to some programs (docs/agentFacts.md). */
const KEY_GAP_MS = 60;

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

interface PressContext {
  readonly server: TmuxServer;
  readonly clock: Clock;
}

/** @throws AppError NOT_FOUND, CONNECTION_LOST */
export async function pressSlowly(
  { server, clock }: PressContext,
  pane: PaneId,
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) {
    await server.input(pane, [{ kind: "keys", keys: [key] }]);
    await new Promise<void>((resolve) => void clock.callAt(clock.nowMs() + KEY_GAP_MS, resolve));
  }
}
