/**
 * Keeps the socket of a server of ours where it belongs. When its file is deleted the programs go on and nobody new can
 * reach them; tmux makes it again when its server gets SIGUSR1 (docs/tmuxFacts.md 5a). Whoever attached without it would
 * start a fresh, empty server beside the old one, so nothing is attached before the old one has its socket back.
 */
import { existsSync, type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import { argumentsOf, listenerOf } from "../host/processTable.ts";
import type { Clock } from "../time/clock.ts";
import { isRunning } from "./serverEnd.ts";
import { prepareSocketPath } from "./socketPath.ts";

/** tmux makes it in the turn in which it learns of the signal; a busy machine gives that turn late. */
const BACK_WITHIN_MS = 2_000;
const LOOK_AGAIN_MS = 5;

export interface SocketKeeperOptions {
  readonly socketPath: string;
  readonly clock: Clock;
  readonly log: ((event: string, fields: object) => void) | undefined;
}

export class SocketKeeper {
  readonly #options: SocketKeeperOptions;
  #watcher: FSWatcher | undefined;
  #isAttached = false;
  /** The server that we were attached to last. */
  #serverPid: number | undefined;

  constructor(options: SocketKeeperOptions) {
    this.#options = options;
  }

  /** A connection to this server stands: from now on a deleted file comes back at once. */
  attached(serverPid: number): void {
    this.#serverPid = serverPid;
    this.#isAttached = true;
    this.#watch();
    this.look();
  }

  detached(): void {
    this.#isAttached = false;
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  /** Looks whether the file is there; the watch tells at once, but a machine can have no watches left. */
  look(): void {
    const { socketPath, log } = this.#options;
    if (!this.#isAttached || this.#serverPid === undefined || existsSync(socketPath)) return;
    if (!this.#isServer(this.#serverPid)) return;
    log?.("socket.restored", { serverPid: this.#serverPid });
    try {
      this.#askBack(this.#serverPid);
    } catch {
      // Its directory cannot be made, or the server has just ended: then the connection says so.
      return;
    }
    // The directory may be another than the one that was watched.
    this.#watch();
  }

  /** Before attaching. @throws AppError CONNECTION_LOST when a server lives that nobody can reach, CONFIGURATION_INVALID */
  async restore(): Promise<void> {
    const { socketPath, clock } = this.#options;
    if (existsSync(socketPath)) return;
    const serverPid = this.#unreachable();
    if (serverPid === undefined) return;
    this.#options.log?.("socket.restored", { serverPid });
    this.#askBack(serverPid);
    const deadlineMs = clock.nowMs() + BACK_WITHIN_MS;
    while (!existsSync(socketPath)) {
      if (!isRunning(serverPid)) return;
      if (clock.nowMs() >= deadlineMs) throw unreachable(socketPath, serverPid);
      await new Promise<void>((resolve) => clock.callAt(clock.nowMs() + LOOK_AGAIN_MS, resolve));
    }
  }

  /** The server that listens at the path without its file. */
  #unreachable(): number | undefined {
    const known = this.#serverPid;
    const pid = listenerOf(this.#options.socketPath) ?? (known !== undefined && isRunning(known) ? known : undefined);
    return pid !== undefined && this.#isServer(pid) ? pid : undefined;
  }

  /** Any other process would end of the signal. Where that cannot be seen, a server that was just there is believed. */
  #isServer(pid: number): boolean {
    const words = argumentsOf(pid);
    return words === undefined ? argumentsOf(process.pid) === undefined : words.includes(this.#options.socketPath);
  }

  #askBack(serverPid: number): void {
    prepareSocketPath(this.#options.socketPath);
    process.kill(serverPid, "SIGUSR1");
  }

  #watch(): void {
    this.#watcher?.close();
    try {
      const watcher = watch(dirname(this.#options.socketPath), { persistent: false }, () => this.look());
      watcher.on("error", () => watcher.close());
      this.#watcher = watcher;
    } catch {
      this.#watcher = undefined;
    }
  }
}

const unreachable = (socketPath: string, serverPid: number): AppError =>
  new AppError(
    "CONNECTION_LOST",
    `the tmux server (process ${serverPid}) has lost its socket ${socketPath} and does not make it again: run kill -USR1 ${serverPid}`,
  );
