/**
 * What a session prints, as one stream of text that waits read like a pane's output: the program's words as they come,
 * a line `$ NAME` for each tool call, and what tools returned. `outputSeq` counts its bytes.
 */
import { DEFAULT_RING_BYTES } from "../../../protocol/limits.ts";
import { PaneStream } from "../../../daemon/panes/paneStream.ts";
import type { ExitStatus } from "../../../daemon/tmux/outputSource.ts";
import { TEXT_PART_BYTES } from "../freshellLimits.ts";

interface SessionTextOptions {
  readonly id: string;
  readonly epoch: string;
  /** A listener threw: for the log, never for the stream. */
  readonly onListenerError: (error: unknown) => void;
}

export class SessionText extends PaneStream {
  #isAtLineStart = true;

  constructor(options: SessionTextOptions) {
    super({ ...options, retainBytes: DEFAULT_RING_BYTES });
  }

  /** Appends to the text. Subscribers are notified by `announce`. */
  write(text: string): void {
    if (text === "") return;
    const bytes = Buffer.from(text, "utf8");
    for (let at = 0; at < bytes.length; at += TEXT_PART_BYTES) this.take(bytes.subarray(at, at + TEXT_PART_BYTES));
    this.#isAtLineStart = text.endsWith("\n");
  }

  endLine(): void {
    if (!this.#isAtLineStart) this.write("\n");
  }

  /** One or more lines of their own. */
  line(text: string): void {
    if (text === "") return;
    this.endLine();
    this.write(text);
    this.endLine();
  }

  /** The last line is ended first. */
  override declareExit(status: ExitStatus): void {
    if (this.exit === undefined) this.endLine();
    super.declareExit(status);
  }
}

/** A tool call as one line; a name is a program's, and may hold anything. */
export const toolLine = (name: string): string => `$ ${name.replaceAll(/\p{Cc}+/gu, " ")}`;
