/**
 * One session's output: the streams and input queues of those of its panes that somebody uses. It comes over a control
 * client of its own, or over the base connection while that is attached to the session. It is never reopened: whatever
 * ends it ends its streams, and the next one begins new epochs.
 */
import { continuePane } from "../../../protocol/command/build.ts";
import { AppError, toAppError } from "../../../protocol/errors.ts";
import type { Notification } from "../../../protocol/control/notifications.ts";
import { type PaneId, paneNumberOf, type SessionId } from "../../../protocol/ids.ts";
import { ConnectionChecker } from "../../connection/checkup.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { CaptureContext } from "../../panes/askPane.ts";
import type { Waiting } from "../../tmux/outputSource.ts";
import type { Clock } from "../../time/clock.ts";
import { clientCheckup, type StateCheckup } from "../clientCheck.ts";
import { ClientReports } from "../clientReports.ts";
import { guestBufferName } from "./guestBuffers.ts";
import { GuestStream } from "./guestStream.ts";
import { OutputWatch, type OutputWatchOptions } from "../outputWatch.ts";
import { PaneRegistry, type PaneRegistryOptions } from "../paneRegistry.ts";

/** An attached connection that delivers the session's output. */
export interface AttachChannel {
  readonly connection: ControlConnection;
  close(): void;
}

export interface AttachClientOptions
  extends
    Pick<PaneRegistryOptions, "retainBytes" | "onListenerError" | "onRevived">,
    Pick<OutputWatchOptions, "windows" | "panesOf" | "isThere" | "onMoved" | "mayBeUnread"> {
  readonly session: SessionId;
  readonly epoch: string;
  readonly clock: Clock;
  /** What clients of ours wait for now. */
  readonly waiting: () => Waiting | undefined;
  /** Attaches; gives up when the signal aborts. */
  readonly open: (client: AttachClient, signal: AbortSignal) => Promise<AttachChannel>;
  /** Another client of ours, which gets no output of the session's panes. */
  readonly otherReader: (client: AttachClient) => ControlConnection | undefined;
  /** A pane is no longer in use; it may be again. */
  readonly onIdle: () => void;
  /** Whether tmux waits for an event; false if that cannot be known. */
  readonly isServerIdle: () => boolean;
  /** Its session's output flows now. */
  readonly onAttached: () => void;
  /** Called once. `wasUsed`: somebody had a stream of it open; `wasReady`: it carried one at some time. */
  readonly onClosed: (client: AttachClient, ended: { readonly wasUsed: boolean; readonly wasReady: boolean }) => void;
}

export class AttachClient {
  readonly session: SessionId;
  readonly epoch: string;
  readonly #options: AttachClientOptions;
  /** A pane has a stream as long as somebody uses it. */
  readonly registry: PaneRegistry<GuestStream>;
  readonly outputs: OutputWatch;
  readonly reports: ClientReports;
  #checker: ConnectionChecker | undefined;
  /** What its panes print until it is attached is missing from their streams, and that is yet to be declared. */
  #isLate = false;
  readonly #abort = new AbortController();
  readonly #ready: Promise<void>;
  #channel: AttachChannel | undefined;
  #closed: AppError | undefined;
  #buffers = 0;

