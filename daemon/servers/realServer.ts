/**
 * A real tmux behind the `TmuxServer` interface: what an owned server and a guest do alike. Lists are served
 * from the inventory, a pane is named by an id that must be in it, and everything else is asked of tmux over the
 * connection or the stream that the kind of server hands out. What differs is in `ServerKind`.
 */
import { listClients } from "../../protocol/command/build.ts";
import { CLIENTS } from "../../protocol/command/formats.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId, SessionId } from "../../protocol/ids.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import { captureScreen, type CaptureContext } from "../panes/capture.ts";
import type { InputQueue } from "../panes/inputJobs.ts";
import type { OutputSource } from "../tmux/outputSource.ts";
import type { Host } from "../host/host.ts";
import type { HostProcesses } from "../host/hostProcesses.ts";
import type { PaneForeground } from "../tmux/processes.ts";
import { askForeground, askPaneDetails } from "../panes/paneDetails.ts";
import type { PaneStream } from "../panes/paneStream.ts";
import { takeSnapshot } from "../panes/snapshot.ts";
import type { WindowLayout } from "../tmux/layout.ts";
import type { Inventory } from "./serverInventory.ts";
import { readPaneUserOptions, writePaneUserOption } from "./paneUserOptions.ts";
import type {
  CreateSession,
  PaneInfo,
  ServerCounters,
  ServerEvent,
  ServerStatus,
  SessionInfo,
  WindowInfo,
} from "../tmux/inventory.ts";
import type {
  Capture,
  CaptureOptions,
  ForegroundOptions,
  InputOptions,
  InputPart,
  InputReceipt,
  PaneDetails,
  Snapshot,
  SnapshotOptions,
} from "../tmux/io.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";

/** A pane whose output flows. */
export interface PaneInUse {
  stream(): PaneStream;
  input(): InputQueue;
  /** @throws AppError CONNECTION_LOST */
  captureContext(): CaptureContext;
}

/** What an owned server and a guest do differently. Panes that it is given are in its inventory. */
export interface ServerKind {
  readonly host: Host;
  readonly inventory: Inventory;
  readonly layout: WindowLayout;
  status(): ServerStatus;
  check(): Promise<void>;
  /** For a command. @throws AppError CONNECTION_LOST */
  connection(): ControlConnection;
  /** Before a pane is said not to exist. @throws AppError CONNECTION_LOST when nothing is known of the server */
  requireKnown(): void;
  createSession(request: CreateSession): Promise<SessionInfo>;
  killSession(session: SessionId): Promise<void>;
  resize(pane: PaneInfo, cols: number, rows: number): Promise<void>;
  /** Does `work` once the pane's output flows, and keeps it flowing meanwhile. @throws AppError CONNECTION_LOST */
  use<T>(pane: PaneInfo, work: (inUse: PaneInUse) => Promise<T>, signal?: AbortSignal): Promise<T>;
  output(pane: PaneInfo): OutputSource;
  counters(): ServerCounters;
  subscribe(listener: (event: ServerEvent) => void): () => void;
  close(): void;
}

export class RealServer implements TmuxServer {
  readonly #kind: ServerKind;

  constructor(kind: ServerKind) {
    this.#kind = kind;
  }

  status(): ServerStatus {
    return this.#kind.status();
  }

  async check(): Promise<ServerStatus> {
    await this.#kind.check();
    return this.status();
  }

  get layout(): WindowLayout {
    return this.#kind.layout;
  }

  sessions(): readonly SessionInfo[] {
    return this.#kind.inventory.sessions();
  }

  findSession(name: string): SessionInfo | undefined {
    return this.#kind.inventory.findSession(name);
  }

  windows(): readonly WindowInfo[] {
    return this.#kind.inventory.windows();
  }

  panes(): readonly PaneInfo[] {
    return this.#kind.inventory.panes();
  }

  findPane(pane: PaneId): PaneInfo | undefined {
    return this.#kind.inventory.findPane(pane);
  }

  createSession(request: CreateSession): Promise<SessionInfo> {
    return this.#kind.createSession(request);
  }

  killSession(session: SessionId): Promise<void> {
    return this.#kind.killSession(session);
  }

  async input(pane: PaneId, parts: readonly InputPart[], options: InputOptions = {}): Promise<InputReceipt> {
    const submit = async (inUse: PaneInUse): Promise<InputReceipt> => {
      const stream = inUse.stream();
      let { outputSeq } = stream;
      await inUse.input().submit(parts, {
        ...options,
        beforeWrite: () => {
          outputSeq = stream.outputSeq;
          options.beforeWrite?.();
        },
      });
      return { position: { epoch: stream.epoch, outputSeq } };
    };
    return this.#kind.use(this.#requirePane(pane), submit, options.signal);
  }

  async capture(pane: PaneId, options: CaptureOptions = {}): Promise<Capture> {
    const capture = (inUse: PaneInUse): Promise<Capture> => captureScreen(inUse.captureContext(), options);
    return this.#kind.use(this.#requirePane(pane), capture, options.signal);
  }

  async snapshot(pane: PaneId, options: SnapshotOptions = {}): Promise<Snapshot> {
    return this.#kind.use(this.#requirePane(pane), (inUse) => takeSnapshot(inUse.captureContext(), options));
  }

  async describePane(pane: PaneId): Promise<PaneDetails> {
    this.#requirePane(pane);
    return askPaneDetails(this.#kind.connection(), pane);
  }

  get processes(): HostProcesses {
    return this.#kind.host.processes;
  }

  async foreground(pane: PaneId, { atNoCost = false }: ForegroundOptions = {}): Promise<PaneForeground> {
    this.#requirePane(pane);
    const probe = async (): Promise<HostProcesses> => (atNoCost ? this.processes : this.processes.probe());
    return askForeground(this.#kind.connection(), pane, probe);
  }

  async resize(pane: PaneId, cols: number, rows: number): Promise<void> {
    return this.#kind.resize(this.#requirePane(pane), cols, rows);
  }

  async setPaneUserOption(pane: PaneId, name: string, value: string | undefined): Promise<void> {
    this.#requirePane(pane);
    await writePaneUserOption(this.#kind.connection(), pane, name, value);
  }

  async paneUserOptions(name: string): Promise<ReadonlyMap<PaneId, string>> {
    return readPaneUserOptions(this.#kind.connection(), name);
  }

  async terminals(): Promise<ReadonlyMap<SessionId, number>> {
    const { body } = await this.#kind.connection().command(listClients(CLIENTS.format));
    const terminals = CLIENTS.decode(body).filter(({ isControl }) => !isControl);
    const counts = new Map<SessionId, number>();
    for (const { session } of terminals) counts.set(session, (counts.get(session) ?? 0) + 1);
    return counts;
  }

  counters(): ServerCounters {
    return this.#kind.counters();
  }

  output(pane: PaneId): OutputSource {
    return this.#kind.output(this.#requirePane(pane));
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    return this.#kind.subscribe(listener);
  }

  async close(): Promise<void> {
    this.#kind.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #requirePane(pane: PaneId): PaneInfo {
    const info = this.#kind.inventory.findPane(pane);
    if (info !== undefined) return info;
    this.#kind.requireKnown();
    throw new AppError("NOT_FOUND", `pane ${pane} does not exist; list the panes again`);
  }
}
