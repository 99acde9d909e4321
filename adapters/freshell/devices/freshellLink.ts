/**
 * A device's one WebSocket to the server, from a command line or a page: hello, frames, and reconnects. A request gets its
 * result or fails with the connection; nothing is sent twice.
 */
import { spreadBackOffMs } from "../../../daemon/time/backOff.ts";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import { CLOSE_CODES, type ServerMessage } from "../../../protocol/api/freshell/freshellWire.ts";
import { parseOutcome, type RpcOutcome } from "../../../protocol/api/freshell/rpc.ts";
import { DEVICE_CAPABILITIES, failed } from "./ownerMessages.ts";

export type LinkState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  | { readonly kind: "lost"; readonly message: string; readonly retryAtMs: number; readonly error?: unknown }
  /** A login is needed; `error` says why there is no token, if there is none. */
  | { readonly kind: "loggedOut"; readonly error?: unknown }
  /** Another connection is this device now. */
  | { readonly kind: "superseded" }
  | { readonly kind: "closed" };

/** Of a WebSocket. */
interface LinkSocket {
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number }) => void): void;
  /** Node's say why; a browser does not. */
  addEventListener(
    type: "error",
    listener: (event: { readonly message?: string; readonly type: string }) => void,
  ): void;
  send(text: string): void;
  close(code?: number): void;
}

export type ReadyMessage = Extract<ServerMessage, { type: "ready" }>;

interface FreshellLinkOptions {
  readonly open: () => LinkSocket;
  /** A valid token, other than one that was refused. */
  readonly token: (refused: string | undefined) => Promise<string>;
  /** Whether a failure of `token` means that a login is needed. */
  readonly isLoggedOut: (error: unknown) => boolean;
  readonly device: object;
  readonly clock: Clock;
  /** Spreads the tries of many pages; between 0 and 1. */
  readonly random: () => number;
  readonly newId: () => string;
  readonly onState: (state: LinkState) => void;
  readonly onReady: (ready: ReadyMessage) => void;
  readonly onMessage: (message: ServerMessage) => void;
}

const READY_WITHIN_MS = 10_000;
/** A connection can end without a word: after so much silence the server is asked whether it is there. */
const QUIET_MS = 15_000;
const HEARD_WITHIN_MS = 10_000;
/** Longer than the server waits for an owner's acknowledgement and result. */
const RPC_WITHIN_MS = 25_000;
const RETRY = { minMs: 250, maxMs: 5_000 };

export class FreshellLink {
  readonly #options: FreshellLinkOptions;
  readonly #asked = new Map<string, (outcome: RpcOutcome) => void>();
  #socket: LinkSocket | undefined;
  #isReady = false;
  #isClosed = false;
  #retry: Timer | undefined;
  #late: Timer | undefined;
  #quiet: Timer | undefined;
  #heardMs = 0;
  /** Whether it is there. */
  #isAsked = false;
  #tries = 0;
  #refused: string | undefined;

  constructor(options: FreshellLinkOptions) {
    this.#options = options;
  }

  /** Call once. */
  start(): void {
    void this.#connect();
  }

