/**
 * One ssh process that forwards a host's daemon to a unix socket of ours. It is the master of a control socket in a directory
 * that only we can enter; through that, one short session asks the host for its daemon, and the forwarding is added. Forwarded
 * connections are no sessions, so a host that allows one session is enough. ssh ends with our process (`groupedProgram`).
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type GroupedProgram, startGroupedProgram } from "../../daemon/host/groupedProgram.ts";
import { runProgram } from "../../daemon/host/runProgram.ts";
import { agentEnvironment } from "../../daemon/ops/environment.ts";
import { prepareSocketPath } from "../../daemon/servers/socketPath.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { untilAborted, within } from "../../daemon/time/within.ts";
import { AppError } from "../../protocol/errors.ts";
import { unixFetch } from "../serving/unixFetch.ts";
import {
  alongArguments,
  cancelArguments,
  checkArguments,
  commandArguments,
  CONNECTED,
  exitArguments,
  forwardArguments,
  hostInfoCommandLine,
  masterArguments,
  type SshDestination,
} from "./sshArguments.ts";
import {
  type CommandEnd,
  connectFailure,
  forwardFailure,
  hostInfoOf,
  lostConnection,
  type NamedHost,
  OPEN_FAILED,
  type ReachedHost,
} from "./sshFailure.ts";

/** A key may want a touch, and the way may lead through other hosts. */
const CONNECT_WITHIN_MS = 60_000;
/** More than a daemon's start takes (`autostart`). */
const COMMAND_WITHIN_MS = 30_000;
const MAX_PRINTED_BYTES = 65_536;
/** ssh ends at once, unless it is stopped. */
const END_WITHIN_MS = 2_000;
/** Text of ssh's may arrive after what it is about. */
const TEXT_WITHIN_MS = 1_000;
/** ssh binds its control socket under a longer name at first (mux.c). */
const WHILE_BINDING = ".0123456789abcdef";

