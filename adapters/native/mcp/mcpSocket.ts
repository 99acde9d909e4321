/** MCP over a WebSocket, one JSON-RPC message each: what `tmuxwire mcp` carries between a client's pipes and the daemon. */
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/server";
import type { WebSocket } from "ws";
import { parseJsonText } from "../../http/jsonText.ts";
import { SocketWriter } from "../../http/websocket.ts";
import type { NativeContext } from "../nativeContext.ts";

/** RFC 6455 §7.4.1: going away. */
const CLOSE_GOING_AWAY = 1_001;
/** JSON-RPC 2.0 §5.1. */
const PARSE_ERROR = -32_700;

export class McpSocket implements Transport {
  onclose?: () => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  /** Sees every message before it is handled. */
  readonly #peek: (message: JSONRPCMessage) => void;
  readonly #socket: WebSocket;
  readonly #writer: SocketWriter;

  constructor(
    socket: WebSocket,
    { clock, bounds }: Pick<NativeContext, "clock" | "bounds">,
    peek: (message: JSONRPCMessage) => void,
  ) {
    this.#peek = peek;
    this.#socket = socket;
    this.#writer = new SocketWriter({ socket, clock, ...bounds, onDrain: () => undefined, onStall: () => undefined });
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.#writer.text(JSON.stringify(message));
  }

  async close(): Promise<void> {
    this.#socket.close(CLOSE_GOING_AWAY);
  }

  /** A text message; no content can end the connection. */
  message(data: unknown): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(typeof data === "string" ? parseJsonText(data) : undefined);
    } catch {
      this.#writer.text(
        JSON.stringify({
          jsonrpc: "2.0",
          id: null,
          error: { code: PARSE_ERROR, message: "no message of JSON-RPC 2.0" },
        }),
      );
      return;
    }
    this.#peek(message);
    this.onmessage?.(message);
  }

  /** The connection is gone. */
  closed(): void {
    this.#writer.close();
    this.onclose?.();
  }
}
