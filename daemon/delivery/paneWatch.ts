/**
 * One pane while something is delivered to it: when it last wrote, what its program does, whether it still is there, and
 * captures of its screen. A waiter is woken by an event or by its deadline; nothing polls.
 */
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import type { PaneReadiness, Readiness, ReadinessWatcher } from "../readiness/readiness.ts";
import type { Capture, InputPart, InputReceipt, PaneCondition } from "../tmux/io.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";
import type { Clock } from "../time/clock.ts";
import type { ProcessMark } from "../tmux/processes.ts";
import type { Profile } from "../readiness/profile.ts";
import { type Addressee, type AddresseeRequest, type Arrival, findAddressee } from "./addressee.ts";
import { bracketedPasteOf } from "./bracketedPaste.ts";
import { CAPTURE_INTERVAL_MS, NEW_MS, WAITS_WITHIN_MS } from "./deliveryLimits.ts";
import { untilReads } from "./stillReads.ts";
import { withDetails, wrongState } from "./wrongState.ts";

interface PaneWatchOptions {
  readonly server: TmuxServer;
  readonly pane: PaneId;
  readonly readiness: ReadinessWatcher;
  readonly clock: Clock;
  readonly profile?: string | undefined;
  readonly arrival: Arrival;
}

export class PaneWatch implements Disposable {
  readonly server: TmuxServer;
  readonly pane: PaneId;
  readonly clock: Clock;
  readonly source: OutputSource;
  readonly readiness: PaneReadiness;
  /** The pane was not observed before: its state is not known without a capture. */
  readonly isFresh: boolean;
  readonly #arrival: Arrival;
  readonly #unsubscribe: readonly (() => void)[];
  #version = 0;
  #lastOutputMs: number;
  #lastCaptureMs = -Infinity;
  #gone: AppError | undefined;
  #hasExited: boolean;
  #wake: (() => void) | undefined;
  #addressee: Addressee | undefined;
  #readdress: ((process: ProcessMark | undefined) => Promise<Addressee>) | undefined;
  #hasTyped = false;
  /** Since when it has been seen at work whenever a key was to be pressed. */
  #runningMs: number | undefined;
  /** The pane's output since which the addressee is meant. */
  #addressedSeq = 0;

  /** @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST */
  constructor({ server, pane, readiness, clock, profile, arrival }: PaneWatchOptions) {
    this.#arrival = arrival;
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

  /**
   * From here on everything typed is for who reads from the pane now, if that is who was meant when the request arrived.
   * @throws AppError WRONG_STATE, NOT_FOUND
   */
  async address(profile: Profile, request: AddresseeRequest = {}): Promise<void> {
    this.#readdress = (process) =>
      findAddressee(this.server, this.pane, profile, this.#arrival, { ...request, process });
    this.#addressee = await this.#readdress(request.process);
    const { source, outputSeq } = this.#arrival;
    this.#addressedSeq = source === this.source ? outputSeq : this.source.outputSeq;
  }

  /** @throws AppError WRONG_STATE: the addressee no longer reads */
  requireAddressee(): void {
    this.#addressee?.requireSame(this.pane, this.typedDetails);
  }

  /** The addressee no longer reads. */
  get isAddresseeGone(): boolean {
    return this.#addressee?.isGone === true;
  }

  /**
   * An agent that has been told to end, or has begun to: it still is in the foreground, but what is typed is read by who
   * comes next.
   */
  get isEnding(): boolean {
    return this.isToldToEnd || this.hasLeftTerminal;
  }

  get isToldToEnd(): boolean {
    return this.#addressee?.isEnding === true;
  }

  /** An agent has turned off bracketed paste, as programs do when they give their terminal back. */
  get hasLeftTerminal(): boolean {
    return this.#addressee?.isAgent === true && bracketedPasteOf(this.source, this.#addressedSeq) === "off";
  }

  /** What looked like its exit was not one. */
  noteGoingOn(): void {
    this.#addressee = this.#addressee?.goingOn();
  }

  /** It was started so recently that what the pane shows of a start may be its predecessor's; false where unknown. */
  get isAddresseeNew(): boolean {
    const ageSec = this.#addressee?.ageSec;
    return ageSec !== undefined && ageSec * 1000 < NEW_MS;
  }

  /** What the addressee has read so far, from anything; undefined where the system does not report it. */
  get bytesRead(): number | undefined {
    return this.#addressee?.bytesRead;
  }

  /** It is working rather than waiting; false where the system does not report it. */
  get isAddresseeRunning(): boolean {
    return this.#addressee?.isRunning === true;
  }

  /** Types for the addressee. @throws AppError WRONG_STATE: it no longer reads, and nothing was typed */
  async type(parts: readonly InputPart[], beforeWrite?: () => void): Promise<InputReceipt> {
    for (;;) {
      const receipt = await this.#typeIf(parts, {}, beforeWrite);
      if (receipt !== undefined) return receipt;
    }
  }

  /** Presses keys if the screen still is the one that was judged, checked in the turn of the write. False when not. */
  async press(keys: readonly string[], judged: Capture, beforeWrite?: () => void): Promise<boolean> {
    // tmux itself checks what it has drawn and not reported to us yet.
    return this.typeOn(judged, [{ kind: "keys", keys }], beforeWrite, { cursor: judged.cursor });
  }

  /** The same for anything. @param condition what tmux checks besides */
  async typeOn(
    judged: Capture,
    parts: readonly InputPart[],
    beforeWrite?: () => void,
    condition: PaneCondition = {},
  ): Promise<boolean> {
    const receipt = await this.#typeIf(parts, condition, () => {
      if (!this.isCurrent(judged)) throw screenChanged();
      beforeWrite?.();
    });
    return receipt !== undefined;
  }

