/** The least HTTP client there is: one kept connection, one request at a time. Node's own costs more than a daemon. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export class RawHttp implements Disposable {
  readonly #socket: Socket;
  #text = "";
  /** Of `#text`. */
  #bytes = 0;
  #onText: () => void = () => undefined;

  readonly #headers: string;

  private constructor(socket: Socket, headers: string) {
    this.#socket = socket;
    this.#headers = headers;
    socket.setNoDelay(true);
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      this.#text += text;
      this.#bytes += Buffer.byteLength(text);
      this.#onText();
    });
  }

  /** @param headers whole lines that every request carries */
  static async open(port: number, headers = ""): Promise<RawHttp> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new RawHttp(socket, headers);
  }

  /** The response's JSON. */
  call(method: string, path: string, body?: object): Promise<unknown> {
    this.#write(method, path, body);
    return new Promise((resolve, reject) => {
      // A long body is looked at once, when it is whole.
      let wantedBytes = 0;
      this.#onText = () => {
        if (this.#bytes < wantedBytes) return;
        const end = this.#text.indexOf("\r\n\r\n");
        if (end < 0) return;
        const headers = this.#text.slice(0, end);
        const length = /^content-length: (\d+)/im.exec(headers)?.[1];
        wantedBytes = Buffer.byteLength(headers) + 4 + Number(length ?? 0);
        if (this.#bytes < wantedBytes) return;
        const rest = this.#text.slice(end + 4);
        const response = length === undefined ? chunksOf(rest) : rest;
        if (response === undefined) return;
        this.#text = "";
        this.#bytes = 0;
        if (headers.startsWith("HTTP/1.1 2")) resolve(JSON.parse(response));
        else reject(new Error(response));
      };
    });
  }

  /** Hands on each `data:` of an event stream; resolves with the first. */
  follow(path: string, onData: (data: string) => void): Promise<void> {
    this.#write("GET", path, undefined);
    return new Promise((resolve) => {
      this.#onText = () => {
        const events = this.#text.split("\n\n");
        this.#text = events.pop()!;
        for (const event of events) {
          const data = /^data: (.*)$/m.exec(event)?.[1];
          if (data === undefined) continue;
          onData(data);
          resolve();
        }
      };
    });
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #write(method: string, path: string, body: object | undefined): void {
    const text = body === undefined ? "" : JSON.stringify(body);
    const length =
      body === undefined ? "" : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
    this.#socket.write(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${this.#headers}${length}\r\n${text}`);
  }
}

/** What takes its time comes in chunks. Undefined until it is there. */
const chunksOf = (body: string): string | undefined =>
  body.endsWith("\r\n0\r\n\r\n") ? body.replaceAll(/(?:^|\r\n)[0-9a-f]+\r\n/g, "").trim() : undefined;
