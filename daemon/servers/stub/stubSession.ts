/** One session of the stub server: a single window with a single pane, in which nothing is run. */
import { paneIdOf, type PaneId, type SessionId, type WindowId } from "../../../protocol/ids.ts";
import { MAX_CAPTURE_LINES } from "../../../protocol/limits.ts";
import { PaneStream } from "../../panes/paneStream.ts";
import { userOptionOf } from "../paneUserOptions.ts";
import type { CreateSession, PaneInfo, SessionInfo, WindowInfo } from "../../tmux/inventory.ts";

/** The screen's initial size, which is tmux's default. */
const STUB_COLS = 80;
const STUB_ROWS = 24;

export interface StubSession {
  info: SessionInfo & { readonly activePane: PaneId };
  window: WindowInfo;
  pane: PaneInfo;
  readonly cwd: string;
  readonly stream: PaneStream;
  readonly lines: BoundedLines;
  /** By the name of the tmux option. */
  readonly userOptions: Map<string, string>;
}

interface StubSessionOptions {
  /** The number of the session, its window and its pane; never reused. */
  readonly number: number;
  readonly epoch: string;
  readonly retainBytes: number;
  readonly createdSec: number;
  readonly onListenerError: (error: unknown) => void;
}

export function makeStubSession(request: CreateSession, options: StubSessionOptions): StubSession {
  const { number, epoch, retainBytes, createdSec, onListenerError } = options;
  const id = `$${number}` as SessionId;
  const window = `@${number}` as WindowId;
  const pane = paneIdOf(number);
  const { cols = STUB_COLS, rows = STUB_ROWS } = request;
  return {
    info: {
      id,
      name: request.name,
      windows: [window],
      places: [{ index: 0, window }],
      activeWindow: window,
      activePane: pane,
      createdSec,
      attachedClients: 0,
    },
    window: { id: window, name: "stub", panes: [pane], cols, rows, layout: "", zoomed: false },
    pane: {
      id: pane,
      window,
      cols,
      rows,
      active: true,
      pid: 0,
      title: "",
      exit: undefined,
    },
    cwd: request.cwd ?? "/",
    stream: new PaneStream({ id: pane, epoch, retainBytes, onListenerError }),
    lines: new BoundedLines(MAX_CAPTURE_LINES, retainBytes),
    userOptions: new Map(
      Object.entries(request.userOptions ?? {}).map(([name, value]) => [userOptionOf(name, value).option, value]),
    ),
  };
}

/** The newest lines of a stub pane, bounded in lines and in bytes; appending takes constant time. */
export class BoundedLines {
  readonly #maxLines: number;
  readonly #maxBytes: number;
  #lines: { readonly text: string; readonly bytes: number }[] = [];
  #first = 0;
  #bytes = 0;

  constructor(maxLines: number, maxBytes: number) {
    this.#maxLines = maxLines;
    this.#maxBytes = maxBytes;
  }

  get count(): number {
    return this.#lines.length - this.#first;
  }

  append(text: string, bytes: number): void {
    this.#lines.push({ text, bytes });
    this.#bytes += bytes;
    while (this.count > 1 && (this.count > this.#maxLines || this.#bytes > this.#maxBytes)) {
      this.#bytes -= this.#lines[this.#first]?.bytes ?? 0;
      this.#first++;
    }
    // Cut only when half of the array is unused.
    if (this.#first > this.#lines.length / 2) {
      this.#lines = this.#lines.slice(this.#first);
      this.#first = 0;
    }
  }

  last(count: number): string[] {
    return this.#lines.slice(Math.max(this.#first, this.#lines.length - count)).map((line) => line.text);
  }
}
