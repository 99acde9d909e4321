/**
 * The link to a host: connected when first needed, and again by itself when the connection is lost or the host cannot be
 * reached. What a retry cannot mend (a login that is refused, an unknown host key, no tmuxwire there) is a state that stays
 * until `retry`: each attempt might lock the account.
 */
import { Listeners } from "../../daemon/servers/listeners.ts";
import { spreadBackOffMs } from "../../daemon/time/backOff.ts";
import type { Timer } from "../../daemon/time/clock.ts";
import { sleep, untilAborted } from "../../daemon/time/within.ts";
import { AppError, toAppError } from "../../protocol/errors.ts";
import type { HostConnection, LinkedHost, SshConnectionOptions } from "./sshConnection.ts";
import { type HostFailure, stays } from "./sshFailure.ts";
import { endLogin } from "./sshMaster.ts";

/** Between attempts; a caller's is not made sooner after a failure than the first of them. */
const BACK_OFF = { minMs: 1_000, maxMs: 8_000 };
/** A connection that was lost sooner counts as a failed attempt. */
const STABLE_MS = 30_000;

export interface HostLinkState {
  readonly kind: "idle" | "connecting" | "connected" | HostFailure;
  readonly sinceUnixMs: number;
  /** Of a failure: what to do about it. Names what the host printed, which is foreign text. */
  readonly message?: string | undefined;
  /** Of a connected host: its daemon's version (null without a daemon), and its tmux's (null if unknown). Foreign text. */
  readonly found?: { readonly version: string | null; readonly tmux: string | null } | undefined;
}

export interface HostLinkOptions<Connection extends LinkedHost = HostConnection> extends SshConnectionOptions {
  readonly nowUnixMs: () => number;
  /** Gets the errors of subscribers. */
  readonly onError: (error: unknown) => void;
  /** From 0 to 1; default: random. */
  readonly random?: (() => number) | undefined;
  /** Makes a connection. `onLost` is called once if it ends by itself later. @throws AppError with `details.state` */
  readonly open: (
    options: SshConnectionOptions,
    onLost: (error: AppError) => void,
    signal: AbortSignal,
  ) => Promise<Connection>;
}

export class HostLink<Connection extends LinkedHost = HostConnection> {
  readonly name: string;
  readonly #options: HostLinkOptions<Connection>;
  readonly #listeners: Listeners<HostLinkState>;
  readonly #closing = new AbortController();
  #state: HostLinkState;
  #connection: Connection | undefined;
  #connectedMs = 0;
  #attempt: Promise<Connection> | undefined;
  #failure: AppError | undefined;
  #failedMs = -Infinity;
  /** Since the last connection that was stable. */
  #failures = 0;
  #timer: Timer | undefined;
  /** The end of a connection that was lost: the next one uses the same directory. */
  #ending: Promise<void> = Promise.resolve();

  constructor(options: HostLinkOptions<Connection>) {
    this.name = options.name;
    this.#options = options;
    this.#listeners = new Listeners(options.onError);
    this.#state = { kind: "idle", sinceUnixMs: options.nowUnixMs() };
  }

  get state(): HostLinkState {
    return this.#state;
  }

  /** Called with every new state. Returns the unsubscribe function. */
  subscribe(listener: (state: HostLinkState) => void): () => void {
    return this.#listeners.subscribe(listener);
  }

  /** Undefined unless connected. */
  get current(): Connection | undefined {
    return this.#connection;
  }

