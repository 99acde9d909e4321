/** What the calls of one `/ws` connection have in common: who the client is, and how to send to it. */
import type {
  FreshellErrorCode,
  FreshellFault,
  OperationErrorCode,
} from "../../../protocol/api/freshell/freshellErrors.ts";
import type { HelloMessage, ServerMessage } from "../../../protocol/api/freshell/freshellWire.ts";
import type { FreshellContext } from "../freshellContext.ts";
import type { Principal } from "../tokens/credentials.ts";

/** What an error is about. */
export interface About {
  readonly requestId?: string | undefined;
  readonly terminalId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

export interface SocketClient {
  readonly context: FreshellContext;
  readonly principal: Principal;
  readonly device: HelloMessage["device"];
  /** Key of its creates: the device's, or this connection's own. */
  readonly creator: string;
  /** Maximum size of a large snapshot's chunks; undefined if the client did not ask for chunks. */
  readonly chunkBytes: number | undefined;
  /** Whether the connection takes any data. */
  readonly isOpen: () => boolean;
  readonly send: (message: ServerMessage) => void;
  /** An encoded message. */
  readonly frame: (frame: Uint8Array) => void;
  /** An encoded message that may be long. */
  readonly longFrame: (frame: Uint8Array) => void;
  readonly fail: (code: FreshellErrorCode, message: string, about?: About) => void;
  /** Sends anything thrown as an error. */
  readonly failed: (thrown: unknown, about: About) => void;
  /** What the client may see of anything thrown; a bug is logged. */
  readonly faultOf: (thrown: unknown) => FreshellFault<OperationErrorCode>;
  readonly close: (code: number, reason: string) => void;
}