  /** False: there is no connection, and nothing was sent. */
  send(message: object): boolean {
    if (!this.#isReady) return false;
    this.#socket?.send(JSON.stringify(message));
    return true;
  }

  /** Never rejects. */
  request(frame: Readonly<Record<string, unknown>>): Promise<RpcOutcome> {
    const { newId, clock } = this.#options;
    const requestId = newId();
    return within(clock, RPC_WITHIN_MS, failed("the server did not respond"), (done) => {
      this.#asked.set(requestId, done);
      if (!this.send({ ...frame, type: "layout.rpc.request", requestId })) done(failed("not connected to the server"));
      return () => this.#asked.delete(requestId);
    });
  }

  /** Ends a pause between two tries; finds out now whether a connection still is one. */
  retryNow(): void {
    this.#ask();
    if (this.#socket !== undefined || this.#isClosed) return;
    this.#retry?.cancel();
    void this.#connect();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#retry?.cancel();
    this.#drop();
    this.#options.onState({ kind: "closed" });
  }

  async #connect(): Promise<void> {
    const { open, token: tokenOf, isLoggedOut, onState, clock, device } = this.#options;
    this.#retry = undefined;
    onState({ kind: "connecting" });
    let token: string;
    try {
      token = await tokenOf(this.#refused);
    } catch (error) {
      if (this.#isClosed) return;
      if (isLoggedOut(error)) onState({ kind: "loggedOut", error });
      else this.#lost(error instanceof Error ? error.message : "the server cannot be reached", error);
      return;
    }
    if (this.#isClosed || this.#socket !== undefined) return;
    const socket = open();
    this.#socket = socket;
    let why: string | undefined;
    this.#late = clock.callAt(clock.nowMs() + READY_WITHIN_MS, () =>
      this.#ended(socket, 0, token, `the server was not ready after ${READY_WITHIN_MS / 1_000} s`),
    );
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify({ type: "hello", token, capabilities: DEVICE_CAPABILITIES, device }));
    });
    socket.addEventListener("message", ({ data }) => this.#received(socket, data));
    socket.addEventListener("error", ({ message }) => (why = message));
    socket.addEventListener("close", ({ code }) => this.#ended(socket, code, token, why));
  }

  #received(socket: LinkSocket, data: unknown): void {
    if (socket !== this.#socket || typeof data !== "string") return;
    const message = JSON.parse(data) as ServerMessage;
    this.#heardMs = this.#options.clock.nowMs();
    if (this.#isAsked) this.#listen();
    if (message.type === "ready") {
      this.#late?.cancel();
      this.#isReady = true;
      this.#listen();
      this.#tries = 0;
      this.#refused = undefined;
      this.#options.onState({ kind: "live" });
      this.#options.onReady(message);
    } else if (message.type === "layout.rpc.result") {
      this.#asked.get(message.requestId)?.(parseOutcome(message) ?? failed("the server's response is invalid"));
    } else if (message.type !== "pong") this.#options.onMessage(message);
  }

  #listen(): void {
    const { clock } = this.#options;
    this.#isAsked = false;
    this.#quiet?.cancel();
    this.#quiet = clock.callAt(this.#heardMs + QUIET_MS, () => {
      if (clock.nowMs() - this.#heardMs < QUIET_MS) this.#listen();
      else this.#ask();
    });
  }

  #ask(): void {
    const { clock } = this.#options;
    const socket = this.#socket;
    if (socket === undefined || this.#isAsked || !this.send({ type: "ping" })) return;
    this.#isAsked = true;
    this.#quiet?.cancel();
    this.#quiet = clock.callAt(clock.nowMs() + HEARD_WITHIN_MS, () =>
      this.#ended(socket, 0, "", "the server does not respond"),
    );
  }

  #ended(socket: LinkSocket, code: number, token: string, why = "the connection to the server was lost"): void {
    if (socket !== this.#socket) return;
    this.#drop();
    const { onState } = this.#options;
    if (code === CLOSE_CODES.DEVICE_SUPERSEDED) {
      this.#isClosed = true;
      onState({ kind: "superseded" });
    } else if (code === CLOSE_CODES.NOT_AUTHENTICATED) {
      // A restarted server may not know it: retry once with a renewed one.
      const isSecond = this.#refused !== undefined;
      this.#refused = token;
      if (isSecond) onState({ kind: "loggedOut" });
      else void this.#connect();
    } else if (code === CLOSE_CODES.PROTOCOL_MISMATCH) {
      this.#isClosed = true;
      onState({
        kind: "lost",
        message: "this is another version than the server's: reload the page, or update the program",
        retryAtMs: Infinity,
      });
    } else this.#lost(why);
  }

  #lost(message: string, error?: unknown): void {
    const { clock, random, onState } = this.#options;
    const retryAtMs = clock.nowMs() + spreadBackOffMs(this.#tries, RETRY, random());
    this.#tries += 1;
    this.#retry = clock.callAt(retryAtMs, () => void this.#connect());
    onState({ kind: "lost", message, retryAtMs, error });
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isReady = false;
    this.#isAsked = false;
    this.#late?.cancel();
    this.#quiet?.cancel();
    socket?.close(1000);
    for (const settle of this.#asked.values()) settle(failed("the connection to the server was lost"));
  }
}
