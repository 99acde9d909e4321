/**
 * One ssh process that stays connected to a host. It is the master of a control socket in a directory that only we can enter,
 * through which short ssh processes ask it for sessions and forwardings. It ends with our process (`groupedProgram`).
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type GroupedProgram, startGroupedProgram } from "../../daemon/host/groupedProgram.ts";
import { runProgram } from "../../daemon/host/runProgram.ts";
import { agentEnvironment } from "../../daemon/ops/environment.ts";
import { prepareSocketPath } from "../../daemon/host/socketPath.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { untilAborted, within } from "../../daemon/time/within.ts";
import { AppError } from "../../protocol/errors.ts";
import {
  alongArguments,
  checkArguments,
  commandArguments,
  CONNECTED,
  exitArguments,
  masterArguments,
  type SshDestination,
} from "./sshArguments.ts";
import { type CommandEnd, connectFailure, lostConnection, type NamedHost } from "./sshFailure.ts";

/** A key may want a touch, and the way may lead through other hosts. */
const CONNECT_WITHIN_MS = 60_000;
/** More than a daemon's start takes (`autostart`). */
const COMMAND_WITHIN_MS = 30_000;
const MAX_PRINTED_BYTES = 65_536;
/** ssh ends at once, unless it is stopped. */
const END_WITHIN_MS = 2_000;
/** Text of ssh's may arrive after what it is about. */
export const TEXT_WITHIN_MS = 1_000;
/** ssh binds its control socket under a longer name at first (mux.c). */
const WHILE_BINDING = ".0123456789abcdef";

export interface SshMasterOptions extends NamedHost, SshDestination {
  /** For this host alone; created if missing. Whoever opened the master removes it. */
  readonly directory: string;
  /** Where a person's login listens, if there is one. */
  readonly loginPath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/**
 * Begins to connect.
 * @param onLost called once if ssh ends by itself after `opened`
 * @param further another connection beside the first one: the number of its socket, and a person's login is not used
 * @throws AppError CONFIGURATION_INVALID; the signal's reason
 */
export async function startMaster(
  options: SshMasterOptions,
  onLost: (error: AppError) => void,
  signal: AbortSignal,
  further?: number,
): Promise<SshMaster> {
  const { directory } = options;
  // Nobody is asked for anything, by ssh or by another that the way leads through; `LocalCommand` wants a shell that is one.
  const env = { ...agentEnvironment(options.env, []), SHELL: "/bin/sh", SSH_ASKPASS_REQUIRE: "never" };
  const controlPath = join(directory, `ctl${further ?? ""}`);
  if (/[:%$\\]/.test(controlPath)) {
    throw new AppError("CONFIGURATION_INVALID", `ssh cannot use ${directory}: choose a path without :, %, $ and \\`);
  }
  prepareSocketPath(controlPath + WHILE_BINDING);
  // Of a daemon that was killed together with the guard of its ssh.
  if (existsSync(controlPath)) await runSsh(exitArguments(controlPath), env);
  const isLoggedIn = further === undefined && (await hasLogin(options));
  signal.throwIfAborted();
  return new SshMaster(options, env, { controlPath: isLoggedIn ? options.loginPath : controlPath, isLoggedIn }, onLost);
}

/** `connect`'s outcome, unless that takes too long. @throws AppError DAEMON_UNREACHABLE; the signal's reason */
export async function connectedInTime<T>(
  options: SshMasterOptions,
  signal: AbortSignal,
  connect: () => Promise<T>,
): Promise<T> {
  const { clock } = options;
  const late = new AbortController();
  const timer = clock.callAt(clock.nowMs() + CONNECT_WITHIN_MS, () => {
    late.abort(connectFailure(options, undefined, `no connection within ${CONNECT_WITHIN_MS / 1_000} s`));
  });
  try {
    return await untilAborted<T>(AbortSignal.any([late.signal, signal]), (resolve, reject) => {
      connect().then(resolve, reject);
      return () => undefined;
    });
  } finally {
    timer.cancel();
  }
}

type Login = Pick<SshMasterOptions, "loginPath" | "env">;

/** Whether a person's login lasts. One that has ended leaves its socket. */
export async function hasLogin({ loginPath, env }: Login): Promise<boolean> {
  if (!existsSync(loginPath)) return false;
  const { code } = await runSsh(checkArguments(loginPath), agentEnvironment(env, []));
  if (code !== 0) rmSync(loginPath, { force: true });
  return code === 0;
}

/** Ends a person's login. */
export async function endLogin({ loginPath, env }: Login): Promise<void> {
  if (!existsSync(loginPath)) return;
  await runSsh(exitArguments(loginPath), agentEnvironment(env, []));
  rmSync(loginPath, { force: true });
}

/** Lasts no longer than the master does. */
async function runSsh(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  timeoutMs = COMMAND_WITHIN_MS,
): Promise<CommandEnd> {
  const { failure, stdout } = await runProgram("ssh", args, env, { timeoutMs, maxBytes: MAX_PRINTED_BYTES });
  if (failure === undefined) return { code: 0, stdout, stderr: "" };
  // Its first line is the command's.
  return { code: failure.code, stdout, stderr: failure.message.slice(failure.message.indexOf("\n") + 1) };
}

export class SshMaster {
  readonly controlPath: string;
  /** The connection is a person's, which this one only uses. */
  readonly isLoggedIn: boolean;
  readonly env: Readonly<Record<string, string>>;
  readonly #options: SshMasterOptions;
  readonly #program: GroupedProgram;
  #stdout = "";
  #stderr = "";
  #exitCode: number | undefined;
  #hasEnded = false;
  #isOpen = false;
  #ending: Promise<void> | undefined;
  /** How many short ssh are under way. */
  #short = 0;
  /** Called when ssh prints something, and when it has ended. */
  readonly #watchers = new Set<() => void>();

