/**
 * A real tmux behind the `TmuxServer` interface: the common part of owned servers and guests. Lists are served from the
 * inventory, panes are named by ids that must be in it, and everything else is asked of tmux over the connection or stream
 * that the subclass provides. The abstract members are what differs.
 */
import { listClients } from "../../protocol/command/build.ts";
import { CLIENTS } from "../../protocol/command/formats.ts";
import { messageOf } from "../../protocol/errors.ts";
import type { PaneId, SessionId, WindowId } from "../../protocol/ids.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import type { CaptureContext } from "../panes/askPane.ts";
import { captureScreen } from "../panes/screen/capture.ts";
import type { OutputOptions, OutputSource } from "../tmux/outputSource.ts";
import type { Host } from "../host/host.ts";
import type { HostProcesses } from "../host/hostProcesses.ts";
import type { OpenTransport } from "../host/clients/transport.ts";
import type { PaneForeground, ProcessMark } from "../tmux/processes.ts";
import { askForeground, askPaneDetails } from "../panes/paneDetails.ts";
import { takeSnapshot } from "../panes/screen/snapshot.ts";
import type { Clock } from "../time/clock.ts";
import { endedAtOnce } from "./endedAtOnce.ts";
import { type LayoutHost, runOperation } from "./layout/layoutOperations.ts";
import { requirePane } from "./layout/layoutTargets.ts";
import { ServerLayout } from "./layout/serverLayout.ts";
import type { PaneRegistry } from "./paneRegistry.ts";
import type { InventoryStore } from "./inventory/inventoryStore.ts";
import { programBehind } from "./gracePeriod.ts";
import { Listeners } from "./listeners.ts";
import { readPaneUserOptions, writePaneUserOption } from "./paneUserOptions.ts";
import { makeSession, type SessionToMake } from "./sessionMaking.ts";
import { duplicate, isKept, requireSessionName } from "./sessionRules.ts";
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

export interface ServerOptions {
  /** Absolute. */
  readonly socketPath: string;
  readonly clock: Clock;
  /** Structured log: fixed event names, never pane text. */
  readonly log?: ((event: string, fields: object) => void) | undefined;
  readonly tmux?: string | undefined;
  /** Default: this machine. */
  readonly host?: Host | undefined;
  /** Replaces the host's way to start control clients. */
  readonly transport?: OpenTransport | undefined;
  /** Bytes of output kept per pane in use. */
  readonly ringBytes?: number | undefined;
  /** Interval of heartbeats of each connection; tests use less. */
  readonly heartbeatMs?: number | undefined;
}

export type LookOptions = Pick<CaptureOptions, "signal" | "unfollowed">;

export abstract class RealServer implements TmuxServer, LayoutHost {
  readonly layout: ServerLayout;
  protected readonly host: Host;
  protected readonly listeners: Listeners<ServerEvent>;
  protected readonly onListenerError: (error: unknown) => void;

  constructor({ log }: Pick<ServerOptions, "log">, host: Host) {
    this.host = host;
    this.onListenerError = (error) => log?.("listener.failed", { error: messageOf(error) });
    this.listeners = new Listeners(this.onListenerError);
    this.layout = new ServerLayout({
      source: this,
      run: (operation) => runOperation(this, operation),
      onListenerError: this.onListenerError,
      onFollowed: (isFollowed) => this.follow(isFollowed),
    });
  }

