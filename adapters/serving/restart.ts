/**
 * The restart: another program of tmuxwire takes this daemon's place, with its arguments and its environment. It is tried
 * first, so that nothing ends for one that cannot start; then what is being typed comes to its end, then everything of this
 * daemon is closed, and only then the other one starts.
 */
import { rmSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { DeliveryEngine } from "../../daemon/delivery/deliveryEngine.ts";
import { runProgram } from "../../daemon/host/runProgram.ts";
import type { Log } from "../../daemon/ops/log.ts";
import { replacePrivate } from "../../daemon/ops/privateFiles.ts";
import type { NativeRestarting } from "../../protocol/api/native/nativeRestart.ts";
import { AppError, invalidArgument } from "../../protocol/errors.ts";
import { packageVersion } from "./version.ts";

/** What starts a daemon: Node, and the script of the executable. */
interface Program {
  readonly node: string;
  readonly script: string;
}

/** What is absent is this daemon's own, as it is installed now. */
export type ProgramAsked = { readonly [Name in keyof Program]?: string | undefined };

interface RestartOptions {
  /** Of the command line, as it was given: `serve --only native`. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The native API's, where the next daemon will listen. */
  readonly socketPath: string;
  /** The service manager passed the listeners, and only it can pass them again. */
  readonly isActivated: boolean;
  readonly log: Log;
  /** Begins to close everything. @throws AppError SHUTTING_DOWN if that has begun for another reason */
  readonly end: () => void;
}

/** How long a program may take to say whether it can start. */
const TRY_WITHIN_MS = 20_000;

export class Restart {
  readonly #options: RestartOptions;
  #underWay: Promise<NativeRestarting> | undefined;
  #successor: Program | undefined;

  constructor(options: RestartOptions) {
    this.#options = options;
  }

  /** What has been asked to take this process's place once everything is closed. */
  get successor(): Program | undefined {
    return this.#successor;
  }

  /**
   * Resolves when this daemon begins to close. A second request joins the first.
   * @param drainMs how long what is being typed may take; what has not begun by then ends as with any stop
   * @throws AppError INVALID_ARGUMENT, INCONSISTENT_STATE: nothing has ended
   */
  begin(delivery: Pick<DeliveryEngine, "drain">, program: ProgramAsked, drainMs: number): Promise<NativeRestarting> {
    return (this.#underWay ??= this.#begin(delivery, program, drainMs).catch((error: unknown) => {
      this.#underWay = undefined;
      throw error;
    }));
  }

  async #begin(
    delivery: Pick<DeliveryEngine, "drain">,
    { node = process.execPath, script = process.argv[1] ?? "" }: ProgramAsked,
    drainMs: number,
  ): Promise<NativeRestarting> {
    const { isActivated, socketPath, log, end } = this.#options;
    const program = { node, script };
    for (const [name, path] of Object.entries(program)) {
      if (!isAbsolute(path)) throw invalidArgument(`${name}: give an absolute path`);
    }
    const to = await this.#versionOf(program);
    const from = packageVersion();
    log.info("daemon.restarting", { from, to });
    const unfinished = await delivery.drain(drainMs);
    end();
    this.#successor = program;
    try {
      replacePrivate(markOf(socketPath), "");
    } catch (error) {
      // A full disk: somebody may start a daemon before the next one.
      log.warn("daemon.restart.unmarked", { error });
    }
    return { from, to, unfinished, by: isActivated ? "service" : "itself" };
  }

  /** Has it read the settings and the versions of the files. @throws AppError INCONSISTENT_STATE with its own words */
  async #versionOf({ node, script }: Program): Promise<string> {
    const { args, env } = this.#options;
    const { failure, stdout } = await runProgram(node, [script, ...args, "--check"], env, { timeoutMs: TRY_WITHIN_MS });
    const version = CAN_START.exec(stdout)?.[1];
    if (failure === undefined && version !== undefined) return version;
    const said = failure?.message.trim().split("\n").at(-1) ?? "it does not say its version";
    throw new AppError(
      "INCONSISTENT_STATE",
      `${script} cannot take over, and this daemon goes on: ${said.replace(/^tmuxwire: /, "")}`,
      { details: { reason: "successor_failed" } },
    );
  }
}

/** What `serve --check` prints. */
export const canStart = (version: string): string => `tmuxwire ${version} can start\n`;
const CAN_START = /^tmuxwire (\S+) can start$/m;

/** Beside the socket: what starts a daemon where none listens (`startNative`) must not come before the next one. */
const markOf = (socketPath: string): string => `${socketPath}.restarting`;
/** An older mark is of a daemon that never came. */
const MARK_COUNTS_MS = 20_000;

export function isRestarting(socketPath: string): boolean {
  const mark = statSync(markOf(socketPath), { throwIfNoEntry: false });
  return mark !== undefined && Date.now() - mark.mtimeMs < MARK_COUNTS_MS;
}

/** The next daemon listens. */
export const restartIsOver = (socketPath: string): void => rmSync(markOf(socketPath), { force: true });