export interface SshConnectionOptions extends NamedHost, SshDestination {
  /** tmuxwire on the host, if it is not on the PATH there. */
  readonly program?: string | undefined;
  /** For this host alone; created if missing, and removed by `close`. */
  readonly directory: string;
  /** Where a person's login listens, if there is one. */
  readonly loginPath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** What a link needs of its connection. */
export interface HostConnection {
  readonly host: ReachedHost;
  /** Leads to the daemon's unix socket. */
  readonly socketPath: string;
  /** Asks the daemon whether it responds. @throws AppError DAEMON_UNREACHABLE; the signal's reason when it aborts */
  ask(signal?: AbortSignal): Promise<void>;
  /** Ends ssh and removes its files. Safe to call twice. */
  close(): Promise<void>;
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
  const { directory, clock } = options;
  // Nobody is asked for anything, by ssh or by another that the way leads through; `LocalCommand` wants a shell that is one.
  const env = { ...agentEnvironment(options.env, []), SHELL: "/bin/sh", SSH_ASKPASS_REQUIRE: "never" };
  const controlPath = join(directory, "ctl");
  if (/[:%$\\]/.test(controlPath)) {
    throw new AppError("CONFIGURATION_INVALID", `ssh cannot use ${directory}: choose a path without :, %, $ and \\`);
  }
  prepareSocketPath(controlPath + WHILE_BINDING);
  // Of a daemon that was killed together with the guard of its ssh.
  if (existsSync(controlPath)) await runSsh(exitArguments(controlPath), env);
  const isLoggedIn = await hasLogin(options.loginPath, env);
  signal.throwIfAborted();
  const through = { controlPath: isLoggedIn ? options.loginPath : controlPath, isLoggedIn };
  const ssh = new SshConnection(options, env, through, onLost);
  const late = new AbortController();
  const timer = clock.callAt(clock.nowMs() + CONNECT_WITHIN_MS, () => {
    late.abort(connectFailure(options, undefined, `no connection within ${CONNECT_WITHIN_MS / 1_000} s`));
  });
  try {
    const host = await untilAborted<ReachedHost>(AbortSignal.any([late.signal, signal]), (resolve, reject) => {
      ssh.connect().then(resolve, reject);
      return () => undefined;
    });
    return { host, socketPath: ssh.socketPath, ask: (asking) => ssh.ask(asking), close: () => ssh.close() };
  } catch (error) {
    await ssh.close();
    throw error;
  } finally {
    timer.cancel();
  }
}

/** One that has ended leaves its socket. */
async function hasLogin(loginPath: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  if (!existsSync(loginPath)) return false;
  const { code } = await runSsh(checkArguments(loginPath), env);
  if (code !== 0) rmSync(loginPath, { force: true });
  return code === 0;
}

/** Ends a person's login. */
export async function endLogin({ loginPath, env }: Pick<SshConnectionOptions, "loginPath" | "env">): Promise<void> {
  if (!existsSync(loginPath)) return;
  await runSsh(exitArguments(loginPath), agentEnvironment(env, []));
  rmSync(loginPath, { force: true });
}

/** Lasts no longer than the master does. */
async function runSsh(args: readonly string[], env: Readonly<Record<string, string>>): Promise<CommandEnd> {
  const limits = { timeoutMs: COMMAND_WITHIN_MS, maxBytes: MAX_PRINTED_BYTES };
  const { failure, stdout } = await runProgram("ssh", args, env, limits);
  if (failure === undefined) return { code: 0, stdout, stderr: "" };
  // Its first line is the command's.
  return { code: failure.code, stdout, stderr: failure.message.slice(failure.message.indexOf("\n") + 1) };
}

class SshConnection {
  readonly #options: SshConnectionOptions;
  readonly #env: Readonly<Record<string, string>>;
  readonly #controlPath: string;
  /** The connection is a person's, which this one only uses. */
  readonly #isLoggedIn: boolean;
  /** Takes the forwarding back from a person's connection. */
  #takeBack: readonly string[] | undefined;
  readonly socketPath: string;
  readonly #program: GroupedProgram;
  readonly #fetch: ReturnType<typeof unixFetch>;
  #stdout = "";
  #stderr = "";
  #exitCode: number | undefined;
  #hasEnded = false;
  #isOpen = false;
  #closing: Promise<void> | undefined;
  /** How many short ssh are under way. */
  #short = 0;
  /** Called when ssh prints something, and when it has ended. */
  readonly #watchers = new Set<() => void>();

  constructor(
    options: SshConnectionOptions,
    env: Readonly<Record<string, string>>,
    { controlPath, isLoggedIn }: { readonly controlPath: string; readonly isLoggedIn: boolean },
    onLost: (error: AppError) => void,
  ) {
    this.#isLoggedIn = isLoggedIn;
    this.#options = options;
    this.#env = env;
    this.#controlPath = controlPath;
    this.socketPath = join(options.directory, "daemon.sock");
    this.#fetch = unixFetch(this.socketPath);
    this.#removeSockets();
    this.#program = startGroupedProgram({
      file: "ssh",
      args: isLoggedIn ? alongArguments(controlPath) : masterArguments(options, controlPath),
      cwd: "/",
      env,
      hasInput: false,
      onOutput: (chunk) => {
        this.#stdout = newest(this.#stdout, chunk);
        this.#tell();
      },
      onErrors: (chunk) => {
        this.#stderr = newest(this.#stderr, chunk);
        this.#tell();
      },
      onExit: ({ exitCode }) => {
        this.#exitCode = exitCode;
        this.#removeSockets();
        // What is left of the group: the guard, and programs that the connection led through.
        this.#program.signal("SIGKILL");
        // One that left the group may keep ssh's output open.
        void within(options.clock, TEXT_WITHIN_MS, false, (done) =>
          this.#watch(() => this.#hasEnded && done(true)),
        ).then((hasEnded) => hasEnded || this.#program.stopReading());
      },
      onClosed: () => {
        this.#hasEnded = true;
        this.#program.letGo();
        this.#tell();
        if (this.#isOpen && this.#closing === undefined) onLost(lostConnection(options, this.#stderr));
      },
    });
  }