  abstract get inventory(): InventoryStore;
  abstract status(): ServerStatus;
  abstract check(): Promise<ServerStatus>;
  /** The connection for a command. @throws AppError CONNECTION_LOST */
  abstract connection(): ControlConnection;
  abstract requireKnown(): void;
  abstract list(windows: readonly WindowId[]): Promise<void>;
  abstract ending(sessions: readonly SessionId[], end: () => Promise<unknown>): Promise<void>;
  abstract killSession(session: SessionId): Promise<void>;
  abstract resize(pane: PaneId, cols: number, rows: number): Promise<void>;
  abstract output(pane: PaneId, options?: OutputOptions): OutputSource;
  abstract counters(): ServerCounters;
  /** Called when the first listener follows the tree of windows and panes, and when the last one stops. */
  protected abstract follow(isFollowed: boolean): void;
  /** Runs `work` while the pane's output is being received. @throws AppError CONNECTION_LOST */
  protected abstract use<T>(
    pane: PaneInfo,
    work: (panes: PaneRegistry) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T>;
  /** Like `use`, for work that only captures the pane. @throws AppError CONNECTION_LOST */
  protected look<T>(
    pane: PaneInfo,
    work: (context: CaptureContext) => Promise<T>,
    { signal }: LookOptions,
  ): Promise<T> {
    return this.use(pane, (panes) => work(panes.captureContext(pane.id)), signal);
  }
  /** @param keep whether the pane stays after its program has ended */
  protected abstract sessionToMake(request: CreateSession, keep: boolean): SessionToMake;
  /** Closes all our connections; programs in panes keep running. */
  protected abstract leave(): void;

  get processes(): HostProcesses {
    return this.host.processes;
  }

  sessions(): readonly SessionInfo[] {
    return this.inventory.sessions();
  }

  findSession(name: string): SessionInfo | undefined {
    return this.inventory.findSession(name);
  }

  windows(): readonly WindowInfo[] {
    return this.inventory.windows();
  }

  panes(): readonly PaneInfo[] {
    return this.inventory.panes();
  }

  findPane(pane: PaneId): PaneInfo | undefined {
    return this.inventory.findPane(pane);
  }

  async createSession(request: CreateSession): Promise<SessionInfo> {
    const { name, command } = request;
    requireSessionName(name);
    if (this.findSession(name) !== undefined) throw duplicate(name);
    const connection = this.connection();
    const toMake = this.sessionToMake(request, isKept(request, connection.features));
    const made = await this.starting(command, () => makeSession(connection, toMake));
    await this.list([]);
    const session = made === undefined ? undefined : this.inventory.session(made);
    if (session !== undefined) return session;
    throw await endedAtOnce(connection, `session ${name}`, command);
  }

  /** Around the commands that start a pane's program; `make` sends them at once. */
  starting<T>(_command: readonly string[] | undefined, make: () => Promise<T>): Promise<T> {
    return make();
  }

  async input(pane: PaneId, parts: readonly InputPart[], options: InputOptions = {}): Promise<InputReceipt> {
    const submit = async (panes: PaneRegistry): Promise<InputReceipt> => {
      const stream = panes.stream(pane);
      let { outputSeq } = stream;
      await panes.input(pane).submit(parts, {
        ...options,
        beforeWrite: () => {
          outputSeq = stream.outputSeq;
          options.beforeWrite?.();
        },
      });
      return { position: { epoch: stream.epoch, outputSeq } };
    };
    return this.use(requirePane(this, pane), submit, options.signal);
  }

  async capture(pane: PaneId, options: CaptureOptions = {}): Promise<Capture> {
    return this.look(requirePane(this, pane), (context) => captureScreen(context, options), options);
  }

  async snapshot(pane: PaneId, options: SnapshotOptions = {}): Promise<Snapshot> {
    return this.look(requirePane(this, pane), (context) => takeSnapshot(context, options), {});
  }

  async describePane(pane: PaneId): Promise<PaneDetails> {
    requirePane(this, pane);
    return askPaneDetails(this.connection(), pane);
  }

  async foreground(pane: PaneId, { atNoCost = false }: ForegroundOptions = {}): Promise<PaneForeground> {
    requirePane(this, pane);
    const probe = async (): Promise<HostProcesses> => (atNoCost ? this.processes : this.processes.probe());
    return askForeground(this.connection(), pane, probe);
  }

  async programIn(pane: PaneId): Promise<ProcessMark | undefined> {
    const { pid, exit } = this.findPane(pane) ?? {};
    return pid === undefined || exit !== undefined ? undefined : programBehind(pid, this.processes);
  }

  async setPaneUserOption(pane: PaneId, name: string, value: string | undefined): Promise<void> {
    requirePane(this, pane);
    await writePaneUserOption(this.connection(), pane, name, value);
  }

  async paneUserOptions(name: string): Promise<ReadonlyMap<PaneId, string>> {
    return readPaneUserOptions(this.connection(), name);
  }

  async terminals(): Promise<ReadonlyMap<SessionId, number>> {
    const clients = await this.connection().rows(CLIENTS, listClients);
    const counts = new Map<SessionId, number>();
    for (const { session, isControl } of clients) if (!isControl) counts.set(session, (counts.get(session) ?? 0) + 1);
    return counts;
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    return this.listeners.subscribe(listener);
  }

  async close(): Promise<void> {
    this.leave();
    this.listeners.clear();
    this.layout.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
