/**
 * All terminals: panes of an owned server with our options. The book restores those of an earlier daemon, makes new ones,
 * respawns programs, and forgets those that are killed. A pane's state is what tmux says; the book only maps terminals to
 * panes.
 */
import { randomBytes } from "node:crypto";
import type { Log } from "../../../daemon/ops/log.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { ServerEvent } from "../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneUserOptions } from "../../../daemon/tmux/userOptions.ts";
import type { CreateTerminalRequest } from "../../../protocol/api/freshell/freshellHttp.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { MAX_ENDED_TERMINALS, RESERVED_OUTPUT_BYTES } from "../freshellLimits.ts";
import { newId } from "../newId.ts";
import { endTerminal } from "./endProgram.ts";
import {
  exitCodeOf,
  requireRunning,
  Terminal,
  type TerminalIdentity,
  type TerminalSize,
  tooManyTerminals,
  unknownTerminal,
} from "./terminal.ts";
import {
  begun,
  makePane,
  notePlace,
  readTerminals,
  removePane,
  SEQ_OPTION,
  unfinishedSessions,
} from "./terminalPanes.ts";
import { directoryOf, type ProgramInputs, programOf, titleOf } from "./terminalPrograms.ts";
import { PROGRAM_SEAM, TerminalSource } from "./terminalSource.ts";

interface TerminalBookOptions {
  readonly server: TmuxServer;
  readonly clock: Clock;
  readonly nowUnixMs: () => number;
  readonly log: Log;
  readonly programs: ProgramInputs;
  readonly homeDir: string;
  readonly maxTerminals: number;
  /** For `FRESHELL_URL`: known once there is a listener. */
  readonly url: () => string;
}

export class TerminalBook {
  readonly #options: TerminalBookOptions;
  readonly #terminals = new Map<string, Terminal>();
  readonly #byKey = new Map<PaneId, Terminal>();
  readonly #listeners = new Set<() => void>();
  readonly #epoch = randomBytes(6).toString("hex");
  readonly #unsubscribe: () => void;
  readonly #reserve: OutputReserve;
  #identity: string | undefined;
  #keys = 0;
  /** Number being made. */
  #making = 0;

  constructor(options: TerminalBookOptions) {
    this.#options = options;
    this.#reserve = new OutputReserve(options.server, options.log);
    this.#identity = options.server.status().identity;
    this.#unsubscribe = options.server.subscribe((event) => this.#serverEvent(event));
  }

