/**
 * A pane's rows as tmux keeps them, below a connection that captures them: numbered as tmux numbers them, the oldest tenth
 * dropped at the limit. What a test has happen between two commands happens there.
 */
import type { CaptureContext } from "../../../daemon/panes/askPane.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { PaneStream } from "../../../daemon/panes/paneStream.ts";

interface Row {
  readonly text: string;
  readonly goesOn: boolean;
}

const PANE = "%1" as PaneId;

export class FakeHistory {
  readonly stream = new PaneStream({ id: PANE, epoch: "e", retainBytes: 65_536, onListenerError: () => undefined });
  readonly commands: string[] = [];
  rows: Row[] = [];
  cols = 20;
  readonly #rowsOnScreen: number;
  readonly #limit: number;
  /** Before the command of this number. */
  readonly before = new Map<number, () => void>();

  constructor({ rowsOnScreen = 4, limit = 10_000 } = {}) {
    this.#rowsOnScreen = rowsOnScreen;
    this.#limit = limit;
  }

  get historyRows(): number {
    return Math.max(0, this.rows.length - this.#rowsOnScreen);
  }

  /** As output that scrolls; `bytes` are what the stream gets of it. */
  print(row: Row, bytes = `${row.text}\r\n`): void {
    this.rows.push(row);
    this.stream.take(Buffer.from(bytes));
    if (this.historyRows > this.#limit) this.rows.splice(0, Math.floor(this.#limit / 10));
  }

  /** The lines of the newest rows of history as one capture has them. */
  lines(count: number): readonly string[] {
    const all = this.historyRows;
    return this.#joined(Math.max(0, all - count), all);
  }

  context(): CaptureContext {
    const connection = {
      sendForeign: (build: () => string, trailer: { format: string }, settle: (outcome: object) => void): void => {
        const command = build();
        queueMicrotask(() => {
          this.before.get(this.commands.length)?.();
          this.commands.push(command);
          settle({
            replies: [{ body: Buffer.from(this.#reply(command)), trailer: this.#trailer(trailer?.format ?? "") }],
          });
        });
      },
    };
    return {
      pane: PANE,
      stream: this.stream,
      connection: connection as unknown as CaptureContext["connection"],
      totalOutputBytes: () => this.stream.outputSeq,
    };
  }

  #reply(command: string): string {
    const [, begin, end] = /-S (-?\d+) -E (-?\d+)/.exec(command) ?? [];
    if (begin === undefined) {
      const isShown = !command.includes("-a") && !command.includes("-P");
      return isShown ? lined(this.rows.slice(-this.#rowsOnScreen).map(({ text }) => text)) : "";
    }
    const at = (row: string | undefined): number => Math.max(0, this.historyRows + Number(row));
    return lined(this.#joined(at(begin), at(end) + 1));
  }

  #joined(begin: number, end: number): readonly string[] {
    const lines: string[] = [];
    let isCut = false;
    for (const { text, goesOn } of this.rows.slice(begin, end)) {
      if (isCut) lines.push(`${lines.pop()}${text}`);
      else lines.push(text);
      isCut = goesOn;
    }
    return lines;
  }

  #trailer(format: string): string {
    const values: Readonly<Record<string, number | string>> = {
      pane_id: PANE,
      pane_width: this.cols,
      pane_height: this.#rowsOnScreen,
      history_size: this.historyRows,
      history_limit: this.#limit,
      scroll_region_lower: this.#rowsOnScreen - 1,
      alternate_saved_x: 4_294_967_295,
      alternate_saved_y: 4_294_967_295,
      cursor_flag: 1,
      wrap_flag: 1,
      pane_tabs: "8,16",
    };
    return format.replaceAll(/#\{(\w+)\}/g, (_, name: string) => String(values[name] ?? 0));
  }
}

const lined = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
