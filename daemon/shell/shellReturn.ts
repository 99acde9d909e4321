/**
 * Detects that a shell has aborted a command and is back at its prompt. If a command is interrupted (C-c), or an error
 * discards the whole line (`set -u`), most shells print no end mark. Checks when output has paused, and requires three things
 * together: the shell itself is in the foreground, no line editor has reported that it stopped reading, and the cursor's row
 * is the prompt as it was when the line was known to be empty (or `^C` was echoed and a line editor reads).
 */
import type { PromptSigns } from "../panes/vt/promptSigns.ts";
import type { Timer } from "../time/clock.ts";
import { captureLine, type LineContext, rowOf, textOf } from "./emptyLine.ts";

/** A prompt is drawn at once, and a command's own pause costs one check. */
const PAUSE_MS = 150;

export class ShellReturn {
  readonly #context: LineContext & { readonly signs: PromptSigns };
  #timer: Timer | undefined;
  #isInterrupted = false;
  #isClosed = false;

  constructor(context: LineContext & { readonly signs: PromptSigns }) {
    this.#context = context;
  }

  /** Takes the command's output, including what the terminal echoed. */
  read(bytes: Uint8Array): void {
    this.#isInterrupted ||= Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("^C");
  }

  /** Call when more output has come. Calls `end` if it was the prompt. */
  moved(end: () => void): void {
    if (this.#isClosed || this.#timer !== undefined) return;
    const { clock, source } = this.#context;
    const seq = source.outputSeq;
    this.#timer = clock.callAt(clock.nowMs() + PAUSE_MS, () => {
      this.#timer = undefined;
      if (source.outputSeq !== seq) this.moved(end);
      else void this.#isBack(seq).then((isBack) => isBack && !this.#isClosed && end(), ignore);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
  }

  async #isBack(seq: number): Promise<boolean> {
    const { server, pane, source, signs } = this.#context;
    signs.readOn();
    if (signs.isEditing === false) return false;
    const { processes } = await server.foreground(pane, { atNoCost: true });
    const leader = processes?.[0]?.pid;
    if (leader === undefined || leader !== server.findPane(pane)?.pid) return false;
    const { capture } = await captureLine(this.#context);
    if (source.outputSeq !== seq || capture.alternateScreen) return false;
    if (this.#isInterrupted && signs.isEditing === true) return true;
    return signs.emptyRow !== undefined && textOf(rowOf(capture)) === signs.emptyRow;
  }
}

/** Errors are ignored, because whatever ends the connection or the pane also ends the run. */
const ignore = (): void => undefined;