  /** Oldest first. */
  list(): readonly Terminal[] {
    return [...this.#terminals.values()];
  }

  find(id: string): Terminal | undefined {
    return this.#terminals.get(id);
  }

  /** @throws AppError NOT_FOUND */
  require(id: string): Terminal {
    const terminal = this.#terminals.get(id);
    if (terminal === undefined) throw unknownTerminal();
    return terminal;
  }

  findByKey(key: PaneId): Terminal | undefined {
    return this.#byKey.get(key);
  }

  /** Calls back when a terminal comes, goes, ends or runs again. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Something that a listing shows has changed. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Restores an earlier daemon's terminals; half-made ones are ended. */
  async restore(): Promise<void> {
    const { server, log } = this.#options;
    const found = await readTerminals(server);
    const kept = new Set(found.map(({ pane }) => pane));
    for (const session of unfinishedSessions(server, kept)) {
      log.warn("freshell.terminal.unfinished", { session: session.id });
      await server.killSession(session.id).catch(() => undefined);
    }
    for (const stored of found) {
      const { generation, reservedSeq, pane } = stored;
      const terminal = this.#terminalOf(stored, generation, reservedSeq, { cols: 80, rows: 24 });
      if (stored.isOrphan) terminal.place = "orphan";
      terminal.madeFor = stored.madeFor;
      await this.#adopt(terminal, pane);
      await this.#reserve.renew(terminal);
    }
    this.changed();
  }

  /**
   * @param place `unsure`: for a device's pane, unconfirmed until `placed`
   * @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT, CONNECTION_LOST and others
   */
  async create(request: CreateTerminalRequest, place?: "unsure"): Promise<Terminal> {
    this.#requireRoom();
    this.#making += 1;
    try {
      const { server, url, homeDir, programs, nowUnixMs } = this.#options;
      const { mode, shell, title = titleOf(mode, programs), resumeSessionId, cols, rows, pane: madeFor } = request;
      const cwd = await directoryOf(request.cwd, homeDir);
      const identity = { id: newId(), createdAt: nowUnixMs(), mode, shell, cwd, title, resumeSessionId };
      const command = await programOf(identity, programs);
      const size = { cols, rows };
      const [generation, reservedSeq] = [0, RESERVED_OUTPUT_BYTES];
      const isOrphan = place !== undefined;
      const kept = { generation, reservedSeq, isOrphan, madeFor };
      const pane = await makePane(server, { identity, command, size, ...kept, url: url() });
      const terminal = this.#terminalOf(identity, generation, 0, size);
      terminal.madeFor = madeFor;
      terminal.place = place;
      terminal.reservedSeq = reservedSeq;
      await this.#adopt(terminal, pane);
      this.changed();
      return terminal;
    } finally {
      this.#making -= 1;
    }
  }

  /**
   * A new process: same id, program, directory and size.
   * @param madeFor the pane that shows it, if that is known
   * @throws AppError as `create`, NOT_FOUND, INCONSISTENT_STATE
   */
  respawn(terminal: Terminal, madeFor = terminal.madeFor): Promise<void> {
    return terminal.alone(async () => {
      if (!terminal.isRunning) this.#requireRoom();
      const { identity, size, source } = terminal;
      const { server, clock, url, homeDir, programs } = this.#options;
      // Checked before anything is ended.
      await directoryOf(identity.cwd, homeDir);
      const command = await programOf(identity, programs);
      await endTerminal(terminal, server, clock);
      const old = terminal.pane;
      const generation = terminal.generation + 1;
      const reservedSeq = source.outputSeq + PROGRAM_SEAM.length + RESERVED_OUTPUT_BYTES;
      const isOrphan = terminal.place !== undefined;
      const kept = { generation, reservedSeq, isOrphan, madeFor };
      const pane = await makePane(server, { identity, command, size, ...kept, url: url() });
      terminal.madeFor = madeFor;
      source.declareRespawn();
      terminal.generation = generation;
      terminal.reservedSeq = reservedSeq;
      await this.#adopt(terminal, pane);
      if (old !== undefined) await removePane(server, old);
      this.changed();
    });
  }

  /**
   * Ends its program and forgets it; a program that lives on keeps its terminal. Returns the exit code, if known.
   * @throws AppError NOT_FOUND, INCONSISTENT_STATE, CONNECTION_LOST
   */
  async kill(terminal: Terminal): Promise<number | null> {
    terminal.isEnding = true;
    try {
      return await terminal.alone(async () => {
        const { server, clock } = this.#options;
        await endTerminal(terminal, server, clock);
        const { pane, source } = terminal;
        if (pane !== undefined) await removePane(server, pane);
        source.declareExit({});
        this.#forget(terminal);
        return exitCodeOf(source.exit ?? {}) ?? null;
      });
    } finally {
      terminal.isEnding = terminal.isForgotten;
    }
  }

  /** Records whether a device's pane shows it. */
  placed(terminal: Terminal, isShown: boolean): void {
    if (notePlace(this.#options, terminal, isShown)) this.changed();
  }

  /** Sets the size of its screen; the last call wins. @throws AppError INVALID_TARGET, CONNECTION_LOST */
  async resize(terminal: Terminal, size: TerminalSize): Promise<void> {
    const pane = requireRunning(terminal);
    await this.#options.server.resize(pane, size.cols, size.rows);
    terminal.size = size;
  }

  /** Releases terminals; their programs stay. Stores each `outputSeq`, so that it continues without a jump. */
  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#reserve.settle(this.list());
  }

  #terminalOf(identity: TerminalIdentity, generation: number, base: number, size: TerminalSize): Terminal {
    const { log } = this.#options;
    const onListenerError = (error: unknown): void => log.error("freshell.subscriber.failed", { error });
    const source = new TerminalSource({ id: identity.id, epoch: this.#epoch, base, onListenerError });
    const key: PaneId = `%${(this.#keys += 1)}` as PaneId;
    const terminal = new Terminal({ identity, key, source, generation, reservedSeq: base, size });
    this.#terminals.set(identity.id, terminal);
    this.#byKey.set(key, terminal);
    source.subscribe({
      advanced: (_from, to) => {
        terminal.lastActivityAt = this.#options.nowUnixMs();
        this.#reserve.reached(terminal, to);
      },
      gap: () => undefined,
      exited: () => this.#ended(),
      closed: () => undefined,
    });
    return terminal;
  }

  /** Makes this pane the terminal's. Resolves once its program has begun. */
  async #adopt(terminal: Terminal, pane: PaneId): Promise<void> {
    const { server, clock } = this.#options;
    const info = server.findPane(pane);
    terminal.pane = pane;
    terminal.panePid = info?.pid;
    terminal.program = undefined;
    if (info !== undefined) terminal.size = { cols: info.cols, rows: info.rows };
    this.#attach(terminal, pane);
    await begun(terminal, pane, server, clock);
  }

  #attach(terminal: Terminal, pane: PaneId): void {
    const { server } = this.#options;
    try {
      terminal.source.attach(server.output(pane), (error) => {
        if (error.code === "NOT_FOUND") this.#gone(terminal, pane);
        else if (server.status().state !== "closed") terminal.source.declareHole();
      });
    } catch (error) {
      if (error instanceof AppError && error.code === "NOT_FOUND") this.#gone(terminal, pane);
      // Otherwise tmux is being reconnected; `ready` follows.
    }
  }

  /** The pane was closed by somebody: no more output follows. */
  #gone(terminal: Terminal, pane: PaneId): void {
    if (terminal.pane !== pane || terminal.isForgotten) return;
    terminal.pane = undefined;
    terminal.source.detach();
    terminal.source.declareExit({});
    this.changed();
  }

