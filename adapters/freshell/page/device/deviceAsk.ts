/** A person's requests to the device, and messages between pages of one profile: plain data, because it is posted. */
import type { OwnerLayout } from "../../../../protocol/api/freshell/deviceLayout.ts";
import type { OperationErrorCode } from "../../../../protocol/api/freshell/freshellErrors.ts";
import type { RpcOutcome } from "../../../../protocol/api/freshell/rpc.ts";
import type { RpcCommand } from "../../../../protocol/api/freshell/rpcCommands.ts";
import type { RemoteLine } from "../model/remoteLine.ts";

export type DeviceAsk =
  | { readonly kind: "command"; readonly command: RpcCommand; readonly args: Readonly<Record<string, unknown>> }
  /** Replaces a pane's content by a terminal. */
  | { readonly kind: "terminal"; readonly paneId: string; readonly options: Readonly<Record<string, unknown>> }
  /** Replaces a pane's content by a conversation. */
  | { readonly kind: "session"; readonly paneId: string; readonly provider: string; readonly sessionId: string }
  | { readonly kind: "split"; readonly splitId: string; readonly percent: number }
  | { readonly kind: "paneTitle"; readonly paneId: string; readonly title: string | undefined }
  | { readonly kind: "undo"; readonly lineId: string }
  | { readonly kind: "allow"; readonly allow: readonly string[] };

/** Why a request failed in the page itself. */
export const failed = (message: string, code: OperationErrorCode = "INTERNAL_ERROR"): RpcOutcome => ({
  ok: false,
  error: { code, message },
});

/** What every page of the profile shows. */
export interface DeviceView {
  readonly layout: OwnerLayout;
  readonly lines: readonly RemoteLine[];
  readonly allow: readonly string[];
  readonly notes: readonly string[];
}

export type PageMessage =
  /** From a new page. */
  | { readonly kind: "who" }
  | { readonly kind: "view"; readonly view: DeviceView }
  | { readonly kind: "ask"; readonly askId: string; readonly ask: DeviceAsk }
  | { readonly kind: "answer"; readonly askId: string; readonly outcome: RpcOutcome }
  /** The page in use has given a terminal this size. */
  | { readonly kind: "size"; readonly terminalId: string; readonly cols: number; readonly rows: number };

/** Of a BroadcastChannel. */
export interface PageChannel {
  post(message: PageMessage): void;
  /** One listener. */
  listen(listener: (message: PageMessage) => void): void;
}
