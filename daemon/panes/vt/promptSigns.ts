/**
 * What a pane's stream says about the shell's line editor: whether it reads (`?2004`), the shell's own marks (OSC 133),
 * and where the prompt's row can have begun. As of the last `readOn`.
 */
import type { OutputSource } from "../../tmux/outputSource.ts";
import { type ShellMark, trackerOf, type VtTracker } from "./vtTracker.ts";

export class PromptSigns {
  /** Where our last command in this shell ended. */
  ownEndSeq = -1;
  /** How many lines of ours in a row were not shown over as many rows as they need. */
  shownAstray = 0;
  readonly #tracker: VtTracker;
  #emptyRow: { readonly text: string | undefined; readonly lineFeedSeq: number } | undefined;

  constructor(source: OutputSource) {
    this.#tracker = trackerOf(source);
  }

  /** A line editor reads, or has stopped reading; undefined when neither was seen. */
  get isEditing(): boolean | undefined {
    return this.#tracker.bracketedPaste;
  }

  /** The cursor's row when the line was last known to be empty. */
  get emptyRow(): string | undefined {
    return this.#emptyRow?.text;
  }

  set emptyRow(text: string | undefined) {
    this.#emptyRow = { text, lineFeedSeq: this.#tracker.lineFeedSeq };
  }

  /** The same, while the line is still that one: no line feed has come since. */
  get ownEmptyRow(): string | undefined {
    return this.#emptyRow?.lineFeedSeq === this.#tracker.lineFeedSeq ? this.emptyRow : undefined;
  }

  get mark(): ShellMark | undefined {
    return this.#tracker.shellMark;
  }

  /** No line feed has come since the stream began, our last command ended or the shell marked its prompt. */
  get isFirstRow(): boolean {
    const { lineFeedSeq, promptMarkSeq } = this.#tracker;
    return lineFeedSeq <= Math.max(this.ownEndSeq, this.isAtMarkedPrompt ? promptMarkSeq : -1);
  }

  /** A line feed has come since the line editor began to read: in zsh it is not the prompt's own. */
  get isFeedBehindPrompt(): boolean {
    return this.#tracker.lineFeedSeq > this.#tracker.bracketedPasteSeq;
  }

  /** No shell has reported or shown a prompt here yet. */
  get isFresh(): boolean {
    return this.isEditing === undefined && this.mark === undefined && this.emptyRow === undefined;
  }

  get isAtMarkedPrompt(): boolean {
    return this.mark === "prompt";
  }

  readOn(): void {
    this.#tracker.readOn();
  }
}
