/**
 * A control client without a process: the daemon itself sends the messages with which tmux's own client identifies itself
 * (client.c `client_send_identify`), in another order. Up to 3.6, a server crashes with everything in it if it notifies all
 * control clients while one has announced that it is a control client but has not finished identifying itself
 * (docs/tmuxFacts.md 50). tmux's own client announces that first, and each of the two descriptors that follow takes the
 * server a turn of its loop. Here the announcement comes last, in one write with the end of the identification: the server
 * handles both in one turn, so that state never exists, whatever happens to us and to the server. Nothing of ours outlives
 * the daemon, because the kernel closes its sockets.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, Socket } from "node:net";
import { endianness, tmpdir } from "node:os";
import { join } from "node:path";
import { getSystemErrorName } from "node:util";
import { MAX_SOCKET_PATH_BYTES } from "../../../protocol/limits.ts";
import type { Transport, TransportOptions } from "./transport.ts";

interface DirectOptions extends Pick<TransportOptions, "env" | "cwd" | "onData" | "onClose"> {
  readonly socketPath: string;
  /** The first command, such as `attach-session`. */
  readonly command: readonly string[];
  /** How the server's messages mark a descriptor: `new` from 3.6 on (compat/imsg.h). */
  readonly messages: "old" | "new";
}

export type OpenDirect = (options: DirectOptions) => Transport;

/** tmux-protocol.h and tmux.h, the same in every release from 3.2 to 3.6. */
const PROTOCOL_VERSION = 8;
const MSG = {
  version: 12,
  term: 101,
  ttyName: 102,
  stdin: 104,
  environ: 105,
  done: 106,
  clientPid: 107,
  cwd: 108,
  features: 109,
  stdout: 110,
  longFlags: 111,
  command: 200,
  detach: 201,
  detachKill: 202,
  exit: 203,
  exited: 204,
  shutdown: 210,
} as const;
const CLIENT_CONTROL = 0x2000n;
const CLIENT_UTF8 = 0x1_0000n;
/** imsg.h: type, length, (old) flags, protocol version, sender. */
const HEADER_BYTES = 16;
const MAX_MESSAGE_BYTES = 16_384;
const OLD_HAS_DESCRIPTOR = 1;
const NEW_HAS_DESCRIPTOR = 0x8000_0000;
/** After one of these, the server only expects the client to disconnect. */
const ENDINGS: ReadonlySet<number> = new Set([
  MSG.version,
  MSG.detach,
  MSG.detachKill,
  MSG.exit,
  MSG.exited,
  MSG.shutdown,
]);

/** A socket's members that its typings lack. */
interface SocketInternals {
  readonly _handle: object;
}

interface PipeHandle {
  connect(request: object, path: string): number;
  writeLatin1String(request: object, text: string, descriptor?: object): number;
  close(): void;
}

/** Node's own `child_process` passes descriptors with these; there is no public interface. */
interface Bindings {
  readonly Pipe: { new (type: number): PipeHandle; readonly prototype: object };
  readonly constants: { readonly IPC: number };
  readonly PipeConnectWrap: new () => { oncomplete?: (status: number) => void };
  readonly WriteWrap: new () => { oncomplete?: (status: number) => void; async?: boolean; handle?: object };
}

