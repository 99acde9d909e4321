/**
 * What is wrong with a control client of ours, as tmux itself describes it: where it is and which flags it has. It must
 * get output, count for no window's size, be told when it is late, and be allowed to send commands.
 */
import { displayMessage } from "../../protocol/command/build.ts";
import { CLIENT_STATE } from "../../protocol/command/formats.ts";
import type { SessionId } from "../../protocol/ids.ts";
import { PAUSE_AFTER_SEC } from "../../protocol/limits.ts";
import type { Checkup } from "../connection/checkup.ts";

/** Required, or the client is not the one that we started. */
const NEEDED = ["control-mode", "ignore-size", `pause-after=${PAUSE_AFTER_SEC}`];
/** Each of them stops output or input silently. */
const HARMFUL = ["suspended", "read-only"];

/** @param withOutput output is expected over it; otherwise that does not matter */
export function clientFault(reply: Uint8Array, session: SessionId, withOutput: boolean): string | undefined {
  const state = CLIENT_STATE.decodeOne(reply);
  if (state?.session !== session) return "it is attached to another session";
  const missing = NEEDED.find((flag) => !state.flags.has(flag));
  if (missing !== undefined) return `it has lost its flag ${missing}`;
  const harmful = [...HARMFUL, ...(withOutput ? ["no-output"] : [])].find((flag) => state.flags.has(flag));
  return harmful === undefined ? undefined : `somebody made it ${harmful}`;
}

/** @param places where it may be when tmux replies; more than one while it moves */
export const clientCheckup = (places: () => readonly (SessionId | undefined)[], withOutput: boolean): Checkup => ({
  command: displayMessage(CLIENT_STATE.format),
  fault: (reply) => {
    const faults = places().map((place) => place !== undefined && clientFault(reply, place, withOutput));
    const isWell = faults.includes(undefined);
    return isWell ? undefined : faults.find((fault) => typeof fault === "string");
  },
});
