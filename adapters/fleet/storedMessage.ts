/** A pane's message as the stream has it. */
import { type FleetMessage, fleetMessage } from "./fleetMessages.ts";

export interface Stored {
  readonly seq: number;
  readonly message: FleetMessage;
}

interface Raw {
  readonly seq: number;
  readonly header: { get(name: string): string };
  readonly data: Uint8Array;
}

/** Undefined: there is none, or it is none of ours. */
export function pickHeaders(stored: Raw | null | undefined): Stored | undefined {
  if (stored === null || stored === undefined) return undefined;
  const message = fleetMessage((name) => stored.header.get(name), stored.data);
  return message === undefined ? undefined : { seq: stored.seq, message };
}