  constructor(options: AttachClientOptions) {
    this.session = options.session;
    this.epoch = options.epoch;
    this.#options = options;
    this.registry = new PaneRegistry({
      ...options,
      connection: () => this.connection(),
      bufferName: () => guestBufferName(this.epoch, (this.#buffers += 1)),
      makeStream: (stream) => {
        const { onIdle } = options;
        return new GuestStream({ ...stream, onIdle, waiting: () => (this.#isLate ? options.waiting() : undefined) });
      },
    });
    this.outputs = new OutputWatch({
      ...options,
      wakesWithReports: true,
      otherReader: () => options.otherReader(this),
      onHole: (panes) => {
        for (const pane of panes) this.declarePaused(pane);
      },
    });
    this.reports = new ClientReports({
      clock: options.clock,
      connection: () => this.connection(),
      places: options.windows,
      session: () => this.session,
      checkup: () => this.#checkup,
      onWritten: (written) => this.outputs.reported(written),
      onLate: () => this.#checker?.doubt(options.clock, this.#checkup, options.isServerIdle),
    });
    this.registry.beginEpoch(options.epoch, new AppError("INTERNAL_ERROR", "nothing was open"));
    this.#ready = this.#open();
    // Whoever awaits it gets the error; nobody else needs it.
    this.#ready.catch(() => undefined);
  }

  get panes(): readonly PaneId[] {
    return this.registry.streamed();
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** @throws AppError CONNECTION_LOST before it is attached and after it was lost. */
  connection(): ControlConnection {
    if (this.#channel !== undefined && this.#closed === undefined) return this.#channel.connection;
    throw this.#closed ?? new AppError("CONNECTION_LOST", "attaching to tmux; try again shortly");
  }

  /** While it is attached. */
  get attached(): ControlConnection | undefined {
    return this.#closed === undefined ? this.#channel?.connection : undefined;
  }

  carries(pane: PaneId): boolean {
    return this.#find(pane) !== undefined;
  }

  /** Begins the pane's stream, if nobody has. */
  source(pane: PaneId): GuestStream {
    const isNew = !this.carries(pane);
    const source = this.registry.stream(pane);
    if (isNew) this.#options.onIdle();
    return source;
  }

  #find(pane: PaneId): GuestStream | undefined {
    return this.registry.find(paneNumberOf(pane));
  }

  /** Does `work` once the session's output flows, and keeps it flowing meanwhile. @throws AppError CONNECTION_LOST */
  async use<T>(pane: PaneId, work: (panes: PaneRegistry) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const source = this.source(pane);
    const release = source.hold();
    try {
      await orAborted(this.#ready, signal);
      if (this.#find(pane) !== source) throw new AppError("CONNECTION_LOST", `pane ${pane} moved; try again`);
      return await work(this.registry);
    } finally {
      release();
    }
  }

  /**
   * As `use`, for work that only asks what the pane shows: while the client has to wait to attach, another connection is
   * asked. The stream is still empty then, so that its beginning is the place of the answer.
   */
  async look<T>(pane: PaneId, work: (context: CaptureContext) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const other = this.#isLate ? this.#options.otherReader(this) : undefined;
    if (other !== undefined) {
      const release = this.source(pane).hold();
      try {
        const seen = await work(this.registry.captureContext(pane, other));
        // Later replies of one connection have no place among the output of another.
        if (this.#isLate) return seen;
      } catch (error) {
        if (this.#isLate) throw error;
      } finally {
        release();
      }
    }
    return this.use(pane, (panes) => work(panes.captureContext(pane)), signal);
  }

  /** It has to wait before it attaches. */
  heldBack(): void {
    this.#isLate = true;
  }

  takeEscaped(paneNumber: number, line: Uint8Array, from: number, to: number): void {
    if (this.#isLate) this.#declareLate();
    this.outputs.received(paneNumber);
    if (this.registry.find(paneNumber) !== undefined) this.registry.takeEscaped(paneNumber, line, from, to);
    else this.registry.otherBytes += to - from;
  }

  announce(): void {
    this.#checker?.received();
    this.registry.announce();
  }

  noticed(notification: Notification): void {
    this.outputs.noticed(notification);
    this.reports.noticed(notification);
  }

  /** Checks its connection. */
  heartbeat(): void {
    if (this.attached !== undefined) this.#checker?.heartbeat(this.#options.clock.nowMs(), this.#checkup);
  }

  /** Checks its connection now. */
  async check(): Promise<void> {
    if (this.attached !== undefined) await this.#checker?.check(this.#options.clock, this.#checkup);
  }

  get #checkup(): StateCheckup {
    return clientCheckup(() => [this.session], true);
  }

  declarePaused(pane: PaneId): void {
    if (this.carries(pane)) this.registry.declareHole(pane, "paused");
  }

  /** Ends one pane's stream; returns whether somebody had it open. */
  closePane(pane: PaneId, error?: AppError): boolean {
    const isHeld = this.#find(pane)?.isHeld === true;
    this.registry.closePane(pane, error);
    return isHeld;
  }

  idleSinceMs(pane: PaneId): number | undefined {
    return this.#find(pane)?.idleSinceMs;
  }

  abandonPending(error: AppError): void {
    this.#channel?.connection.abandonPending(error);
  }

  /** Ends every stream and leaves the session. Safe to call twice. */
  close(error: AppError): void {
    if (this.#closed !== undefined) return;
    this.reports.end();
    this.outputs.end();
    this.#closed = error;
    const wasReady = this.#channel !== undefined;
    const wasUsed = this.panes.some((pane) => this.#find(pane)?.isHeld === true);
    this.registry.beginEpoch("", error);
    this.#abort.abort();
    this.#channel?.close();
    this.#options.onClosed(this, { wasUsed, wasReady });
  }

  #declareLate(): void {
    if (!this.#isLate) return;
    this.#isLate = false;
    for (const pane of this.panes) this.declarePaused(pane);
  }

  async #open(): Promise<void> {
    try {
      const channel = await this.#options.open(this, this.#abort.signal);
      if (this.#closed !== undefined) {
        channel.close();
        throw this.#closed;
      }
      this.#channel = channel;
      this.#declareLate();
      this.#checker = new ConnectionChecker(channel.connection);
      this.outputs.begin(channel.connection, this.session);
      this.reports.begin();
      this.#options.onAttached();
    } catch (error) {
      this.close(toAppError(error));
      throw this.#closed ?? error;
    }
  }
}

/** tmux dropped output (docs/tmuxFacts.md 13): declares a hole where somebody listens, and resumes the pane. */
export function resume(connection: ControlConnection, client: AttachClient, pane: PaneId): void {
  client.declarePaused(pane);
  connection.send(continuePane(pane), "none", () => undefined);
}

/** The promise, or the signal's reason if that comes first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
