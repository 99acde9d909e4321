/**
 * `fetch` over a unix socket for a process that asks once or twice and ends: a connection for each request, over `node:net`
 * alone. To load `node:http` takes a command longer than all else that it does (from Node 22 on `fetch` comes with it).
 * What lives longer keeps its connections (`unixFetch`).
 */
import { connect, type Socket } from "node:net";
import { AppError } from "../../protocol/errors.ts";

/** As Node's own client has it (`--max-http-header-size`). */
const MAX_HEAD_BYTES = 16_384;
/** A chunk's length in hexadecimal, with extensions. */
const MAX_LENGTH_LINE_BYTES = 1_024;
/** What is received and not yet read, above which the daemon has to wait. */
const MAX_UNREAD_BYTES = 1 << 20;
/** Statuses whose responses have no body. */
export const NO_BODY = new Set([204, 205, 304]);
/** RFC 9110 §5.5; a line break would begin another header. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** What our client gives: never a `Request`, which takes long to load. */
export interface SocketRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Its requests are those of `HttpCaller`: a URL as text, plain headers, a body as text. @throws AppError DAEMON_UNREACHABLE, FORBIDDEN */
export const socketFetch = (socketPath: string): typeof globalThis.fetch =>
  (async (url: string, request: SocketRequest = {}) => {
    const { signal } = request;
    signal?.throwIfAborted();
    const head = headOf(url, request);
    const incoming = new Incoming(connect(socketPath), socketPath, signal);
    incoming.send(head, request.body ?? "");
    return SocketResponse.read(incoming);
  }) as unknown as typeof globalThis.fetch;

