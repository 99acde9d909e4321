/**
 * Panes that are observed and that nobody follows: no client of ours is on their session. tmux compares once a second when
 * each window was last written to (`refresh-client -B`, docs/tmuxFacts.md 56) and tells the base connection; to whoever
 * observes such a pane that is a hole. The time is in whole seconds: what was written later in the same one is told by
 * another hole, once that second is over and no other has followed. Captures are asked over a connection that is there.
 */
import { toAppError, type AppError } from "../../../protocol/errors.ts";
import { type PaneId, paneNumberOf, type WindowId } from "../../../protocol/ids.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import { createNonce } from "../../connection/framing.ts";
import type { CaptureContext } from "../../panes/askPane.ts";
import type { Clock, Timer } from "../../time/clock.ts";
import type { ExitStatus, OutputSource } from "../../tmux/outputSource.ts";
import { writtenIn } from "../clientReports.ts";
import { PaneRegistry } from "../paneRegistry.ts";
import { SilentChanges } from "../inventory/silentChanges.ts";
import { GuestStream } from "./guestStream.ts";

/** The name of what tmux compares: ids and numbers only, so that its value can be read. */
export const WRITTEN = "tmuxwire-written";
const WRITTEN_FORMAT = "#{S:#{W:#{window_id} #{window_activity} }}";
/** The second in which a window was written to is over then. */
const SECOND_OVER_MS = 1_050;
/** Nothing but holes. */
const RETAIN_BYTES = 64;

interface UnfollowedPanesOptions {
  readonly clock: Clock;
  /** The one that is told. @throws AppError CONNECTION_LOST */
  readonly base: () => ControlConnection;
  /** Any that can be asked. @throws AppError CONNECTION_LOST */
  readonly connection: () => ControlConnection;
  /** Of the session that it is on. */
  readonly baseWindows: () => readonly WindowId[];
  readonly panesOf: (window: WindowId) => readonly PaneId[];
  readonly onListenerError: (error: unknown) => void;
}

export class UnfollowedPanes {
  readonly #options: UnfollowedPanesOptions;
  readonly #registry: PaneRegistry<GuestStream>;
  /** The panes that are observed; one that is only captured has a stream meanwhile. */
  readonly #observed = new Set<PaneId>();
  readonly #changes: SilentChanges;
  /** When each window was last written to, as tmux writes it. */
  #written = new Map<WindowId, string>();
  /** Windows of the last reports, and when those came: more may have been written in the same second. */
  readonly #unsure = new Map<WindowId, number>();
  #timer: Timer | undefined;

  constructor(options: UnfollowedPanesOptions) {
    this.#options = options;
    this.#registry = new PaneRegistry({
      retainBytes: RETAIN_BYTES,
      clock: options.clock,
      connection: options.connection,
      bufferName: () => "",
      onListenerError: options.onListenerError,
      onRevived: () => undefined,
      makeStream: (stream) => new GuestStream({ ...stream, onIdle: (idle) => this.#idle(idle) }),
    });
    this.#registry.beginEpoch(newEpoch(), toAppError("nothing was open"));
    this.#changes = new SilentChanges(options.base, {
      format: () => WRITTEN_FORMAT,
      name: WRITTEN,
      places: options.baseWindows,
    });
  }

  source(pane: PaneId): OutputSource {
    this.#observed.add(pane);
    this.#beTold();
    return this.#registry.stream(pane);
  }

  /** @throws AppError CONNECTION_LOST */
  async look<T>(pane: PaneId, work: (context: CaptureContext) => Promise<T>): Promise<T> {
    try {
      return await work(this.#registry.captureContext(pane));
    } finally {
      if (!this.#observed.has(pane)) this.#registry.closePane(pane);
    }
  }

  /** Another base connection: it knows of nothing yet, and nobody told of what was written until now. */
  attached(connection: ControlConnection): void {
    this.#changes.attached(connection);
    this.#writtenTo(this.#observed);
  }

  /** The base's session, or its windows, may have changed. */
  baseMoved(): void {
    this.#changes.look();
  }

  /** @param value what `WRITTEN_FORMAT` is now */
  written(value: string): void {
    const nowMs = this.#options.clock.nowMs();
    const now = new Map(writtenIn(value.trim().split(" ")));
    const changed = [...now].filter(([window, second]) => this.#written.get(window) !== second);
    this.#written = now;
    for (const [window] of changed) {
      this.#unsure.set(window, nowMs);
      this.#writtenTo(this.#options.panesOf(window));
    }
    this.#lookLater();
  }

  declareExit(pane: PaneId, status: ExitStatus): void {
    if (this.#observed.has(pane)) this.#registry.declareExit(pane, status);
  }

  declareAlive(pane: PaneId): void {
    this.#registry.declareAlive(pane);
  }

  paneGone(pane: PaneId): void {
    this.#drop(pane);
  }

  /** Ids mean nothing any more. Safe to call twice. */
  closeAll(error: AppError): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#written.clear();
    this.#unsure.clear();
    this.#observed.clear();
    this.#registry.beginEpoch(newEpoch(), error);
    this.#beTold();
  }

  #idle(stream: GuestStream): void {
    const pane = stream.id as PaneId;
    if (this.#registry.find(paneNumberOf(pane)) === stream) this.#drop(pane);
  }

  #drop(pane: PaneId): void {
    this.#observed.delete(pane);
    this.#registry.closePane(pane);
    this.#beTold();
  }

  #beTold(): void {
    this.#changes.follow(this.#observed.size > 0);
  }

  #writtenTo(panes: Iterable<PaneId>): void {
    for (const pane of panes) if (this.#observed.has(pane)) this.#registry.declareHole(pane, "paused");
  }

  #lookLater(): void {
    if (this.#unsure.size === 0) return;
    const { clock, panesOf } = this.#options;
    const dueMs = Math.min(...this.#unsure.values()) + SECOND_OVER_MS;
    this.#timer ??= clock.callAt(dueMs, () => {
      this.#timer = undefined;
      for (const [window, atMs] of this.#unsure) {
        if (atMs + SECOND_OVER_MS > clock.nowMs()) continue;
        this.#unsure.delete(window);
        this.#writtenTo(panesOf(window));
      }
      this.#lookLater();
    });
  }
}

const newEpoch = (): string => createNonce().slice(0, 10);