  /**
   * Undefined when the screen, or tmux's word for who reads, has changed and nothing was typed.
   * @throws AppError WRONG_STATE when another process reads
   */
  async #typeIf(
    parts: readonly InputPart[],
    condition: PaneCondition,
    beforeWrite?: () => void,
  ): Promise<InputReceipt | undefined> {
    const onlyIf = { ...this.#addressee?.condition, ...condition };
    const last = parts.at(-1);
    try {
      const receipt = await this.server.input(this.pane, parts, {
        onlyIf,
        beforeWrite: () => {
          this.requireAddressee();
          if (this.isEnding) throw notNow(END_BEGUN);
          if (last !== undefined && last.kind !== "text" && this.#isAtWork()) throw notNow(AT_WORK);
          beforeWrite?.();
        },
      });
      this.#hasTyped = true;
      return receipt;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "INCONSISTENT_STATE") throw error;
      const reason = error.details?.["reason"];
      // Somebody has turned the pane's input off: another capture changes nothing.
      if (reason === "input_off") throw error;
      if (reason === END_BEGUN) await untilReads(this);
      else if (reason === AT_WORK) await this.until(this.clock.nowMs() + CAPTURE_INTERVAL_MS);
      else await this.#addressAgain();
      return undefined;
    }
  }

  /**
   * It has not come to what it was sent, which may be a signal that ends it: a key or a paste is for a program that waits
   * for one. Not for long: some are never idle.
   */
  #isAtWork(): boolean {
    this.#runningMs = this.isAddresseeRunning ? (this.#runningMs ?? this.clock.nowMs()) : undefined;
    return this.#runningMs !== undefined && this.clock.nowMs() < this.#runningMs + WAITS_WITHIN_MS;
  }

  /** A program may rename itself from time to time; another process is a different case. */
  async #addressAgain(): Promise<void> {
    const before = this.#addressee;
    if (before === undefined || this.#readdress === undefined) return;
    const now = await this.#readdress(before.process).catch((thrown: unknown) => {
      throw withDetails(thrown, this.typedDetails);
    });
    this.#addressee = now.condition.command === before.condition.command ? now : now.whateverItsName();
  }

  get typedDetails(): Readonly<Record<string, unknown>> {
    return this.#hasTyped ? { textWritten: true } : {};
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

const screenChanged = (): AppError =>
  new AppError("INCONSISTENT_STATE", "the screen has changed since it was captured");

const END_BEGUN = "end_begun";
const AT_WORK = "at_work";
const notNow = (reason: string): AppError =>
  new AppError("INCONSISTENT_STATE", "the program is not waiting for input at this moment", { details: { reason } });