  /**
   * Connects if necessary; an attempt under way is shared.
   * @throws AppError DAEMON_UNREACHABLE with `details.state`, INVALID_ARGUMENT, CONFIGURATION_INVALID; the signal's reason
   */
  connection(signal?: AbortSignal): Promise<Connection> {
    const { signal: closing } = this.#closing;
    const either = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    return untilAborted<Connection>(either, (resolve, reject) => {
      if (this.#connection !== undefined) resolve(this.#connection);
      else if (this.#failure !== undefined && stays(this.#failure) && this.#attempt === undefined)
        reject(this.#failure);
      else this.#connect().then(resolve, reject);
      return () => undefined;
    });
  }

  /** One round trip to the host, in ms; one that does not respond is connected to anew. @throws as `connection` */
  async check(signal?: AbortSignal): Promise<number> {
    const connection = await this.connection(signal);
    const { clock } = this.#options;
    const startedMs = clock.nowMs();
    try {
      await connection.ask(signal);
    } catch (error) {
      signal?.throwIfAborted();
      this.#lost(connection, toAppError(error));
      throw error;
    }
    return clock.nowMs() - startedMs;
  }

  /** Tries again, also in a state that stays: the user has done something about it. */
  retry(): void {
    if (this.#connection !== undefined || this.#closing.signal.aborted) return;
    this.#failedMs = -Infinity;
    this.#reconnect();
  }

  /** Ends ssh and removes its files. Safe to call twice. */
  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) this.#closing.abort(closed(this.name));
    this.#timer?.cancel();
    await this.#attempt?.catch(() => undefined);
    const connection = this.#connection;
    this.#connection = undefined;
    await Promise.all([this.#ending, connection?.close()]);
    if (this.#state.kind !== "idle") this.#enter({ kind: "idle" });
  }

  /** The same, and a person's login is ended, too: the host is not used any more. */
  async forget(): Promise<void> {
    await this.close();
    await endLogin(this.#options);
  }

  #connect(): Promise<Connection> {
    this.#timer?.cancel();
    return (this.#attempt ??= this.#open().finally(() => {
      this.#attempt = undefined;
    }));
  }

  /** What comes of it is in the state. */
  #reconnect(): void {
    this.#connect().catch(() => undefined);
  }

  async #open(): Promise<Connection> {
    const { clock, open } = this.#options;
    const { signal } = this.#closing;
    await sleep(clock, this.#failedMs + BACK_OFF.minMs - clock.nowMs(), signal);
    await this.#ending;
    this.#enter({ kind: "connecting" });
    try {
      const opened: Connection = await open(this.#options, (error) => this.#lost(opened, error), signal);
      this.#connection = opened;
      this.#connectedMs = clock.nowMs();
      this.#failure = undefined;
      const { version, tmux } = opened.host;
      this.#enter({ kind: "connected", found: { version, tmux } });
      return opened;
    } catch (error) {
      this.#failed(toAppError(error));
      throw error;
    }
  }

  #lost(connection: Connection, error: AppError): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    if (this.#options.clock.nowMs() - this.#connectedMs >= STABLE_MS) this.#failures = 0;
    this.#ending = connection.close().catch(this.#options.onError);
    this.#failed(error);
  }

  #failed(error: AppError): void {
    const { clock, random = Math.random } = this.#options;
    if (this.#closing.signal.aborted) return;
    this.#failure = error;
    this.#failedMs = clock.nowMs();
    this.#enter({ kind: stateOf(error), message: error.message });
    if (stays(error)) return;
    const delayMs = Math.max(BACK_OFF.minMs, spreadBackOffMs(this.#failures, BACK_OFF, random()));
    this.#failures += 1;
    this.#timer = clock.callAt(this.#failedMs + delayMs, () => this.#reconnect());
  }

  #enter(state: Omit<HostLinkState, "sinceUnixMs">): void {
    this.#state = { ...state, sinceUnixMs: this.#options.nowUnixMs() };
    this.#listeners.emit(this.#state);
  }
}

const closed = (host: string): AppError =>
  new AppError("DAEMON_UNREACHABLE", `the link to ${host} is closed`, { details: { host } });

/** An error without a state is about our own settings, or a bug: no retry mends it. */
const stateOf = ({ details }: AppError): HostFailure => (details?.["state"] ?? "unreachable") as HostFailure;
