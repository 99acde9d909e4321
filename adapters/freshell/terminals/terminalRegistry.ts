/**
 * All terminals: panes of an owned server with our options. The registry restores those of an earlier daemon, creates new ones,
 * respawns programs, and forgets those that are killed. A pane's state is what tmux says; the registry only maps terminals to
 * panes.
 */
import { randomBytes } from "node:crypto";
import type { Surroundings } from "../../../daemon/ops/log.ts";
import { Feeds } from "../../../daemon/panes/feeds.ts";
import type { FeedServer } from "../../../daemon/panes/paneFeed.ts";
import type { ServerEvent } from "../../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { type LayoutSnapshot, leavesOf } from "../../../protocol/api/freshell/deviceLayout.ts";
import type { CreateTerminalRequest, MadeFor } from "../../../protocol/api/freshell/freshellHttp.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { MAX_ENDED_TERMINALS, RESERVED_OUTPUT_BYTES } from "../freshellLimits.ts";
import { newId } from "../newId.ts";
import { endTerminal } from "./endProgram.ts";
import { shellStatusOf } from "../../../daemon/tmux/outputSource.ts";
import { Terminal, type TerminalIdentity, type TerminalSize, unknownTerminal } from "./terminal.ts";
import {
  begun,
  makePane,
  ORPHAN_OPTION,
  readTerminals,
  removePane,
  SEQ_OPTION,
  unfinishedSessions,
} from "./terminalPanes.ts";
import { directoryOf, type ProgramInputs, programOf, titleOf } from "./terminalPrograms.ts";
import { TerminalSource } from "./terminalSource.ts";

export interface TerminalRegistryOptions extends Surroundings {
  readonly server: TmuxServer;
  readonly programs: ProgramInputs;
  readonly homeDir: string;
  readonly maxTerminals: number;
  /** For `FRESHELL_URL`: known once there is a listener. */
  readonly url: () => string;
}

export class TerminalRegistry {
  /** Terminals as panes, by their keys. */
  readonly feeds: Feeds;
  readonly #options: TerminalRegistryOptions;
  readonly #terminals = new Map<string, Terminal>();
  readonly #byKey = new Map<PaneId, Terminal>();
  readonly #listeners = new Set<() => void>();
  readonly #epoch = randomBytes(6).toString("hex");
  readonly #onError: (error: unknown) => void;
  readonly #unsubscribe: () => void;
  #identity: string | undefined;
  #keys = 0;
  /** Number being created. */
  #coming = 0;