function bindings(): Bindings | undefined {
  const { binding } = process as { readonly binding?: (name: string) => Partial<Bindings> };
  try {
    const found = {
      ...binding?.call(process, "pipe_wrap"),
      WriteWrap: binding?.call(process, "stream_wrap").WriteWrap,
    };
    const { Pipe, constants, PipeConnectWrap, WriteWrap } = found;
    const isWhole = [Pipe, PipeConnectWrap, WriteWrap].every((part) => typeof part === "function");
    const canWrite = Pipe !== undefined && "writeLatin1String" in Pipe.prototype && "connect" in Pipe.prototype;
    return isWhole && canWrite && typeof constants?.IPC === "number" ? (found as Bindings) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined if this Node cannot pass a descriptor to tmux. */
export function directClients(): OpenDirect | undefined {
  // On other systems the message format may be the system's own (libutil).
  const isKnown = endianness() === "LE" && (process.platform === "linux" || process.platform === "darwin");
  const found = isKnown ? bindings() : undefined;
  return found === undefined ? undefined : (options) => new DirectClient(found, options);
}

class DirectClient implements Transport {
  /** Shown as `#{client_pid}`. */
  readonly pid = process.pid;
  readonly #bindings: Bindings;
  readonly #options: DirectOptions;
  /** Our end of the socket that tmux reads commands from and writes to. */
  #near: Socket | undefined;
  /** The connection to tmux's socket, for identification and for the end. */
  #peer: Socket | undefined;
  /** The line that tmux's own client would print at the end. */
  #lastLine = "%exit server exited unexpectedly\n";
  #unread: Buffer = NOTHING;
  #isClosing = false;
  #hasEnded = false;

  constructor(found: Bindings, options: DirectOptions) {
    this.#bindings = found;
    this.#options = options;
    this.#begin().catch((error: unknown) => {
      this.#lastLine = complaint(options.socketPath, error);
      this.#end();
    });
  }

  write(text: string): void {
    this.#near?.write(text, "latin1");
  }

  close(): void {
    this.#isClosing = true;
    this.#peer?.destroy();
    this.#near?.destroy();
    if (this.#near === undefined) setImmediate(() => this.#end());
  }

  async #begin(): Promise<void> {
    const { command, cwd, env } = this.#options;
    const [near, far] = await socketPair();
    // A closed socket is reported by `close`.
    near.on("error", () => undefined);
    near.on("data", (chunk: Uint8Array) => this.#options.onData(chunk));
    near.on("close", () => this.#end());
    this.#near = near;
    try {
      const pipe = await this.#connect();
      const peer = new Socket({ handle: pipe as unknown as number } as never);
      peer.on("error", () => undefined);
      peer.on("data", (chunk: Buffer) => this.#received(chunk));
      this.#peer = peer;
      if (this.#isClosing) throw new Error("closed");
      const { _handle: descriptor } = far as unknown as SocketInternals;
      const variables = Object.entries(env).map(([name, value]) =>
        this.#message(MSG.environ, text(`${name}=${value}`)),
      );
      const identity = [
        this.#message(MSG.term, text("dumb")),
        this.#message(MSG.features, int32(0)),
        // A name in place of a terminal's, or all clients of one process would have the same name (server-client.c).
        this.#message(MSG.ttyName, text(`tmuxwire-${process.pid}-${randomBytes(4).toString("hex")}`)),
        this.#message(MSG.cwd, text(cwd)),
        this.#message(MSG.clientPid, int32(process.pid)),
        ...variables.filter((message) => message.length <= MAX_MESSAGE_BYTES),
        this.#message(MSG.stdin, NOTHING, true),
      ];
      const first = this.#message(MSG.command, Buffer.concat([int32(command.length), ...command.map(text)]));
      if (first.length > MAX_MESSAGE_BYTES) throw new Error("command too long");
      await this.#say(pipe, Buffer.concat(identity), descriptor);
      // The last two must be sent together: see above. The descriptor before them takes no turn of its own.
      const isControl = int64(CLIENT_CONTROL | CLIENT_UTF8);
      const last = [
        this.#message(MSG.stdout, NOTHING, true),
        this.#message(MSG.longFlags, isControl),
        this.#message(MSG.done, NOTHING),
      ];
      await this.#say(pipe, Buffer.concat(last), descriptor);
      await this.#say(pipe, first);
    } finally {
      far.destroy();
    }
  }

  #connect(): Promise<PipeHandle> {
    const { Pipe, PipeConnectWrap, constants } = this.#bindings;
    const pipe = new Pipe(constants.IPC);
    return new Promise((resolve, reject) => {
      const request = new PipeConnectWrap();
      const done = (status: number): void => {
        if (status >= 0) {
          resolve(pipe);
          return;
        }
        pipe.close();
        reject(systemError(status));
      };
      request.oncomplete = done;
      const status = pipe.connect(request, this.#options.socketPath);
      if (typeof status === "number" && status < 0) done(status);
    });
  }

  #say(pipe: PipeHandle, message: Buffer, descriptor?: object): Promise<void> {
    return new Promise((resolve, reject) => {
      const request = new this.#bindings.WriteWrap();
      const done = (status: number): void => {
        if (status >= 0) resolve();
        else reject(systemError(status));
      };
      request.oncomplete = done;
      const status = pipe.writeLatin1String(request, message.toString("latin1"), descriptor);
      if (status < 0 || request.async !== true) done(status);
    });
  }

  #message(type: number, data: Buffer, hasDescriptor = false): Buffer {
    const header = Buffer.alloc(HEADER_BYTES);
    const length = HEADER_BYTES + data.length;
    header.writeUInt32LE(type, 0);
    if (this.#options.messages === "old") {
      header.writeUInt16LE(Math.min(length, 0xffff), 4);
      header.writeUInt16LE(hasDescriptor ? OLD_HAS_DESCRIPTOR : 0, 6);
    } else header.writeUInt32LE((hasDescriptor ? length + NEW_HAS_DESCRIPTOR : length) >>> 0, 4);
    header.writeUInt32LE(PROTOCOL_VERSION, 8);
    header.writeUInt32LE(process.pid, 12);
    return Buffer.concat([header, data]);
  }

  /** tmux is done with us: it has written everything, and closes both sockets once we close this one. */
  #received(chunk: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, chunk]);
    while (this.#unread.length >= HEADER_BYTES) {
      const length = Math.max(HEADER_BYTES, this.#unread.readUInt16LE(4));
      if (this.#unread.length < length) return;
      const [type, data] = [this.#unread.readUInt32LE(0), this.#unread.subarray(HEADER_BYTES, length)];
      this.#unread = this.#unread.subarray(length);
      if (!ENDINGS.has(type)) continue;
      const reason =
        type === MSG.exit
          ? data
              .subarray(4)
              .toString("latin1")
              .replaceAll(/[^ -~]/g, "")
          : "";
      this.#lastLine = `${`%exit ${reason}`.trim()}\n`;
      this.#peer?.destroy();
    }
  }

  #end(): void {
    this.#peer?.destroy();
    this.#near?.destroy();
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (!this.#isClosing) this.#options.onData(Buffer.from(this.#lastLine, "latin1"));
    this.#options.onClose();
  }
}

const NOTHING = Buffer.alloc(0);
const text = (value: string): Buffer => Buffer.from(`${value}\0`);

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

type SocketPair = readonly [near: Socket, far: Socket];

/** `TMPDIR` may be gone by now, as a shell of nix removes its own, or be too long for a socket: Node cuts its path off. */
const socketPair = (): Promise<SocketPair> => socketPairIn(tmpdir()).catch(() => socketPairIn("/tmp"));

/** A pair of connected sockets. No other user's process can interfere, because only we can enter the directory. */
async function socketPairIn(place: string): Promise<SocketPair> {
  const directory = mkdtempSync(join(place, "tmuxwire-client-"));
  const path = join(directory, "s");
  return new Promise((resolve, reject) => {
    const end = (): void => {
      listener.close();
      rmSync(directory, { recursive: true, force: true });
    };
    const fail = (error: Error): void => {
      end();
      reject(error);
    };
    const listener = createServer({ pauseOnConnect: true }, (far) => {
      end();
      far.on("error", () => undefined);
      near.off("error", fail);
      resolve([near, far]);
    });
    const near = new Socket();
    near.once("error", fail);
    listener.once("error", fail);
    if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) fail(new Error("its path is too long"));
    else listener.listen(path, () => near.connect(path));
  });
}

const systemError = (status: number): NodeJS.ErrnoException => {
  const code = getSystemErrorName(status);
  return Object.assign(new Error(code), { code });
};

/** The error as tmux's own client prints it. */
function complaint(socketPath: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ECONNREFUSED") return `no server running on ${socketPath}\n`;
  return `error connecting to ${socketPath} (${code ?? message})\n`;
}
