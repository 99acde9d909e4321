/**
 * Checks one of our control clients, by the session and flags that tmux reports for it. It must get output, must not affect
 * any window's size, must be paused when it falls behind, and must be allowed to send commands.
 */
import { displayMessage } from "../../protocol/command/build.ts";
import { CLIENT_STATE } from "../../protocol/command/formats.ts";
import type { SessionId } from "../../protocol/ids.ts";
import { PAUSE_AFTER_SEC } from "../../protocol/limits.ts";
import type { Checkup } from "../connection/checkup.ts";

/** Flags that the client we started has. */
const NEEDED = ["control-mode", "ignore-size", `pause-after=${PAUSE_AFTER_SEC}`];
/** Flags that silently stop output or input. */
const HARMFUL = ["suspended", "read-only"];

/** @param withOutput whether output is expected on this client */
export function clientFault(reply: Uint8Array, session: SessionId, withOutput: boolean): string | undefined {
  const state = CLIENT_STATE.decodeOne(reply);
  if (state?.session !== session) return "it is attached to another session";
  const missing = NEEDED.find((flag) => !state.flags.has(flag));
  if (missing !== undefined) return `it has lost its flag ${missing}`;
  const harmful = [...HARMFUL, ...(withOutput ? ["no-output"] : [])].find((flag) => state.flags.has(flag));
  return harmful === undefined ? undefined : `it was made ${harmful}`;
}

/** A checkup of what one format says about our client. */
export interface StateCheckup extends Checkup {
  readonly format: string;
}

/** @param places the sessions it may be in when tmux replies; more than one while it moves */
export const clientCheckup = (places: () => readonly (SessionId | undefined)[], withOutput: boolean): StateCheckup => ({
  format: CLIENT_STATE.format,
  command: displayMessage(CLIENT_STATE.format),
  fault: (reply) => {
    const problems = places().map((place) => place !== undefined && clientFault(reply, place, withOutput));
    const isWell = problems.includes(undefined);
    return isWell ? undefined : problems.find((problem) => typeof problem === "string");
  },
});