  constructor(options: TerminalRegistryOptions) {
    const { server, clock, log } = options;
    this.#options = options;
    this.#onError = (error) => log.error("freshell.subscriber.failed", { error });
    this.feeds = new Feeds({ server: this.#asPanes(), clock, onError: this.#onError });
    this.#identity = server.status().identity;
    this.#unsubscribe = server.subscribe((event) => this.#serverEvent(event));
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
    return required(this.#terminals.get(id));
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
    for (const session of unfinishedSessions(server, new Set(found.map(({ pane }) => pane)))) {
      log.warn("freshell.terminal.unfinished", { session: session.id });
      await server.killSession(session.id).catch(() => undefined);
    }
    for (const { pane, generation, reservedSeq, isOrphan, madeFor, ...identity } of found) {
      const terminal = this.#terminalOf(identity, { cols: 80, rows: 24 }, reservedSeq);
      Object.assign(terminal, { generation, reservedSeq, madeFor, place: isOrphan ? "orphan" : undefined });
      await this.#adopt(terminal, pane);
      await this.#reserve(terminal);
    }
    this.changed();
  }

  /**
   * @param place `unsure`: for a device's pane, unconfirmed until `placed`
   * @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT, CONNECTION_LOST and others
   */
  async create(request: CreateTerminalRequest, place?: "unsure"): Promise<Terminal> {
    this.#requireRoom();
    this.#coming += 1;
    try {
      const { homeDir, programs, nowUnixMs } = this.#options;
      const { mode, shell, title = titleOf(mode, programs), resumeSessionId, cols, rows } = request;
      const cwd = await directoryOf(request.cwd, homeDir);
      const identity = { id: newId(), createdAt: nowUnixMs(), mode, shell, cwd, title, resumeSessionId };
      const command = await programOf(identity, programs);
      const terminal = this.#terminalOf(identity, { cols, rows }, 0);
      terminal.place = place;
      await this.#adopt(terminal, await this.#begin(terminal, command, request.pane));
      this.changed();
      return terminal;
    } finally {
      this.#coming -= 1;
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
      const { server, clock, homeDir, programs } = this.#options;
      // Checked before anything is ended.
      await directoryOf(terminal.identity.cwd, homeDir);
      const command = await programOf(terminal.identity, programs);
      await endTerminal(terminal, server, clock);
      const old = terminal.pane;
      const pane = await this.#begin(terminal, command, madeFor);
      terminal.source.declareRespawn();
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
        return shellStatusOf(source.exit) ?? null;
      });
    } finally {
      terminal.isEnding = terminal.isForgotten;
    }
  }

  /** Records whether a device's pane shows it; the pane option follows asynchronously. */
  placed(terminal: Terminal, isShown: boolean): void {
    const { server, log } = this.#options;
    const { place: before, pane } = terminal;
    terminal.place = isShown ? undefined : "orphan";
    if (before === terminal.place) return;
    if (isShown && pane !== undefined) {
      const unmarked = server.setPaneUserOption(pane, ORPHAN_OPTION, undefined);
      unmarked.catch((error: unknown) => log.debug("freshell.orphan.unmarked", { error }));
    }
    this.changed();
  }

  /** A device has published its layout: the terminals in it are placed. */
  shownIn({ layouts }: LayoutSnapshot): void {
    const orphans = this.list().filter(({ place }) => place === "orphan");
    if (orphans.length === 0) return;
    const contents = Object.values(layouts).flatMap((tree) => leavesOf(tree).map(({ content }) => content));
    const ids = new Set(contents.map((content) => (content.kind === "terminal" ? content.terminalId : undefined)));
    for (const orphan of orphans) if (ids.has(orphan.id)) this.placed(orphan, true);
  }

  /** Releases terminals; their programs stay. Stores each `outputSeq`, so that the next daemon continues without a jump. */
  async close(): Promise<void> {
    this.#unsubscribe();
    const { server } = this.#options;
    const store = async ({ pane, source }: Terminal): Promise<void> => {
      if (pane !== undefined) await server.setPaneUserOption(pane, SEQ_OPTION, String(source.outputSeq + 1));
    };
    await Promise.allSettled(this.list().map(store));
  }

  /** A terminal keeps its key when its pane changes, and outlives a connection: its stream continues after a gap. */
  #asPanes(): FeedServer {
    const { server } = this.#options;
    const named = (key: PaneId): Terminal => required(this.#byKey.get(key));
    return {
      status: () => ({ state: server.status().state === "closed" ? "closed" : "ready" }),
      output: (key) => named(key).source,
      findPane: (key) => {
        const terminal = this.#byKey.get(key);
        return terminal === undefined ? undefined : { ...terminal.size, exit: terminal.source.exit };
      },
      snapshot: async (key) => named(key).snapshot(),
      // Not of sizes: pages redraw their own screens.
      subscribe: (listener) =>
        server.subscribe((event) => {
          if (event.kind === "state") listener(event);
        }),
    };
  }

  /** @param base where its output begins: 0, or past everything reported before a restart */
  #terminalOf(identity: TerminalIdentity, size: TerminalSize, base: number): Terminal {
    const { server, nowUnixMs } = this.#options;
    const source = new TerminalSource({ id: identity.id, epoch: this.#epoch, base, onListenerError: this.#onError });
    const terminal = new Terminal(server, { identity, key: `%${(this.#keys += 1)}` as PaneId, source, size });
    source.subscribe({
      advanced: (_from, to) => {
        terminal.lastActivityAt = nowUnixMs();
        if (to > terminal.reservedSeq - RESERVED_OUTPUT_BYTES / 2) void this.#reserve(terminal);
      },
      gap: () => undefined,
      exited: () => this.#ended(),
      closed: () => undefined,
    });
    return terminal;
  }

  /** Starts the program in a new pane, which is marked as the terminal's from the beginning. */
  async #begin(terminal: Terminal, command: readonly string[], madeFor: MadeFor | undefined): Promise<PaneId> {
    const { server, url } = this.#options;
    const { identity, size, source, place } = terminal;
    const marks = {
      generation: terminal.generation + 1,
      reservedSeq: source.outputSeq + RESERVED_OUTPUT_BYTES,
      isOrphan: place !== undefined,
      madeFor,
    };
    const pane = await makePane(server, { ...identity, ...marks }, { command, size, url: url() });
    Object.assign(terminal, { generation: marks.generation, reservedSeq: marks.reservedSeq, madeFor });
    return pane;
  }

  /** Makes this pane the terminal's. Resolves once its program has begun. */
  async #adopt(terminal: Terminal, pane: PaneId): Promise<void> {
    const { server, clock } = this.#options;
    const info = server.findPane(pane);
    this.#terminals.set(terminal.id, terminal);
    this.#byKey.set(terminal.key, terminal);
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

  /**
   * Stores an upper bound of `outputSeq` in a pane option in advance, in large steps: a daemon that is killed cannot store its
   * position, and the next one continues from the bound. So `outputSeq` never decreases.
   */
  async #reserve(terminal: Terminal): Promise<void> {
    const { server, log } = this.#options;
    const { pane, source, reservedSeq: before } = terminal;
    if (pane === undefined) return;
    const reserved = source.outputSeq + RESERVED_OUTPUT_BYTES;
    terminal.reservedSeq = reserved;
    try {
      await server.setPaneUserOption(pane, SEQ_OPTION, String(reserved));
    } catch (error) {
      // The next output tries again.
      if (terminal.reservedSeq === reserved) terminal.reservedSeq = before;
      log.debug("freshell.reserve.failed", { error });
    }
  }

  /** @throws AppError RESOURCE_LIMIT */
  #requireRoom(): void {
    const { maxTerminals: max } = this.#options;
    const running = this.list().filter(({ isRunning }) => isRunning).length;
    if (running + this.#coming < max) return;
    throw new AppError("RESOURCE_LIMIT", `there are ${max} terminals already (MAX_TERMINALS); kill one first`, {
      details: { limit: "MAX_TERMINALS", max },
    });
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

function required(terminal: Terminal | undefined): Terminal {
  if (terminal === undefined) throw unknownTerminal();
  return terminal;
}
