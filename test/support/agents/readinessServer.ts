/** A server of one pane whose output, screen and foreground program the test sets; looks are counted. */
import { linuxHost } from "../../../daemon/host/linux/linuxHost.ts";
import type { Foreground, PaneForeground } from "../../../daemon/tmux/processes.ts";
import type { PaneInfo, ServerEvent } from "../../../daemon/tmux/inventory.ts";
import type { Capture, PaneDetails } from "../../../daemon/tmux/io.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../protocol/errors.ts";
import { paneIdOf, type PaneId, type WindowId } from "../../../protocol/ids.ts";
import { MemorySource } from "../daemon/memorySource.ts";

export class ReadinessServer {
  readonly pane: PaneId = paneIdOf(5);
  readonly processes = linuxHost().processes;
  source = new MemorySource({ id: "%5" });
  title = "";
  command = "generic";
  lines: readonly string[] = [];
  cursor: { readonly col: number; readonly row: number } | undefined;
  size = { cols: 80, rows: 24 };
  /** What runs in the foreground; undefined when the system does not tell. */
  inForeground: Foreground | undefined;
  /** The pane's own process. */
  panePid = 0;
  captures = 0;
  describes = 0;
  /** What a capture fails with. */
  failure: AppError | undefined;
  /** While set, captures wait for it. */
  held: Promise<void> | undefined;
  isThere = true;
  state: "connecting" | "ready" = "ready";
  /** Only of a guest's panes is the output not always followed. */
  kind: "stub" | "guest" = "stub";
  identity = "100";
  readonly #listeners = new Set<(event: ServerEvent) => void>();

  /** As the engine sees it. */
  get server(): TmuxServer {
    return this as unknown as TmuxServer;
  }

  get listenerCount(): number {
    return this.#listeners.size;
  }

  status() {
    return { kind: this.kind, state: this.state, epoch: this.source.epoch, identity: this.identity };
  }

  findPane(pane: PaneId): PaneInfo | undefined {
    if (!this.isThere || pane !== this.pane) return undefined;
    const { title } = this;
    return {
      id: pane,
      window: "@0" as WindowId,
      cols: 80,
      rows: 24,
      active: true,
      pid: this.panePid,
      title,
      exit: undefined,
    };
  }

  output(): MemorySource {
    if (this.state !== "ready") throw new AppError("CONNECTION_LOST", "no connection");
    return this.source;
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  emit(event: ServerEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  async capture(): Promise<Capture> {
    this.captures += 1;
    const { lines, source } = this;
    const position = { epoch: source.epoch, outputSeq: source.outputSeq };
    await this.held;
    if (this.failure !== undefined) throw this.failure;
    const cursor = this.cursor ?? { col: (lines.at(-1) ?? "").length, row: Math.max(0, lines.length - 1) };
    return { lines, position, exact: true, ...this.size, cursor, alternateScreen: false, historyLines: 0 };
  }

  async foreground(): Promise<PaneForeground> {
    const { command, inForeground: processes } = this;
    return { pid: this.panePid, command, processes };
  }

  async describePane(): Promise<PaneDetails> {
    this.describes += 1;
    const { command, title } = this;
    return { command, cwd: "/", title, tty: "", historyLines: 0, alternateScreen: false, inMode: false };
  }
}

/** Lets everything that only waits for promises come to rest. */
export async function rest(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
