/**
 * Relays MCP between a client's pipes and the daemon: lines of JSON-RPC on stdin and stdout, a WebSocket to the daemon. It
 * keeps only the protocol state needed when the connection is lost: which requests have no response yet (each gets an
 * error), and how the client initialized (repeated to the next daemon before anything else).
 */
import { once } from "node:events";
import type { WebSocket } from "ws";
import { systemClock } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import { STREAM_MAX_MESSAGE_BYTES } from "../../../protocol/api/native/nativeFrames.ts";
import { toAppError } from "../../../protocol/errors.ts";
import { fieldsOf, parseJson } from "../../../protocol/text/jsonObject.ts";
import { textLines } from "../../../protocol/text/textLines.ts";
import { type Io, stdinOf } from "../../cli/cliIo.ts";

interface McpRelayOptions {
  readonly io: Io;
  /** An open connection. @throws AppError DAEMON_UNREACHABLE */
  readonly connect: () => Promise<WebSocket>;
}

interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: unknown;
}

/** From JSON-RPC's range for server errors. */
const LOST = -32_000;
/** At the end of stdin, for the responses to what was read last: who asks in a pipe reads them after that. */
const LAST_RESPONSES_WITHIN_MS = 1_000;

export class McpRelay {
  readonly #options: McpRelayOptions;
  #socket: WebSocket | undefined;
  /** Requests without a response yet, by the JSON of their ids, each with the connection it was sent on. */
  readonly #waiting = new Map<string, WebSocket>();
  /** Called when none waits. */
  #settled: (() => void) | undefined;
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
    try {
      for await (const line of textLines(stdinOf(io))) if (line.trim() !== "") await this.#fromClient(line);
      await this.#lastResponses();
    } catch (error) {
      if (!io.signal.aborted) throw error;
    }
    this.#socket?.close();
  }

  async #lastResponses(): Promise<void> {
    await within<void>(systemClock, LAST_RESPONSES_WITHIN_MS, undefined, (done) => {
      if (this.#waiting.size === 0) done();
      this.#settled = done;
    });
    // The last of them is written.
    await this.#options.io.out("");
  }

  async #fromClient(line: string): Promise<void> {
    const { id, method, params } = messageOf(line);
    const key = method === undefined || id === undefined || id === null ? undefined : JSON.stringify(id);
    // The daemon would close the connection, and with it every other call.
    if (Buffer.byteLength(line) > STREAM_MAX_MESSAGE_BYTES) {
      if (key !== undefined)
        await this.#refuse(key, `the message is larger than ${STREAM_MAX_MESSAGE_BYTES} bytes: send it in pieces`);
      return;
    }
    let socket: WebSocket;
    try {
      socket = await this.#connected();
    } catch (error) {
      if (key !== undefined) await this.#refuse(key, toAppError(error).message);
      return;
    }
    if (method === "initialize") this.#greeting = [line];
    if (method === "notifications/initialized") this.#greeting = [...this.#greeting, line];
    // It gets no response.
    if (method === "notifications/cancelled") this.#forget(JSON.stringify(fieldsOf(params)?.["requestId"]));
    if (key !== undefined) this.#waiting.set(key, socket);
    // One that has closed meanwhile takes nothing.
    socket.send(line, (error) => {
      if (error instanceof Error) void this.#lost(socket);
    });
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
    const key = method === undefined && id !== undefined ? JSON.stringify(id) : undefined;
    if (key !== undefined && key === this.#unasked) return;
    const written = this.#options.io.out(`${text}\n`);
    if (key !== undefined) this.#forget(key);
    await written;
  }

  /** Whether it has waited. */
  #forget(key: string): boolean {
    const hasWaited = this.#waiting.delete(key);
    if (this.#waiting.size === 0) this.#settled?.();
    return hasWaited;
  }

  async #lost(socket: WebSocket): Promise<void> {
    if (this.#socket === socket) this.#socket = undefined;
    const message =
      "the connection to the daemon was lost, so the call may or may not have taken effect: check, then call again";
    const failed = [...this.#waiting].filter(([, on]) => on === socket).map(([key]) => key);
    await Promise.all(failed.flatMap((key) => (this.#forget(key) ? [this.#refuse(key, message)] : [])));
  }

  async #refuse(key: string, message: string): Promise<void> {
    await this.#options.io.out(
      `${JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(key) as unknown, error: { code: LOST, message } })}\n`,
    );
  }
}

/** Empty for a line that is not a message: the daemon reports that. */
const messageOf = (line: string): Message => fieldsOf(parseJson(line)) ?? {};
