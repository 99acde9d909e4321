/**
 * The program that a delivery is for, and whether it still reads. One that is told to end stays in the foreground for up to
 * a second and more without reading, and takes its question or its box off the screen as if it had taken what was typed: so
 * nothing is typed once its end has begun, and what its screen shows is believed when it is seen to go on.
 */
import type { PaneCondition } from "../../tmux/io.ts";
import type { ProcessMark } from "../../tmux/processes.ts";
import type { Clock } from "../../time/clock.ts";
import type { Profile } from "../../readiness/profile.ts";
import { type Addressee, type AddresseeRequest, type Arrival, endsNow, findAddressee } from "./addressee.ts";
import { bracketedPasteOf } from "./bracketedPaste.ts";
import {
  ENDING_PROBE_MS,
  ENDS_WITHIN_MS,
  NEW_MS,
  START_MARGIN_MS,
  STAYS_MS,
  WAITS_WITHIN_MS,
} from "../deliveryLimits.ts";
import type { PaneWatch } from "./paneWatch.ts";
import { withDetails } from "./wrongState.ts";

export class PaneReader {
  readonly #watch: PaneWatch;
  readonly #arrival: Arrival;
  readonly clock: Clock;
  #addressee: Addressee | undefined;
  #readdress: ((process: ProcessMark | undefined) => Promise<Addressee>) | undefined;
  /** The pane's output since which the addressee is meant. */
  #addressedSeq = 0;
  #hasTyped = false;

  constructor(watch: PaneWatch, arrival: Arrival) {
    this.#watch = watch;
    this.#arrival = arrival;
    this.clock = watch.clock;
  }

  /**
   * From here on everything typed is for who reads from the pane now, if that is who was meant when the request arrived.
   * @throws AppError WRONG_STATE, NOT_FOUND
   */
  async address(profile: Profile, request: AddresseeRequest = {}): Promise<void> {
    const { server, pane, source: current } = this.#watch;
    this.#readdress = (process) => findAddressee(server, pane, profile, this.#arrival, { ...request, process });
    this.#addressee = await this.#readdress(request.process);
    const { source, outputSeq } = this.#arrival;
    this.#addressedSeq = source === current ? outputSeq : current.outputSeq;
  }

  /** A program may rename itself from time to time; another process is a different case. @throws AppError WRONG_STATE */
  async addressAgain(): Promise<void> {
    const before = this.#addressee;
    if (before === undefined || this.#readdress === undefined) return;
    const now = await this.#readdress(before.process).catch((thrown: unknown) => {
      throw withDetails(thrown, this.#typedDetails);
    });
    this.#addressee = now.condition.command === before.condition.command ? now : now.whateverItsName();
  }

  /** What tmux checks at the moment of a write. */
  get condition(): PaneCondition | undefined {
    return this.#addressee?.condition;
  }

  /** Who reads; undefined if the host does not know. */
  get process(): ProcessMark | undefined {
    return this.#addressee?.process;
  }

  /** @throws AppError WRONG_STATE: it no longer reads */
  requireReading(): void {
    this.#addressee?.requireSame(this.#watch.pane, this.#typedDetails);
  }

  noteTyped(): void {
    this.#hasTyped = true;
  }

  get #typedDetails(): Readonly<Record<string, unknown>> {
    return this.#hasTyped ? { textWritten: true } : {};
  }

  /** It no longer reads. */
  get isGone(): boolean {
    return this.#addressee?.isGone === true;
  }

  /**
   * An agent that has been told to end, or has begun to: it still is in the foreground, but what is typed is read by who
   * comes next.
   */
  get isEnding(): boolean {
    return this.#isToldToEnd || this.#hasLeftTerminal;
  }

  get #isToldToEnd(): boolean {
    return this.#addressee?.isEnding === true;
  }

  /** An agent has turned off bracketed paste, as programs do when they give their terminal back. */
  get #hasLeftTerminal(): boolean {
    return this.#addressee?.isAgent === true && bracketedPasteOf(this.#watch.source, this.#addressedSeq) === "off";
  }

  /** It was started so recently that what the pane shows of a start may be its predecessor's; false where unknown. */
  get isNew(): boolean {
    const ageSec = this.#addressee?.ageSec;
    return ageSec !== undefined && ageSec * 1000 < NEW_MS;
  }

  /**
   * The pane has printed nothing since it was started but what its predecessor may have printed last, whose screen this then
   * is; false where unknown.
   */
  get hasPrintedNothing(): boolean {
    const ageSec = this.#addressee?.ageSec;
    const { lastOutputMs } = this.#watch.source;
    if (ageSec === undefined || lastOutputMs === undefined) return false;
    return this.clock.nowMs() - lastOutputMs > ageSec * 1000 - START_MARGIN_MS;
  }

  /** What it has read so far, from anything; undefined where the system does not report it. */
  get bytesRead(): number | undefined {
    return this.#addressee?.bytesRead;
  }

  /** It is working rather than waiting; false where the system does not report it. */
  get isRunning(): boolean {
    return this.#addressee?.isRunning === true;
  }

  /** Before something is typed: until it reads again. @throws AppError WRONG_STATE: it does not */
  async untilReads(): Promise<void> {
    const [watch, clock] = [this.#watch, this.clock];
    const untilMs = clock.nowMs() + ENDS_WITHIN_MS;
    while (this.isEnding) {
      watch.requireThere();
      this.requireReading();
      if (clock.nowMs() >= untilMs) break;
      await watch.next(watch.version, Math.min(untilMs, clock.nowMs() + ENDING_PROBE_MS));
    }
    if (!this.isEnding || this.#isGoingOn()) return;
    throw endsNow(watch.pane, this.#typedDetails);
  }

  /** It would have ended by now, so it only handles its signals in its own way. */
  #isGoingOn(): boolean {
    if (this.#hasLeftTerminal) return false;
    this.#addressee = this.#addressee?.goingOn();
    return !this.#isToldToEnd;
  }

  /**
   * After something was seen that speaks for what was typed: whether the program goes on. Nothing tells of its end for a
   * moment, and it has come to whatever it was sent meanwhile, a signal or a person's key: it waits for input again.
   */
  async goesOnAfter(profile: Profile, read: { readonly wasRead: boolean }, staysMs = STAYS_MS): Promise<boolean> {
    const watch = this.#watch;
    const seenMs = this.clock.nowMs();
    // A line editor restores the terminal's modes while a command runs.
    const keepsTerminal = profile.screen.promptBox !== undefined;
    for (;;) {
      const { version } = watch;
      if (watch.hasEnded || watch.isLost || this.isGone) return false;
      const nowMs = this.clock.nowMs();
      const isOpen = this.#isToldToEnd || (keepsTerminal && this.#hasLeftTerminal) || !read.wasRead;
      const mayEnd = isOpen || nowMs < seenMs + staysMs;
      // Some are never idle.
      const isAtIt = !mayEnd && nowMs < seenMs + WAITS_WITHIN_MS && this.isRunning;
      if (!mayEnd && !isAtIt) return true;
      if (nowMs >= seenMs + ENDS_WITHIN_MS) return read.wasRead && this.#isGoingOn();
      await watch.next(version, isOpen || isAtIt ? nowMs + ENDING_PROBE_MS : seenMs + staysMs);
    }
  }
}
