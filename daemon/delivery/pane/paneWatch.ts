/**
 * One pane while something is delivered to it: its screen, when it last wrote, and what its program does. A waiter is woken
 * by an event or by its deadline; nothing polls.
 */
import type { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { OutputSource } from "../../tmux/outputSource.ts";
import type { PaneReadiness, Readiness, ReadinessWatcher } from "../../readiness/readiness.ts";
import type { Capture } from "../../tmux/io.ts";
import type { TmuxServer } from "../../tmux/tmuxServer.ts";
import { Changes } from "../../time/changes.ts";
import type { Clock } from "../../time/clock.ts";
import type { Profile } from "../../readiness/profile.ts";
import type { Profiles } from "../../readiness/profiles.ts";
import { CAPTURE_INTERVAL_MS } from "../deliveryLimits.ts";
import { wrongState } from "./wrongState.ts";

interface PaneWatchOptions {
  readonly server: TmuxServer;
  readonly pane: PaneId;
  readonly readiness: ReadinessWatcher;
  readonly clock: Clock;
  readonly profile?: string | undefined;
}

export class PaneWatch implements Disposable {
  readonly server: TmuxServer;
  readonly pane: PaneId;
  readonly clock: Clock;
  readonly source: OutputSource;
  readonly readiness: PaneReadiness;
  /** The pane was not observed before: its state is not known without a capture. */
  readonly isFresh: boolean;
  readonly #profiles: Profiles;
  readonly #unsubscribe: readonly (() => void)[];
  readonly #changes = new Changes();
  #lastOutputMs: number;
  #lastCaptureMs = -Infinity;
  #gone: AppError | undefined;
  #hasExited: boolean;

  /** @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST */
  constructor({ server, pane, readiness, clock, profile }: PaneWatchOptions) {
    this.#profiles = readiness.profiles;
    this.server = server;
    this.pane = pane;
    this.clock = clock;
    this.source = server.output(pane);
    this.#hasExited = this.source.exit !== undefined || server.findPane(pane)?.exit !== undefined;
    this.#lastOutputMs = clock.nowMs();
    this.isFresh = readiness.known(server, pane, true) === undefined;
    this.readiness = readiness.watch(server, pane, profile === undefined ? {} : { profile });
    const wrote = (): void => {
      this.#lastOutputMs = clock.nowMs();
      this.#changes.changed();
    };
    this.#unsubscribe = [
      this.source.subscribe({
        advanced: wrote,
        gap: wrote,
        exited: () => {
          this.#hasExited = true;
          this.#changes.changed();
        },
        closed: (error) => {
          this.#gone = error;
          this.#changes.changed();
        },
      }),
      this.readiness.subscribe(() => this.#changes.changed()),
    ];
  }

  get state(): Readiness {
    return this.readiness.current;
  }

  /** That its state was judged by. */
  get profile(): Profile {
    return this.#profiles.named(this.state.profile, this.state.version);
  }

  /** Changes with everything that happens. */
  get version(): number {
    return this.#changes.count;
  }

  get lastOutputMs(): number {
    return this.#lastOutputMs;
  }

  /** The program has ended, or the pane is gone. */
  get hasEnded(): boolean {
    return this.#hasExited || this.#gone?.code === "NOT_FOUND";
  }

  /** The connection to tmux was lost: what happened to the input is unknown. */
  get isLost(): boolean {
    return this.#gone !== undefined && this.#gone.code !== "NOT_FOUND";
  }

  /** @throws AppError why nothing can be typed any more */
  requireThere(): void {
    if (this.#gone !== undefined) throw this.#gone;
    if (this.#hasExited) throw wrongState(this, "dead", "the program in the pane has ended");
  }

  /** Until something happens that `version` does not know of, or it is time. */
  async next(version: number, untilMs: number): Promise<void> {
    if (this.clock.nowMs() < untilMs) await this.#changes.next(version, this.clock, untilMs);
  }

  /** Waits until then, whatever happens. */
  async until(untilMs: number): Promise<void> {
    if (this.clock.nowMs() >= untilMs) return;
    await new Promise<void>((resolve) => void this.clock.callAt(untilMs, resolve));
  }

  /** The visible screen; not more often than a screen is drawn. */
  async capture(ansi = false): Promise<Capture> {
    await this.until(this.#lastCaptureMs + CAPTURE_INTERVAL_MS);
    const capture = await this.server.capture(this.pane, { ansi });
    this.#lastCaptureMs = this.clock.nowMs();
    return capture;
  }

  /** Nothing was written since the screen looked so. */
  isCurrent({ exact, position }: Capture): boolean {
    return exact && position.epoch === this.source.epoch && position.outputSeq === this.source.outputSeq;
  }

  [Symbol.dispose](): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.readiness[Symbol.dispose]();
  }
}
