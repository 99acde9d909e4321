/** A pane's message as the stream has it. */
import { type FleetMessage, fleetMessage } from "./fleetMessages.ts";

export interface Stored {
  readonly seq: number;
  /** Undefined: somebody else has put it there. */
  readonly message: FleetMessage | undefined;
}

interface Raw {
  readonly seq: number;
  readonly header: { get(name: string): string };
  readonly data: Uint8Array;
}

/** Undefined: there is none. */
export function storedMessage(raw: Raw | null | undefined): Stored | undefined {
  if (raw === null || raw === undefined) return undefined;
  return { seq: raw.seq, message: fleetMessage((name) => raw.header.get(name), raw.data) };
}
