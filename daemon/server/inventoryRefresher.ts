/**
 * Asks tmux what exists, when a notification says that something changed: at most one listing at a time, and one more
 * when something changed meanwhile. No timer: without a notification nothing is asked.
 */
import { listAllPanes, listAllWindows, listSessions, listWindowPanes } from "../../protocol/command/build.ts";
import {
  decodePaneRows,
  decodeSessionRows,
  decodeWindowLinks,
  paneRowsFormat,
  type PaneRow,
  type SessionRow,
  sessionRowsFormat,
  type WindowLink,
  WINDOW_LINKS_FORMAT,
} from "../../protocol/command/formats.ts";
import { AppError } from "../../protocol/errors.ts";
import type { WindowId } from "../../protocol/ids.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";

/** More changed windows than this are cheaper to list all at once. */
const MAX_SINGLE_WINDOWS = 8;

export interface RefresherOptions {
  readonly connection: () => ControlConnection;
  /** Takes a complete listing; returns the windows whose panes are to be listed besides the changed ones. */
  readonly onTopology: (rows: readonly SessionRow[], links: readonly WindowLink[]) => readonly WindowId[];
  readonly onPanes: (rows: readonly PaneRow[]) => void;
  /** A listing failed; the next change asks again. */
  readonly onError: (error: unknown) => void;
}

export class InventoryRefresher {
  readonly #options: RefresherOptions;
  #topology = false;
  readonly #windows = new Set<WindowId>();
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(options: RefresherOptions) {
    this.#options = options;
  }

  topologyChanged(): void {
    this.#topology = true;
    this.#start();
  }

  windowChanged(window: WindowId): void {
    this.#windows.add(window);
    this.#start();
  }

  /** Resolves after a listing that was asked for after this call. @throws AppError CONNECTION_LOST and others */
  refresh(): Promise<void> {
    this.#topology = true;
    if (this.#running === undefined) {
      this.#running = this.#run();
      return this.#running;
    }
    this.#next ??= this.#running.then(
      () => this.#follow(),
      () => this.#follow(),
    );
    return this.#next;
  }

  #follow(): Promise<void> {
    this.#next = undefined;
    return this.#running ?? this.refresh();
  }

  #start(): void {
    // One turn later: the notifications of one change come together.
    this.#running ??= Promise.resolve().then(() => this.#run());
    this.#running.catch(this.#options.onError);
  }

  async #run(): Promise<void> {
    try {
      const windows = new Set(this.#windows);
      this.#windows.clear();
      if (this.#topology) {
        this.#topology = false;
        for (const window of await this.#listTopology()) windows.add(window);
      }
      if (windows.size > 0) this.#options.onPanes(await this.#listPanes([...windows]));
    } finally {
      this.#running = undefined;
      if (this.#topology || this.#windows.size > 0) this.#start();
    }
  }

  async #listTopology(): Promise<readonly WindowId[]> {
    const connection = this.#options.connection();
    const [sessions, windows] = await Promise.all([
      connection.foreign((nonce) => listSessions(sessionRowsFormat(nonce))),
      connection.command(listAllWindows(WINDOW_LINKS_FORMAT)),
    ]);
    return this.#options.onTopology(decodeSessionRows(sessions.body, sessions.nonce), decodeWindowLinks(windows.body));
  }

  async #listPanes(windows: readonly WindowId[]): Promise<readonly PaneRow[]> {
    const connection = this.#options.connection();
    if (windows.length > MAX_SINGLE_WINDOWS) {
      const { body, nonce } = await connection.foreign((text) => listAllPanes(paneRowsFormat(text)));
      return decodePaneRows(body, nonce);
    }
    const listings = await Promise.all(
      windows.map(async (window) => {
        try {
          const { body, nonce } = await connection.foreign((text) => listWindowPanes(window, paneRowsFormat(text)));
          return decodePaneRows(body, nonce);
        } catch (error) {
          // The window went in between; its own notification follows.
          if (error instanceof AppError && error.code === "TMUX_COMMAND_FAILED") return [];
          throw error;
        }
      }),
    );
    return listings.flat();
  }
}
