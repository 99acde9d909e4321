/** MCP over a WebSocket, one JSON-RPC message per frame, for `tmuxwire mcp`, which relays a client's stdin and stdout. */
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/server";
import type { WebSocket } from "ws";
import { parseJsonText } from "../../kit/guard/jsonText.ts";
import { SocketWriter } from "../../kit/streams/websocket.ts";
import type { NativeContext } from "../nativeContext.ts";
import { cancelledRequest } from "./subscriptions.ts";

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
  /** Requests without a response yet. */
  readonly #underWay = new Map<string | number, () => void>();

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
    if ("id" in message && !("method" in message)) this.#settle(message.id);
  }

  async close(): Promise<void> {
    this.#socket.close(CLOSE_GOING_AWAY);
  }

  /** Handles a text message; nothing in it can end the connection. Settles with its response, if it is a request. */
  message(data: unknown): Promise<void> | undefined {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(typeof data === "string" ? parseJsonText(data) : undefined);
    } catch {
      this.#writer.text(
        JSON.stringify({
          jsonrpc: "2.0",
          id: null,
          error: { code: PARSE_ERROR, message: "not a JSON-RPC 2.0 message" },
        }),
      );
      return undefined;
    }
    const settled = "id" in message && "method" in message ? this.#settled(message.id) : undefined;
    this.#peek(message);
    this.onmessage?.(message);
    // A cancelled request gets no response.
    this.#settle(cancelledRequest(message));
    return settled;
  }

  #settled(id: string | number): Promise<void> {
    this.#settle(id);
    return new Promise((resolve) => this.#underWay.set(id, resolve));
  }

  #settle(id: string | number | undefined): void {
    if (id === undefined) return;
    this.#underWay.get(id)?.();
    this.#underWay.delete(id);
  }

  /** Called when the connection is gone. */
  closed(): void {
    this.#writer.close();
    for (const id of this.#underWay.keys()) this.#settle(id);
    this.onclose?.();
  }
}