function headOf(url: string, { method = "GET", headers = {}, body = "" }: SocketRequest): string {
  const [, host = "", path = "/"] = /^https?:\/\/([^/?#]*)([^#]*)/.exec(url) ?? [];
  const fields = { host, ...headers, connection: "close", "content-length": String(Buffer.byteLength(body)) };
  const lines = Object.entries(fields).map(([name, value]) => {
    if (!FIELD_VALUE.test(value)) throw new TypeError(`the header ${name} has a character that headers cannot have`);
    return `${name}: ${value}\r\n`;
  });
  return `${method} ${path === "" ? "/" : path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** The bytes that a connection receives, read in pieces of the reader's choice. */
class Incoming {
  readonly #socket: Socket;
  readonly #path: string;
  readonly #signal: AbortSignal | undefined;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #isEnded = false;
  #failure: Error | undefined;
  #wake: (() => void) | undefined;

  constructor(socket: Socket, socketPath: string, signal: AbortSignal | undefined) {
    this.#socket = socket;
    this.#path = socketPath;
    this.#signal = signal;
    const abort = (): void => this.#fail(signal?.reason as Error);
    signal?.addEventListener("abort", abort, { once: true });
    socket.once("close", () => signal?.removeEventListener("abort", abort));
    socket.on("data", (bytes: Buffer) => {
      this.#unread.push(bytes);
      this.#unreadBytes += bytes.length;
      if (this.#unreadBytes > MAX_UNREAD_BYTES) socket.pause();
      this.#wake?.();
    });
    socket.once("end", () => {
      this.#isEnded = true;
      this.#wake?.();
    });
    socket.once("error", (error) => this.#fail(failureOf(socketPath, error)));
  }

  send(head: string, body: string): void {
    this.#socket.write(head + body);
  }

  /** The next bytes, at most `atMost`. @throws what ended the connection before they came */
  async some(atMost = Number.POSITIVE_INFINITY): Promise<Buffer> {
    const bytes = await this.#next();
    if (bytes === undefined) throw lost(this.#path);
    if (bytes.length <= atMost) return bytes;
    this.#putBack(bytes.subarray(atMost));
    return bytes.subarray(0, atMost);
  }

  /** Undefined at the end of the connection. */
  rest(): Promise<Buffer | undefined> {
    return this.#next();
  }

  /** What stands before `mark`, which is taken too. @throws if there is none within `atMost` bytes */
  async until(mark: string, atMost: number): Promise<string> {
    let bytes = Buffer.alloc(0);
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one piece after another
      bytes = Buffer.concat([bytes, await this.some()]);
      const at = bytes.indexOf(mark);
      if (at !== -1) {
        this.#putBack(bytes.subarray(at + mark.length));
        return bytes.toString("latin1", 0, at);
      }
      if (bytes.length > atMost) throw this.malformed();
    }
  }

  /** Ends the connection. */
  close(): void {
    this.#socket.destroy();
  }

  malformed(): Error {
    this.close();
    return new Error("the response is not HTTP");
  }

  async #next(): Promise<Buffer | undefined> {
    while (this.#unread.length === 0) {
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isEnded) return undefined;
      // oxlint-disable-next-line no-await-in-loop -- until something comes
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    // What was received before an abort is nobody's any more.
    this.#signal?.throwIfAborted();
    const bytes = this.#unread.shift()!;
    this.#unreadBytes -= bytes.length;
    if (this.#unreadBytes <= MAX_UNREAD_BYTES) this.#socket.resume();
    return bytes;
  }

  #putBack(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#unread.unshift(bytes);
    this.#unreadBytes += bytes.length;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
    this.#wake?.();
  }
}

/** Whoever asked must not take it for a daemon that was not there, and ask again. */
const lost = (socketPath: string, cause?: unknown): AppError =>
  new AppError(
    "DAEMON_UNREACHABLE",
    `the connection to the daemon on ${socketPath} was lost: what was asked may have been done, so look before you repeat it`,
    { details: { delivery: "indeterminate" }, cause },
  );

function failureOf(socketPath: string, error: NodeJS.ErrnoException): AppError {
  const known = connectError(socketPath, error);
  if (known instanceof AppError) return known;
  if (error.syscall !== "connect") return lost(socketPath, error);
  const message = `cannot reach the daemon on ${socketPath} (${error.code ?? error.message})`;
  return new AppError("DAEMON_UNREACHABLE", message, { cause: error });
}

/** The part of `Response` that the client uses. */
class SocketResponse {
  readonly status: number;
  readonly #incoming: Incoming;
  readonly #fields: ReadonlyMap<string, string>;
  #body: ReadableStream<Uint8Array> | null | undefined;
  /** Of the body with a known length, and of a chunk. */
  #left = 0;
  #isLastChunk = false;

  static async read(incoming: Incoming): Promise<SocketResponse> {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- what comes before the response proper, if anything, is not looked at
      const head = await incoming.until("\r\n\r\n", MAX_HEAD_BYTES);
      const [first = "", ...lines] = head.split("\r\n");
      const status = Number(/^HTTP\/1\.1 (\d{3})(?: |$)/.exec(first)?.[1]);
      if (Number.isNaN(status)) throw incoming.malformed();
      if (status >= 200) return new SocketResponse(incoming, status, lines);
    }
  }

  private constructor(incoming: Incoming, status: number, lines: readonly string[]) {
    this.#incoming = incoming;
    this.status = status;
    const fields = new Map<string, string>();
    for (const line of lines) {
      const at = line.indexOf(":");
      if (at <= 0) throw incoming.malformed();
      const name = line.slice(0, at).toLowerCase();
      const [before, value] = [fields.get(name), line.slice(at + 1).trim()];
      fields.set(name, before === undefined ? value : `${before}, ${value}`);
    }
    this.#fields = fields;
    const length = fields.get("content-length");
    if (length !== undefined && !/^\d{1,15}$/.test(length)) throw incoming.malformed();
    this.#left = Number(length ?? 0);
    if (NO_BODY.has(status)) {
      this.#body = null;
      incoming.close();
    }
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** `Headers` itself takes long to load. */
  get headers(): Pick<Headers, "get"> {
    return { get: (name) => this.#fields.get(name.toLowerCase()) ?? null };
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (this.#body !== undefined) return this.#body;
    this.#body = new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const bytes = await this.#piece();
        if (bytes === undefined) controller.close();
        else controller.enqueue(bytes);
      },
      cancel: () => this.#incoming.close(),
    });
    return this.#body;
  }

  async text(): Promise<string> {
    if (this.#body === null) return "";
    const pieces: Buffer[] = [];
    // oxlint-disable-next-line no-await-in-loop -- one piece after another
    for (let piece; (piece = await this.#piece()) !== undefined;) pieces.push(piece);
    return Buffer.concat(pieces).toString("utf8");
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown;
  }

  /** Undefined at the body's end. @throws what ended the connection before that */
  async #piece(): Promise<Buffer | undefined> {
    const incoming = this.#incoming;
    if (this.#fields.get("transfer-encoding") === "chunked") {
      if (this.#left === 0) await this.#nextChunk();
      if (this.#isLastChunk) return undefined;
      const piece = await incoming.some(this.#left);
      this.#left -= piece.length;
      // A chunk ends with a line break.
      if (this.#left === 0 && (await incoming.until("\r\n", MAX_LENGTH_LINE_BYTES)) !== "") throw incoming.malformed();
      return piece;
    }
    // Without a length it ends with the connection.
    if (!this.#fields.has("content-length")) return incoming.rest();
    if (this.#left === 0) return undefined;
    const piece = await incoming.some(this.#left);
    this.#left -= piece.length;
    return piece;
  }

  async #nextChunk(): Promise<void> {
    if (this.#isLastChunk) return;
    const line = await this.#incoming.until("\r\n", MAX_LENGTH_LINE_BYTES);
    const length = /^([\da-f]{1,12})(?:[ \t]*;.*)?$/i.exec(line)?.[1];
    if (length === undefined) throw this.#incoming.malformed();
    this.#left = Number.parseInt(length, 16);
    this.#isLastChunk = this.#left === 0;
  }
}

/** An error that says what to do about an unreachable socket. */
export function connectError(socketPath: string, error: NodeJS.ErrnoException): Error {
  const { code } = error;
  if (code === "ENOENT" || code === "ECONNREFUSED") {
    const message = `no daemon listens on ${socketPath}: start one with \`tmuxwire serve\``;
    return new AppError("DAEMON_UNREACHABLE", message, { cause: error });
  }
  if (code === "EACCES" || code === "EPERM") {
    return new AppError("FORBIDDEN", `no permission to use ${socketPath}: run this as the daemon's user`, {
      cause: error,
    });
  }
  return error;
}
