/**
 * Keeps an owned server's socket file in place. If the file is deleted, programs keep running but nothing new can connect;
 * tmux recreates the file on SIGUSR1 (docs/tmuxFacts.md 5a). Attaching without it would start a new, empty server beside the
 * old one, so nothing is attached before the old server has its socket back.
 */
import { dirname } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import type { Closable, Host } from "../../host/host.ts";
import type { Clock } from "../../time/clock.ts";

/** tmux recreates it when it handles the signal, which can take a while on a busy machine. */
const BACK_WITHIN_MS = 2_000;
const PROBE_AGAIN_MS = 5;

interface SocketKeeperOptions {
  readonly host: Host;
  readonly socketPath: string;
  readonly clock: Clock;
  readonly log: ((event: string, fields: object) => void) | undefined;
}

export class SocketKeeper {
  readonly #options: SocketKeeperOptions;
  #watcher: Closable | undefined;
  #isAttached = false;
  #isProbing = false;
  /** The server that we were attached to last. */
  #serverPid: number | undefined;

  constructor(options: SocketKeeperOptions) {
    this.#options = options;
  }

  /** Call when connected to this server; from now on a deleted file is restored at once. */
  attached(serverPid: number): void {
    this.#serverPid = serverPid;
    this.#isAttached = true;
    this.#watch();
    this.probe();
  }

  detached(): void {
    this.#isAttached = false;
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  /** Checks that the file exists, because the system can run out of watches. */
  probe(): void {
    if (!this.#isAttached || this.#serverPid === undefined || !this.#isMissing || this.#isProbing) return;
    this.#isProbing = true;
    void this.#bringBack(this.#serverPid).finally(() => {
      this.#isProbing = false;
    });
  }

  /** Call before attaching. @throws AppError CONNECTION_LOST if a running server cannot be reached, CONFIGURATION_INVALID */
  async restore(): Promise<void> {
    const { host, socketPath, clock } = this.#options;
    if (!this.#isMissing) return;
    const serverPid = await this.#unreachable();
    if (serverPid === undefined) return;
    this.#options.log?.("socket.restored", { serverPid });
    await this.#askBack(serverPid);
    const deadlineMs = clock.nowMs() + BACK_WITHIN_MS;
    while (this.#isMissing) {
      if (host.processes.isAlive(serverPid) === false) return;
      if (clock.nowMs() >= deadlineMs) throw unreachable(socketPath, serverPid);
      await new Promise<void>((resolve) => clock.callAt(clock.nowMs() + PROBE_AGAIN_MS, resolve));
    }
  }

  get #isMissing(): boolean {
    return this.#options.host.sockets.exists(this.#options.socketPath) === false;
  }

  async #bringBack(serverPid: number): Promise<void> {
    if (!(await this.#isServer(serverPid))) return;
    if (!this.#isAttached || this.#serverPid !== serverPid || !this.#isMissing) return;
    this.#options.log?.("socket.restored", { serverPid });
    try {
      await this.#askBack(serverPid);
    } catch {
      // The directory cannot be created, which attaching will report.
      return;
    }
    // The directory may have been replaced.
    this.#watch();
  }

  /** The pid of a server that listens at the path without its file. */
  async #unreachable(): Promise<number | undefined> {
    const { host, socketPath } = this.#options;
    const known = this.#serverPid;
    const lives = known !== undefined && host.processes.isAlive(known) === true;
    const pid = host.sockets.listenerOf(socketPath) ?? (lives ? known : undefined);
    return pid !== undefined && (await this.#isServer(pid)) ? pid : undefined;
  }

  /** The signal would end any other process. If arguments cannot be read, a server that existed a moment ago counts as one. */
  async #isServer(pid: number): Promise<boolean> {
    const { host, socketPath } = this.#options;
    const processes = await host.processes.probe();
    const words = await processes.words(pid);
    // Some hosts do not report where an argument ends.
    return words === undefined ? !(await processes.isThere()) : ` ${words.join(" ")} `.includes(` ${socketPath} `);
  }

  async #askBack(serverPid: number): Promise<void> {
    const { host, socketPath } = this.#options;
    await host.sockets.prepare(socketPath);
    host.processes.signal(serverPid, "SIGUSR1");
  }

  #watch(): void {
    const { host, socketPath } = this.#options;
    this.#watcher?.close();
    this.#watcher = host.sockets.watch(dirname(socketPath), () => this.probe());
  }
}

const unreachable = (socketPath: string, serverPid: number): AppError =>
  new AppError(
    "CONNECTION_LOST",
    `the tmux server (pid ${serverPid}) has lost its socket ${socketPath} and did not recreate it: run \`kill -USR1 ${serverPid}\``,
  );