  /** @throws AppError DAEMON_UNREACHABLE */
  async connect(): Promise<ReachedHost> {
    const options = this.#options;
    await this.#until(() => this.#isLoggedIn || this.#stdout.includes(CONNECTED) || this.#hasEnded);
    this.#requireRunning();
    // What it printed until here, a banner for instance, is about nothing that follows.
    this.#stderr = "";
    const found = await this.#find();
    const way = [this.#controlPath, this.socketPath, found.socketPath] as const;
    if (this.#isLoggedIn) {
      this.#takeBack = cancelArguments(...way);
      // That of an earlier link, whose socket is gone.
      await this.#run(this.#takeBack);
    }
    const forwarded = await this.#run(forwardArguments(...way));
    this.#requireRunning();
    if (forwarded.code !== 0) throw forwardFailure(options, forwarded.stderr);
    // Its daemon may have ended since it was found; that a second one does, too, is not believed.
    const host = (await this.#takes()) ? found : await this.#find();
    if (host !== found && !(await this.#takes())) throw forwardFailure(options, this.#stderr);
    this.#isOpen = true;
    return host;
  }

  /** Has the host start its daemon, unless it runs. */
  async #find(): Promise<ReachedHost> {
    const line = hostInfoCommandLine(this.#options.program ?? "tmuxwire");
    const asked = await this.#run(commandArguments(this.#controlPath, line));
    this.#requireRunning();
    return hostInfoOf(this.#options, asked);
  }

  /** Whether a connection gets through to the daemon. */
  async #takes(): Promise<boolean> {
    try {
      await this.ask();
      return true;
    } catch {
      await within<void>(this.#options.clock, TEXT_WITHIN_MS, undefined, (done) =>
        this.#watch(() => (OPEN_FAILED.test(this.#stderr) || this.#hasEnded) && done()),
      );
      this.#requireRunning();
      return false;
    }
  }

  async ask(signal?: AbortSignal): Promise<void> {
    try {
      const response = await this.#fetch("http://localhost/livez", signal === undefined ? {} : { signal });
      await response.text();
    } catch (error) {
      signal?.throwIfAborted();
      throw forwardFailure(this.#options, (error as Error).message);
    }
  }

  async #run(args: readonly string[]): Promise<CommandEnd> {
    this.#short += 1;
    try {
      return await runSsh(args, this.#env);
    } finally {
      this.#short -= 1;
      this.#tell();
    }
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#end());
  }

  async #end(): Promise<void> {
    const { clock, directory } = this.#options;
    if (this.#takeBack !== undefined && !this.#hasEnded) await runSsh(this.#takeBack, this.#env);
    this.#program.signal("SIGTERM");
    await within<void>(clock, END_WITHIN_MS, undefined, (done) => this.#watch(() => this.#hasEnded && done()));
    // Nothing is left of a group that has ended.
    this.#program.signal("SIGKILL");
    await this.#until(() => this.#hasEnded);
    // It ends with its master; through a person's connection it may go on.
    await within<void>(clock, END_WITHIN_MS, undefined, (done) => this.#watch(() => this.#short === 0 && done()));
    rmSync(directory, { recursive: true, force: true });
  }

  #requireRunning(): void {
    if (this.#hasEnded) throw connectFailure(this.#options, this.#exitCode, this.#stderr);
  }

  #removeSockets(): void {
    // A person's socket is theirs.
    for (const path of [this.socketPath, ...(this.#isLoggedIn ? [] : [this.#controlPath])])
      rmSync(path, { force: true });
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher();
  }

  #watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    watcher();
    return () => this.#watchers.delete(watcher);
  }

  #until(holds: () => boolean): Promise<void> {
    return untilAborted<void>(undefined, (resolve) => this.#watch(() => holds() && resolve()));
  }
}

const newest = (kept: string, chunk: Uint8Array): string =>
  (kept + Buffer.from(chunk).toString("utf8")).slice(-MAX_PRINTED_BYTES);
