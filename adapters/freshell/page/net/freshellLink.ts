/**
 * The page's one WebSocket: hello, frames, and reconnects. A request gets its result or fails with the connection; nothing
 * is sent twice.
 */
import { spreadBackOffMs } from "../../../../daemon/time/backOff.ts";
import type { Clock, Timer } from "../../../../daemon/time/clock.ts";
import { within } from "../../../../daemon/time/within.ts";
import { CLOSE_CODES, type ServerMessage } from "../../../../protocol/api/freshell/freshellWire.ts";
import { parseOutcome, type RpcOutcome } from "../../../../protocol/api/freshell/rpc.ts";
import { Refused } from "../../../pages/askServer.ts";
import { DEVICE_CAPABILITIES } from "../../devices/ownerMessages.ts";
import { failed } from "../device/deviceAsk.ts";

export type LinkState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  | { readonly kind: "lost"; readonly message: string; readonly retryAtMs: number }
  /** A login is needed. */
  | { readonly kind: "loggedOut" }
  /** Another connection is this device now. */
  | { readonly kind: "superseded" }
  | { readonly kind: "closed" };

/** Of a WebSocket. */
interface LinkSocket {
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { readonly code: number }) => void): void;
  send(text: string): void;
  close(code?: number): void;
}

export type ReadyMessage = Extract<ServerMessage, { type: "ready" }>;

interface FreshellLinkOptions {
  readonly open: () => LinkSocket;
  /** A valid token. @throws Refused */
  readonly token: () => Promise<string>;
  readonly doubt: (token: string) => void;
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
  #tries = 0;
  #wasDoubted = false;

  constructor(options: FreshellLinkOptions) {
    this.#options = options;
  }

  /** Call once. */
  start(): void {
    void this.#connect();
  }

  get isLive(): boolean {
    return this.#isReady;
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
    return within(clock, RPC_WITHIN_MS, failed("the server does not respond"), (done) => {
      this.#asked.set(requestId, done);
      if (!this.send({ ...frame, type: "layout.rpc.request", requestId })) done(failed("the server is not connected"));
      return () => this.#asked.delete(requestId);
    });
  }

  /** Ends a pause between two tries. */
  retryNow(): void {
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
    const { open, token: tokenOf, onState } = this.#options;
    this.#retry = undefined;
    onState({ kind: "connecting" });
    let token: string;
    try {
      token = await tokenOf();
    } catch (error) {
      if (this.#isClosed) return;
      if (error instanceof Refused && error.status === 401) onState({ kind: "loggedOut" });
      else this.#lost(error instanceof Error ? error.message : "the server cannot be reached");
      return;
    }
    if (this.#isClosed || this.#socket !== undefined) return;
    const socket = open();
    this.#socket = socket;
    const { clock } = this.#options;
    this.#late = clock.callAt(clock.nowMs() + READY_WITHIN_MS, () => this.#ended(socket, 0, token));
    const { device } = this.#options;
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify({ type: "hello", token, capabilities: DEVICE_CAPABILITIES, device }));
    });
    socket.addEventListener("message", ({ data }) => this.#received(socket, data));
    socket.addEventListener("close", ({ code }) => this.#ended(socket, code, token));
  }

  #received(socket: LinkSocket, data: unknown): void {
    if (socket !== this.#socket || typeof data !== "string") return;
    const message = JSON.parse(data) as ServerMessage;
    if (message.type === "ready") {
      this.#late?.cancel();
      this.#isReady = true;
      this.#tries = 0;
      this.#wasDoubted = false;
      this.#options.onState({ kind: "live" });
      this.#options.onReady(message);
    } else if (message.type === "layout.rpc.result") {
      this.#asked.get(message.requestId)?.(parseOutcome(message) ?? failed("the server's response is invalid"));
    } else this.#options.onMessage(message);
  }

  #ended(socket: LinkSocket, code: number, token: string): void {
    if (socket !== this.#socket) return;
    this.#drop();
    const { onState, doubt } = this.#options;
    if (code === CLOSE_CODES.DEVICE_SUPERSEDED) {
      this.#isClosed = true;
      onState({ kind: "superseded" });
    } else if (code === CLOSE_CODES.NOT_AUTHENTICATED) {
      doubt(token);
      // A restarted server may not know it: retry once with a renewed one.
      if (this.#wasDoubted) onState({ kind: "loggedOut" });
      else {
        this.#wasDoubted = true;
        void this.#connect();
      }
    } else if (code === CLOSE_CODES.PROTOCOL_MISMATCH) {
      this.#isClosed = true;
      onState({
        kind: "lost",
        message: "this page is of another version than the server: reload it",
        retryAtMs: Infinity,
      });
    } else this.#lost("the connection to the server was lost");
  }

  #lost(message: string): void {
    const { clock, random, onState } = this.#options;
    const retryAtMs = clock.nowMs() + spreadBackOffMs(this.#tries, RETRY, random());
    this.#tries += 1;
    this.#retry = clock.callAt(retryAtMs, () => void this.#connect());
    onState({ kind: "lost", message, retryAtMs });
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isReady = false;
    this.#late?.cancel();
    socket?.close(1000);
    for (const settle of this.#asked.values()) settle(failed("the connection to the server was lost"));
  }
}
