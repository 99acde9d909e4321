/** What is typed into the pane: for the reader alone, and where it matters only on the screen that was judged. */
import { AppError } from "../../../protocol/errors.ts";
import type { Capture, InputPart, InputReceipt, PaneCondition } from "../../tmux/io.ts";
import { CAPTURE_INTERVAL_MS, WAITS_WITHIN_MS } from "../deliveryLimits.ts";
import type { PaneReader } from "./paneReader.ts";
import type { PaneWatch } from "./paneWatch.ts";
import { withDetails } from "./wrongState.ts";

export class PaneKeys {
  readonly #watch: PaneWatch;
  readonly #reader: PaneReader;
  /** Since when it has been seen at work whenever a key was to be pressed. */
  #runningMs: number | undefined;

  constructor(watch: PaneWatch, reader: PaneReader) {
    this.#watch = watch;
    this.#reader = reader;
  }

  /** Types for the reader. @throws AppError WRONG_STATE: it no longer reads, and nothing was typed */
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
      if (!this.#watch.isCurrent(judged)) throw screenChanged();
      beforeWrite?.();
    });
    return receipt !== undefined;
  }

  /**
   * Undefined when the screen, or tmux's word for who reads, has changed and nothing was typed.
   * @throws AppError WRONG_STATE when another process reads, INCONSISTENT_STATE when a part was typed
   */
  async #typeIf(
    parts: readonly InputPart[],
    condition: PaneCondition,
    beforeWrite?: () => void,
  ): Promise<InputReceipt | undefined> {
    const { server, pane, clock } = this.#watch;
    const onlyIf = { ...this.#reader.condition, ...condition };
    try {
      const receipt = await server.input(pane, parts, {
        onlyIf,
        beforeWrite: () => {
          this.#reader.requireReading();
          if (this.#reader.isEnding) throw notNow(END_BEGUN);
          if (this.#isAtWork()) throw notNow(AT_WORK);
          beforeWrite?.();
        },
      });
      this.#reader.noteTyped();
      return receipt;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "INCONSISTENT_STATE") throw error;
      if (error.details?.["delivery"] === "indeterminate") {
        // The beginning of a long text was typed: the whole would follow it.
        this.#reader.noteTyped();
        await this.#reader.addressAgain();
        throw withDetails(error, { textWritten: true });
      }
      const reason = error.details?.["reason"];
      // Somebody has turned the pane's input off: another capture changes nothing.
      if (reason === "input_off") throw error;
      if (reason === END_BEGUN) await this.#reader.untilReads();
      else if (reason === AT_WORK) await this.#watch.until(clock.nowMs() + CAPTURE_INTERVAL_MS);
      else await this.#reader.addressAgain();
      return undefined;
    }
  }

  /**
   * It has not come to what it was sent, which may be a signal that ends it: a key or a paste is for a program that waits
   * for one. Not for long: some are never idle.
   */
  #isAtWork(): boolean {
    const nowMs = this.#watch.clock.nowMs();
    this.#runningMs = this.#reader.isRunning ? (this.#runningMs ?? nowMs) : undefined;
    return this.#runningMs !== undefined && nowMs < this.#runningMs + WAITS_WITHIN_MS;
  }
}

const screenChanged = (): AppError =>
  new AppError("INCONSISTENT_STATE", "the screen has changed since it was captured");

const END_BEGUN = "end_begun";
const AT_WORK = "at_work";
const notNow = (reason: string): AppError =>
  new AppError("INCONSISTENT_STATE", "the program is not waiting for input at this moment", { details: { reason } });
