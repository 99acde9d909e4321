/**
 * A connection to a host that forwards its daemon to a unix socket of ours: one short session asks the host for its daemon, and
 * the forwarding is added to the master. Forwarded connections are no sessions, so a host that allows one session is enough.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { within } from "../../daemon/time/within.ts";
import { type AppError, ERROR_SURFACES } from "../../protocol/errors.ts";
import { unixFetch } from "../serving/unixFetch.ts";
import { cancelArguments, forwardArguments, hostInfoCommandLine } from "./sshArguments.ts";
import { forwardFailure, hostInfoOf, OPEN_FAILED, type ReachedHost } from "./sshFailure.ts";
import { connectedInTime, type SshMaster, type SshMasterOptions, startMaster, TEXT_WITHIN_MS } from "./sshMaster.ts";

const UNAUTHORIZED = ERROR_SURFACES.UNAUTHORIZED.httpStatus;

export interface SshConnectionOptions extends SshMasterOptions {
  /** tmuxwire on the host, if it is not on the PATH there; without a daemon there: tmux. */
  readonly program?: string | undefined;
}

/** What a link needs of its connection. */
export interface LinkedHost {
  /** What was found there; null if unknown. Foreign text. */
  readonly host: { readonly version: string | null; readonly tmux: string | null };
  /** Asks the host whether it responds, to us. @throws AppError DAEMON_UNREACHABLE; the signal's reason when it aborts */
  ask(signal?: AbortSignal): Promise<void>;
  /** Ends ssh and removes its files. Safe to call twice. */
  close(): Promise<void>;
}

export interface HostConnection extends LinkedHost {
  /** Its token is a secret. */
  readonly host: ReachedHost;
  /** Leads to the daemon's unix socket. */
  readonly socketPath: string;
}

/**
 * @param onLost called once if ssh ends by itself later; the sockets are gone then
 * @throws AppError DAEMON_UNREACHABLE with `details.state`, INVALID_ARGUMENT, CONFIGURATION_INVALID; the signal's reason
 */
export async function openSsh(
  options: SshConnectionOptions,
  onLost: (error: AppError) => void,
  signal: AbortSignal,
): Promise<HostConnection> {
  const socketPath = join(options.directory, "daemon.sock");
  const removeSocket = (): void => rmSync(socketPath, { force: true });
  const lost = (error: AppError): void => {
    removeSocket();
    onLost(error);
  };
  const master = await startMaster(options, lost, signal);
  removeSocket();
  const ssh = new SshConnection(options, master, socketPath);
  try {
    const host = await connectedInTime(options, signal, () => ssh.connect());
    return { host, socketPath, ask: (asking) => ssh.ask(asking), close: () => ssh.close() };
  } catch (error) {
    await ssh.close();
    throw error;
  }
}

class SshConnection {
  readonly #options: SshConnectionOptions;
  readonly #master: SshMaster;
  readonly #socketPath: string;
  readonly #fetch: ReturnType<typeof unixFetch>;
  /** As it was found last. */
  #token = "";
  /** Takes the forwarding back from a person's connection. */
  #takeBack: readonly string[] | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SshConnectionOptions, master: SshMaster, socketPath: string) {
    this.#options = options;
    this.#master = master;
    this.#socketPath = socketPath;
    this.#fetch = unixFetch(socketPath);
  }

  /** @throws AppError DAEMON_UNREACHABLE */
  async connect(): Promise<ReachedHost> {
    const options = this.#options;
    const master = this.#master;
    await master.connected();
    const found = await this.#find();
    const way = [master.controlPath, this.#socketPath, found.socketPath] as const;
    if (master.isLoggedIn) {
      this.#takeBack = cancelArguments(...way);
      // That of an earlier link, whose socket is gone.
      await master.run(this.#takeBack);
    }
    const forwarded = await master.run(forwardArguments(...way));
    master.requireRunning();
    if (forwarded.code !== 0) throw forwardFailure(options, forwarded.stderr);
    // Its daemon may have ended since it was found; that a second one does, too, is not believed.
    const host = (await this.#takes()) ? found : await this.#find();
    if (host !== found && !(await this.#takes())) throw forwardFailure(options, master.printed);
    master.opened();
    return host;
  }

  async ask(signal?: AbortSignal): Promise<void> {
    try {
      const headers = { authorization: `Bearer ${this.#token}` };
      const asked = { headers, ...(signal === undefined ? {} : { signal }) };
      const response = await this.#fetch("http://localhost/v1/daemon", asked);
      await response.text();
      if (response.status === UNAUTHORIZED) throw new Error("it has another token by now");
    } catch (error) {
      signal?.throwIfAborted();
      throw forwardFailure(this.#options, (error as Error).message);
    }
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#end());
  }

  /** Has the host start its daemon, unless it runs. */
  async #find(): Promise<ReachedHost> {
    const line = hostInfoCommandLine(this.#options.program ?? "tmuxwire");
    const found = hostInfoOf(this.#options, await this.#master.command(line));
    this.#token = found.token;
    return found;
  }

  /** Whether a connection gets through to the daemon. */
  async #takes(): Promise<boolean> {
    const master = this.#master;
    try {
      await this.ask();
      return true;
    } catch {
      await within<void>(this.#options.clock, TEXT_WITHIN_MS, undefined, (done) =>
        master.watch(() => (OPEN_FAILED.test(master.printed) || master.hasEnded) && done()),
      );
      master.requireRunning();
      return false;
    }
  }

  async #end(): Promise<void> {
    const master = this.#master;
    if (this.#takeBack !== undefined && !master.hasEnded) await master.run(this.#takeBack);
    await master.end();
    rmSync(this.#options.directory, { recursive: true, force: true });
  }
}