  constructor(
    options: SshMasterOptions,
    env: Readonly<Record<string, string>>,
    { controlPath, isLoggedIn }: { readonly controlPath: string; readonly isLoggedIn: boolean },
    onLost: (error: AppError) => void,
  ) {
    this.#options = options;
    this.controlPath = controlPath;
    this.isLoggedIn = isLoggedIn;
    this.env = env;
    this.#removeSocket();
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
        this.#removeSocket();
        // What is left of the group: the guard, and programs that the connection led through.
        this.#program.signal("SIGKILL");
        // One that left the group may keep ssh's output open.
        void within(options.clock, TEXT_WITHIN_MS, false, (done) =>
          this.watch(() => this.#hasEnded && done(true)),
        ).then((hasEnded) => hasEnded || this.#program.stopReading());
      },
      onClosed: () => {
        this.#hasEnded = true;
        this.#program.letGo();
        this.#tell();
        if (this.#isOpen && this.#ending === undefined) onLost(lostConnection(options, this.#stderr));
      },
    });
  }

  /** What it printed about what it does, since it connected. */
  get printed(): string {
    return this.#stderr;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves once it is connected. @throws AppError DAEMON_UNREACHABLE */
  async connected(): Promise<void> {
    await this.#until(() => this.isLoggedIn || this.#stdout.includes(CONNECTED) || this.#hasEnded);
    this.requireRunning();
    // What it printed until here, a banner for instance, is about nothing that follows.
    this.#stderr = "";
  }

  /** From now on its end is a loss. */
  opened(): void {
    this.#isOpen = true;
  }

  /** Runs a line in a session of its own. @throws AppError DAEMON_UNREACHABLE */
  async command(line: string, timeoutMs?: number): Promise<CommandEnd> {
    const end = await this.run(commandArguments(this.controlPath, line), timeoutMs);
    this.requireRunning();
    return end;
  }

  /** A short ssh with these arguments. */
  async run(args: readonly string[], timeoutMs?: number): Promise<CommandEnd> {
    this.#short += 1;
    try {
      return await runSsh(args, this.env, timeoutMs);
    } finally {
      this.#short -= 1;
      this.#tell();
    }
  }

  /** @throws AppError DAEMON_UNREACHABLE if it has ended */
  requireRunning(): void {
    if (this.#hasEnded) throw connectFailure(this.#options, this.#exitCode, this.#stderr);
  }

  /** Calls it now, and whenever ssh has printed something or ended. Returns the end of that. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    watcher();
    return () => this.#watchers.delete(watcher);
  }

  /** Ends ssh. Safe to call twice. */
  end(): Promise<void> {
    return (this.#ending ??= this.#end());
  }

  async #end(): Promise<void> {
    const { clock } = this.#options;
    this.#program.signal("SIGTERM");
    await within<void>(clock, END_WITHIN_MS, undefined, (done) => this.watch(() => this.#hasEnded && done()));
    // Nothing is left of a group that has ended.
    this.#program.signal("SIGKILL");
    await this.#until(() => this.#hasEnded);
    // It ends with its master; through a person's connection it may go on.
    await within<void>(clock, END_WITHIN_MS, undefined, (done) => this.watch(() => this.#short === 0 && done()));
  }

  #removeSocket(): void {
    // A person's socket is theirs.
    if (!this.isLoggedIn) rmSync(this.controlPath, { force: true });
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher();
  }

  #until(holds: () => boolean): Promise<void> {
    return untilAborted<void>(undefined, (resolve) => this.watch(() => holds() && resolve()));
  }
}

const newest = (kept: string, chunk: Uint8Array): string =>
  (kept + Buffer.from(chunk).toString("utf8")).slice(-MAX_PRINTED_BYTES);
