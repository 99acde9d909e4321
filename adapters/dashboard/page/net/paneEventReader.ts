/** The pane stream's events (docs/contracts/native.md, "Streams"), decoded for a screen. */
import type { NativeGap } from "../../../../protocol/api/nativeResponses.ts";
import type { StreamEventData } from "../../../../protocol/api/nativeStream.ts";
import type { SseEvent } from "../../../../protocol/text/sse.ts";

export type PaneEvent =
  | { readonly kind: "open"; readonly cols: number; readonly rows: number }
  | { readonly kind: "output"; readonly bytes: Uint8Array }
  /** Everything on the screen is replaced. */
  | { readonly kind: "snapshot"; readonly cols: number; readonly rows: number; readonly bytes: Uint8Array }
  | { readonly kind: "gap"; readonly reason: NativeGap["reason"] }
  | { readonly kind: "resize"; readonly cols: number; readonly rows: number }
  | { readonly kind: "exit"; readonly words: string }
  | { readonly kind: "closed"; readonly message: string };

/** Undefined for an event this page does not know. @throws Error when the data breaks the contract. */
export function decodePaneEvent({ event, data }: SseEvent): PaneEvent | undefined {
  switch (event) {
    case "output":
      return { kind: "output", bytes: fromBase64(data) };
    case "open": {
      const { cols, rows } = JSON.parse(data) as StreamEventData["open"];
      return { kind: "open", cols, rows };
    }
    case "snapshot": {
      const { cols, rows, data: screen } = JSON.parse(data) as StreamEventData["snapshot"];
      return { kind: "snapshot", cols, rows, bytes: fromBase64(screen) };
    }
    case "gap":
      return { kind: "gap", reason: (JSON.parse(data) as StreamEventData["gap"]).reason };
    case "resize": {
      const { cols, rows } = JSON.parse(data) as StreamEventData["resize"];
      return { kind: "resize", cols, rows };
    }
    case "exit": {
      const { exitCode, signal } = JSON.parse(data) as StreamEventData["exit"];
      if (signal !== undefined) return { kind: "exit", words: `ended by signal ${signal}` };
      return { kind: "exit", words: exitCode === undefined ? "ended" : `ended with ${exitCode}` };
    }
    case "closed":
      return { kind: "closed", message: (JSON.parse(data) as StreamEventData["closed"]).message };
    default:
      return undefined;
  }
}

const fromBase64 = (base64: string): Uint8Array => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
