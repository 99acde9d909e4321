/** A WebSocket that keeps all it was sent, to see exactly what the daemon says. */
import { once } from "node:events";
import { WebSocket } from "ws";

export class RawSocket implements AsyncDisposable {
  readonly #socket: WebSocket;
  readonly messages: Record<string, unknown>[] = [];
  readonly frames: Uint8Array[] = [];
  closeCode: number | undefined;

  constructor(port: number) {
    this.#socket = new WebSocket(`ws://127.0.0.1:${port}/v1/stream`, ["tmuxwire.v1"]);
    this.#socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) this.frames.push(new Uint8Array(data));
      else this.messages.push(JSON.parse(data.toString()) as Record<string, unknown>);
    });
    this.#socket.on("close", (code) => {
      this.closeCode = code;
    });
  }

  static async open(port: number): Promise<RawSocket> {
    const raw = new RawSocket(port);
    await new Promise((resolve, reject) => {
      raw.#socket.once("open", resolve);
      raw.#socket.once("error", reject);
    });
    return raw;
  }

  send(message: unknown): void {
    this.#socket.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  sendBinary(bytes: Uint8Array): void {
    this.#socket.send(bytes);
  }

  /** The first message of that type, when it has come. */
  async message(type: string): Promise<Record<string, unknown>> {
    for (;;) {
      const found = this.messages.find((message) => message["type"] === type);
      if (found !== undefined) return found;
      await once(this.#socket, "message");
    }
  }

  /** The first message there is. */
  async next(): Promise<Record<string, unknown>> {
    while (this.messages[0] === undefined) await once(this.#socket, "message");
    return this.messages[0];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.terminate();
  }
}
