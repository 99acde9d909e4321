/**
 * Relays MCP between a client's pipes and the daemon: lines of JSON-RPC on stdin and stdout, a WebSocket to the daemon. It
 * keeps only the protocol state needed when the connection is lost: which requests have no response yet (each gets an
 * error), and how the client initialized (repeated to the next daemon before anything else).
 */
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { WebSocket } from "ws";
import { toAppError } from "../../../protocol/errors.ts";
import { fieldsOf, parseJson } from "../../../protocol/text/jsonObject.ts";
import type { Io } from "../../cli/cliIo.ts";

interface McpRelayOptions {
  readonly io: Io;
  /** An open connection. @throws AppError DAEMON_UNREACHABLE */
  readonly connect: () => Promise<WebSocket>;
}

interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
}

/** From JSON-RPC's range for server errors. */
const LOST = -32_000;

export class McpRelay {
  readonly #options: McpRelayOptions;
  #socket: WebSocket | undefined;
  /** Requests without a response yet, by the JSON of their ids. */
  readonly #waiting = new Set<string>();
  /** The client's `initialize` and `initialized`. */
  #greeting: readonly string[] = [];
  /** The id of a repeated `initialize`, whose response is dropped. */
  #unasked: string | undefined;
  #repeats = 0;

  constructor(options: McpRelayOptions) {
    this.#options = options;
  }

  /** Runs until the client closes stdin or the process is told to stop. */
  async run(): Promise<void> {
    const { io } = this.#options;
    // Connect before the first message arrives, so that it is not delayed.
    await this.#connected().catch((error: unknown) => io.err(`tmuxwire: ${toAppError(error).message}\n`));
    // Not earlier: readline drops lines that arrive before anything reads them.
    const lines = createInterface({ input: io.stdin, crlfDelay: Infinity, signal: io.signal });
    for await (const line of lines) if (line.trim() !== "") await this.#fromClient(line);
    this.#socket?.close();
  }

  async #fromClient(line: string): Promise<void> {
    const { id, method } = messageOf(line);
    const isRequest = method !== undefined && id !== undefined && id !== null;
    if (isRequest) this.#waiting.add(JSON.stringify(id));
    try {
      const socket = await this.#connected();
      if (method === "initialize") this.#greeting = [line];
      if (method === "notifications/initialized") this.#greeting = [...this.#greeting, line];
      socket.send(line);
    } catch (error) {
      if (isRequest) await this.#fail(JSON.stringify(id), toAppError(error).message);
    }
  }

  async #connected(): Promise<WebSocket> {
    const known = this.#socket;
    if (known !== undefined && known.readyState === known.OPEN) return known;
    const socket = await this.#options.connect();
    this.#socket = socket;
    socket.on("message", (data: Buffer) => void this.#fromDaemon(String(data)));
    socket.once("close", () => void this.#lost(socket));
    await this.#repeatGreeting(socket);
    return socket;
  }

  async #repeatGreeting(socket: WebSocket): Promise<void> {
    const [initialize, ...rest] = this.#greeting;
    if (initialize === undefined) return;
    const id = `tmuxwire-again-${(this.#repeats += 1)}`;
    this.#unasked = JSON.stringify(id);
    const responded = once(socket, "message");
    socket.send(JSON.stringify({ ...(JSON.parse(initialize) as object), id }));
    await Promise.race([responded, once(socket, "close")]);
    for (const line of rest) socket.send(line);
  }

  async #fromDaemon(text: string): Promise<void> {
    const { id, method } = messageOf(text);
    if (method === undefined && id !== undefined) {
      const key = JSON.stringify(id);
      if (key === this.#unasked) return;
      this.#waiting.delete(key);
    }
    await this.#options.io.out(`${text}\n`);
  }

  async #lost(socket: WebSocket): Promise<void> {
    if (this.#socket === socket) this.#socket = undefined;
    const pending = [...this.#waiting];
    for (const key of pending) {
      await this.#fail(
        key,
        "the connection to the daemon was lost, so the call may or may not have taken effect: check, then call again",
      );
    }
  }

  async #fail(key: string, message: string): Promise<void> {
    if (!this.#waiting.delete(key)) return;
    await this.#options.io.out(
      `${JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(key) as unknown, error: { code: LOST, message } })}\n`,
    );
  }
}

/** Empty for a line that is not a message: the daemon reports that. */
const messageOf = (line: string): Message => fieldsOf(parseJson(line)) ?? {};
