/**
 * One pane while something is delivered to it: when it last wrote, what its program does, whether it still is there, and
 * looks at its screen. Whoever waits is woken by what happens, or when it is time; nothing looks without a reason.
 */
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { OutputSource } from "../panes/outputSource.ts";
import type { Dialog, PaneReadiness, Readiness, ReadinessWatcher } from "../readiness/readiness.ts";
import type { Capture, InputPart, InputReceipt, TmuxServer } from "../server/tmuxServer.ts";
import type { Clock } from "../time/clock.ts";
import { LOOK_INTERVAL_MS } from "./deliveryLimits.ts";

export interface PaneWatchOptions {
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
  /** Nobody observed the pane before: what it does is not known without a look. */
  readonly isFresh: boolean;
  readonly #unsubscribe: readonly (() => void)[];
  #version = 0;
  #lastOutputMs: number;
  #lastLookMs = -Infinity;
  #gone: AppError | undefined;
  #hasExited: boolean;
  #wake: (() => void) | undefined;

  /** @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST */
  constructor({ server, pane, readiness, clock, profile }: PaneWatchOptions) {
    this.server = server;
    this.pane = pane;
    this.clock = clock;
    this.source = server.output(pane);
    this.#hasExited = this.source.exit !== undefined || server.findPane(pane)?.exit !== undefined;
    this.#lastOutputMs = clock.nowMs();
    this.isFresh = readiness.known(server, pane) === undefined;
    this.readiness = readiness.watch(server, pane, profile === undefined ? {} : { profile });
    const wrote = (): void => {
      this.#lastOutputMs = clock.nowMs();
      this.#happened();
    };
    this.#unsubscribe = [
      this.source.subscribe({
        advanced: wrote,
        gap: wrote,
        exited: () => {
          this.#hasExited = true;
          this.#happened();
        },
        closed: (error) => {
          this.#gone = error;
          this.#happened();
        },
      }),
      this.readiness.subscribe(() => this.#happened()),
    ];
  }

  get state(): Readiness {
    return this.readiness.current;
  }

  /** Changes with everything that happens. */
  get version(): number {
    return this.#version;
  }

  get lastOutputMs(): number {
    return this.#lastOutputMs;
  }

  /** The program has ended, or the pane is gone. */
  get hasEnded(): boolean {
    return this.#hasExited || this.#gone?.code === "NOT_FOUND";
  }

  /** The connection to tmux was lost: nobody knows what became of what was written. */
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
    if (this.#version !== version || this.clock.nowMs() >= untilMs) return;
    await new Promise<void>((resolve) => {
      const timer = this.clock.callAt(untilMs, resolve);
      this.#wake = () => {
        timer.cancel();
        resolve();
      };
    });
    this.#wake = undefined;
  }

  /** Until then, whatever happens. */
  async until(untilMs: number): Promise<void> {
    if (this.clock.nowMs() >= untilMs) return;
    await new Promise<void>((resolve) => void this.clock.callAt(untilMs, resolve));
  }

  /** The visible screen; not more often than a screen is drawn. */
  async look(ansi = false): Promise<Capture> {
    await this.until(this.#lastLookMs + LOOK_INTERVAL_MS);
    const capture = await this.server.capture(this.pane, { ansi });
    this.#lastLookMs = this.clock.nowMs();
    return capture;
  }

  /** Nothing was written since the screen looked so. */
  isCurrent({ exact, position }: Capture): boolean {
    return exact && position.epoch === this.source.epoch && position.outputSeq === this.source.outputSeq;
  }

  async type(parts: readonly InputPart[], beforeWrite?: () => void): Promise<InputReceipt> {
    return this.server.input(this.pane, parts, { beforeWrite });
  }

  /** Presses keys if the screen still is the one that was judged, checked in the turn of the write. False when not. */
  async press(keys: readonly string[], judged: Capture, beforeWrite?: () => void): Promise<boolean> {
    // What tmux has drawn, but not told us yet, it looks at itself.
    return this.typeOn(judged, [{ kind: "keys", keys, onlyAt: judged.cursor }], beforeWrite);
  }

  async typeOn(judged: Capture, parts: readonly InputPart[], beforeWrite?: () => void): Promise<boolean> {
    let hasChanged = false;
    try {
      await this.type(parts, () => {
        hasChanged = !this.isCurrent(judged);
        if (hasChanged) throw new AppError("INCONSISTENT_STATE", "the screen has changed since it was looked at");
        beforeWrite?.();
      });
      return true;
    } catch (error) {
      if (hasChanged || (error instanceof AppError && error.code === "INCONSISTENT_STATE")) return false;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    this.readiness[Symbol.dispose]();
  }

  #happened(): void {
    this.#version += 1;
    this.#wake?.();
  }
}

export interface RefusedState {
  readonly profile: string;
  readonly dialog?: Pick<Dialog, "id" | "options"> | undefined;
}

/** The refusal of everything that does not fit what the program is doing. */
export function wrongState(
  { state }: { readonly state: RefusedState },
  name: Readiness["state"],
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError {
  const { profile, dialog } = state;
  const asked = dialog === undefined ? {} : { dialogId: dialog.id, options: dialog.options.length };
  return new AppError("WRONG_STATE", message, { details: { state: name, profile, ...asked, ...details } });
}