  #serverEvent(event: ServerEvent): void {
    if (event.kind === "state" && event.state === "ready") this.#reconnected();
    if (event.kind !== "pane-closed" && event.kind !== "pane-resized") return;
    const terminal = this.list().find(({ pane }) => pane === event.pane);
    if (terminal === undefined) return;
    if (event.kind === "pane-closed") this.#gone(terminal, event.pane);
    else terminal.size = { cols: event.cols, rows: event.rows };
  }

  #reconnected(): void {
    const { identity } = this.#options.server.status();
    const isSame = identity === this.#identity;
    this.#identity = identity;
    for (const terminal of this.list()) {
      const { pane, source } = terminal;
      if (pane === undefined || source.isAttached) continue;
      // On another server the same id is another pane.
      if (isSame) this.#attach(terminal, pane);
      else this.#gone(terminal, pane);
    }
  }

  /** @throws AppError RESOURCE_LIMIT */
  #requireRoom(): void {
    const { maxTerminals } = this.#options;
    const running = this.list().filter(({ isRunning }) => isRunning).length;
    if (running + this.#making >= maxTerminals) throw tooManyTerminals(maxTerminals);
  }

  #ended(): void {
    const ended = this.list().filter(({ isRunning }) => !isRunning);
    for (const terminal of ended.slice(0, Math.max(0, ended.length - MAX_ENDED_TERMINALS))) {
      void this.kill(terminal).catch((error: unknown) => this.#options.log.warn("freshell.forget.failed", { error }));
    }
    this.changed();
  }

  #forget(terminal: Terminal): void {
    terminal.isForgotten = true;
    this.#terminals.delete(terminal.id);
    this.#byKey.delete(terminal.key);
    terminal.source.close(unknownTerminal());
    this.changed();
  }
}

/**
 * An upper bound of `outputSeq` is stored in a pane option in advance, in large steps: a daemon that is killed cannot store
 * its position, and the next one continues from the bound. So `outputSeq` never decreases.
 */
class OutputReserve {
  readonly #server: PaneUserOptions;
  readonly #log: Log;

  constructor(server: PaneUserOptions, log: Log) {
    this.#server = server;
    this.#log = log;
  }

  /** The terminal's output has reached this position. */
  reached(terminal: Terminal, outputSeq: number): void {
    if (outputSeq > terminal.reservedSeq - RESERVED_OUTPUT_BYTES / 2) void this.renew(terminal);
  }

  async renew(terminal: Terminal): Promise<void> {
    const { pane, source, reservedSeq: before } = terminal;
    if (pane === undefined) return;
    const reserved = source.outputSeq + RESERVED_OUTPUT_BYTES;
    terminal.reservedSeq = reserved;
    try {
      await this.#server.setPaneUserOption(pane, SEQ_OPTION, String(reserved));
    } catch (error) {
      // The next output tries again.
      if (terminal.reservedSeq === reserved) terminal.reservedSeq = before;
      this.#log.debug("freshell.reserve.failed", { error });
    }
  }

  /** Their output has ended here for us: the next daemon continues without a jump. */
  async settle(terminals: readonly Terminal[]): Promise<void> {
    const note = async ({ pane, source }: Terminal): Promise<void> => {
      if (pane !== undefined) await this.#server.setPaneUserOption(pane, SEQ_OPTION, String(source.outputSeq + 1));
    };
    await Promise.allSettled(terminals.map(note));
  }
}
