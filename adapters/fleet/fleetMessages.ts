/**
 * One message of a pane: an event of its stream (docs/contracts/native.md, "Streams") as headers of our own and bytes.
 * Besides the event they hold what lets a reader begin anywhere without an index: where the pane's epoch, its life and its
 * newest snapshot begin in the stream.
 */
import { parsePosition, type Position } from "../../protocol/position.ts";

const FLEET_KINDS = ["open", "output", "gap", "snapshot", "resize", "exit", "closed"] as const;
export type FleetKind = (typeof FLEET_KINDS)[number];

export interface FleetMessage {
  readonly kind: FleetKind;
  /** Where the pane's output is after it. */
  readonly position: Position;
  readonly cols: number;
  readonly rows: number;
  /** The event without its bytes; empty for output. */
  readonly data: object;
  /** Of output and snapshots. */
  readonly bytes: Uint8Array;
  /** More of the same snapshot follows. */
  readonly isPart: boolean;
  readonly chain: Chain;
  /** Who has published it, and its number there: how a publisher knows its own message again. */
  readonly origin: string;
  /** Identifies the tmux server whose pane it is; empty if unknown. */
  readonly tmux: string;
}

/** Sequences of the stream; 0: there is none. */
export interface Chain {
  /** Of the pane's last message before this epoch. */
  readonly beforeEpoch: number;
  /** Of the last message about an earlier pane with this id. */
  readonly beforeLife: number;
  /** Of the newest snapshot. */
  readonly snapshot: number;
}

export const NO_CHAIN: Chain = { beforeEpoch: 0, beforeLife: 0, snapshot: 0 };

const HEADER = {
  kind: "Tmuxwire-Kind",
  position: "Tmuxwire-Position",
  length: "Tmuxwire-Length",
  size: "Tmuxwire-Size",
  data: "Tmuxwire-Data",
  part: "Tmuxwire-Part",
  chain: "Tmuxwire-Chain",
  origin: "Tmuxwire-Origin",
  tmux: "Tmuxwire-Tmux",
} as const;

/** What all headers of one message take at most: that much less fits into its bytes. */
export const HEADER_BYTES = 8_192;

export function fleetHeaders(message: FleetMessage): readonly (readonly [name: string, value: string])[] {
  const { kind, position, cols, rows, data, bytes, isPart, chain, origin, tmux } = message;
  return [
    [HEADER.kind, kind],
    [HEADER.position, `${position.epoch}:${position.outputSeq}`],
    [HEADER.length, String(bytes.length)],
    [HEADER.size, `${cols}x${rows}`],
    [HEADER.chain, `${chain.beforeEpoch},${chain.beforeLife},${chain.snapshot}`],
    [HEADER.origin, origin],
    ...(tmux === "" ? [] : [[HEADER.tmux, tmux] as const]),
    ...(Object.keys(data).length === 0 ? [] : [[HEADER.data, asciiJson(data)] as const]),
    ...(isPart ? [[HEADER.part, "1"] as const] : []),
  ];
}

/** Undefined: it is none of ours, or of a version that this one does not know. */
export function fleetMessage(header: (name: string) => string, bytes: Uint8Array): FleetMessage | undefined {
  const kind = FLEET_KINDS.find((one) => one === header(HEADER.kind));
  const size = /^(\d{1,5})x(\d{1,5})$/.exec(header(HEADER.size));
  const chain = /^(\d{1,16}),(\d{1,16}),(\d{1,16})$/.exec(header(HEADER.chain));
  const [, beforeEpoch, beforeLife, snapshot] = (chain ?? []).map(Number);
  if (kind === undefined || size === null || header(HEADER.length) !== String(bytes.length)) return undefined;
  if (beforeEpoch === undefined || beforeLife === undefined || snapshot === undefined) return undefined;
  try {
    return {
      kind,
      position: parsePosition(header(HEADER.position)),
      cols: Number(size[1]),
      rows: Number(size[2]),
      data: dataOf(header(HEADER.data)),
      bytes,
      isPart: header(HEADER.part) === "1",
      chain: { beforeEpoch, beforeLife, snapshot },
      origin: header(HEADER.origin),
      tmux: header(HEADER.tmux),
    };
  } catch {
    return undefined;
  }
}

function dataOf(text: string): object {
  const data: unknown = text === "" ? {} : JSON.parse(text);
  if (typeof data !== "object" || data === null) throw new TypeError("not an object");
  return data;
}

/** Headers are lines of ASCII. */
const asciiJson = (data: object): string =>
  JSON.stringify(data).replaceAll(
    /[\u007F-\uFFFF]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
