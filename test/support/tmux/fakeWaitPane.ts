/** What a wait may ask of its pane, as a test says it is. */
import type { Capture } from "../../../daemon/tmux/io.ts";
import type { PaneForeground } from "../../../daemon/tmux/processes.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { TreeEvent } from "../../../daemon/tmux/layout.ts";
import type { WaitPane } from "../../../daemon/waits/waitReading.ts";
import { paneIdOf } from "../../../protocol/ids.ts";
import type { MemorySource } from "../daemon/memorySource.ts";

export class FakeWaitPane implements WaitPane {
  readonly id = paneIdOf(1);
  readonly readiness = undefined;
  /** As tmux has them. */
  title = "";
  cursor = { col: 0, row: 0 };
  historyLines = 0;
  captures = 0;
  /** Other panes print as well. */
  exact = true;
  /** Of the next captures, this many fail. */
  failures = 0;
  watchers = 0;
  /** A shell is in front. */
  isShell = false;
  readonly #source: MemorySource;
  #tell: (events: readonly TreeEvent[]) => void = () => undefined;

  constructor(source: MemorySource) {
    this.#source = source;
  }

  get server(): TmuxServer {
    const server: Partial<TmuxServer> = {
      describePane: () => Promise.resolve({ ...NO_DETAILS, title: this.title }),
      capture: () => {
        this.captures += 1;
        if (this.failures > 0) {
          this.failures -= 1;
          return Promise.reject(new Error("tmux is busy"));
        }
        return Promise.resolve(this.#capture());
      },
      foreground: () => {
        const shell = { pid: 1, program: "bash", command: [], args: [], isInteractiveShell: this.isShell };
        return Promise.resolve({ processes: [shell] } as unknown as PaneForeground);
      },
      layout: {
        tree: () => ({ sessions: [], windows: [], panes: [] }),
        watch: (listener) => {
          this.watchers += 1;
          this.#tell = listener;
          return () => void (this.watchers -= 1);
        },
        run: () => Promise.reject(new Error("this pane has no layout")),
      },
    };
    return server as TmuxServer;
  }

  /** tmux tells of it. */
  tellTitle(title: string, pane = this.id): void {
    this.#tell([{ type: "pane-title-changed", pane, title }]);
  }

  #capture(): Capture {
    const { cursor, historyLines, exact } = this;
    const position = { epoch: this.#source.epoch, outputSeq: this.#source.outputSeq };
    return { lines: [], position, exact, cols: 80, rows: 24, cursor, alternateScreen: false, historyLines };
  }
}

const NO_DETAILS = { command: "", cwd: "", tty: "", historyLines: 0, alternateScreen: false, inMode: false };
