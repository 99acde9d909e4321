/** The events of a pane's stream on either transport, and how long a client waits before a retry. */
import { spreadBackOffMs } from "../../daemon/time/backOff.ts";
import { systemClock, type Timer } from "../../daemon/time/clock.ts";
import type {
  NativeExit,
  NativeGap,
  NativeReadiness,
  NativeSnapshot,
} from "../../protocol/api/native/nativeResponses.ts";
import type { StreamClosed, StreamInput, StreamOpen } from "../../protocol/api/native/nativeStream.ts";
import type { CallOptions } from "./clientHttp.ts";

export type PaneEvent =
  /** Comes once, first. */
  | ({ readonly kind: "open" } & StreamOpen)
  /** Every byte once and in order; `position` is after them. */
  | { readonly kind: "output"; readonly bytes: Uint8Array; readonly position: string }
  /** Bytes that are lost; a snapshot follows. */
  | ({ readonly kind: "gap" } & NativeGap)
  | ({ readonly kind: "snapshot"; readonly bytes: Uint8Array } & Omit<NativeSnapshot, "data">)
  /** A snapshot follows. */
  | { readonly kind: "resize"; readonly cols: number; readonly rows: number }
  /** The program has ended; the pane may stay. */
  | ({ readonly kind: "exit" } & NativeExit)
  /** Input through the daemon, typed when the output was at `position`. Only with `input`. */
  | ({ readonly kind: "input"; readonly bytes: Uint8Array } & Omit<StreamInput, "data">)
  /** What the program is doing: the current state, then every change. Only with `readiness`. */
  | ({ readonly kind: "readiness" } & NativeReadiness)
  /** Comes last: the pane is gone. */
  | ({ readonly kind: "closed" } & StreamClosed);

const KINDS: ReadonlySet<string> = new Set<PaneEvent["kind"]>([
  "open",
  "gap",
  "snapshot",
  "resize",
  "exit",
  "input",
  "readiness",
  "closed",
]);

/** Converts an event other than output from its wire form; undefined for a kind unknown to this version. */
export function paneEvent(kind: string, sent: object): PaneEvent | undefined {
  if (!KINDS.has(kind)) return undefined;
  const { data, ...rest } = sent as { readonly data?: string };
  return { kind, ...rest, ...(data === undefined ? {} : { bytes: decodeBase64(data) }) } as PaneEvent;
}

export interface FollowOptions extends CallOptions {
  /** `now` (default), `snapshot`, `tail:LINES` or a position. */
  readonly from?: string | undefined;
  /** Also report readiness. */
  readonly readiness?: boolean | undefined;
  /**
   * Also report input through the daemon, including passwords. Input is not stored, so input typed while the connection is
   * lost is not reported.
   */
  readonly input?: boolean | undefined;
  /** If false, a lost connection is an error instead of a pause. Default true. */
  readonly resume?: boolean | undefined;
}

export interface SocketFollowOptions extends FollowOptions {
  /** Bytes that may be in flight or unread. */
  readonly creditBytes?: number | undefined;
}

export const retryDelayMs = (tries: number): number => spreadBackOffMs(tries, { minMs: 50, maxMs: 5_000 });

export const after = (ms: number, run: () => void): Timer => systemClock.callAt(systemClock.nowMs() + ms, run);

interface Base64Decoder {
  from(text: string, encoding: "base64"): Uint8Array;
}

/** Node's decoder, if available: ten times as fast as `atob` and a loop. */
const nodeBuffer = (globalThis as { readonly Buffer?: Base64Decoder }).Buffer;

export function decodeBase64(text: string): Uint8Array {
  if (nodeBuffer !== undefined) return nodeBuffer.from(text, "base64");
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
