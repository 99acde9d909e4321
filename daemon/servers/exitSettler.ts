/**
 * A pane is dead when its terminal is closed; tmux learns from SIGCHLD, mostly a moment later, how its program ended.
 * Sometimes tmux 3.3a misses that signal, and the program stays a zombie until another one ends (docs/tmuxFacts.md 39).
 * Sending tmux SIGCHLD makes it check, and has no other effect; if we cannot send it, we make tmux start a program that ends
 * at once. Then we list again, at once, then less and less often, and after that with every heartbeat.
 */
import type { HostProcesses } from "../host/hostProcesses.ts";
import type { Clock, Timer } from "../time/clock.ts";

const PROBE_AFTER_MS = [1, 5, 25, 125, 625];
/** After this many probes without result, tmux is made to start a program. */
const PROBES_BEFORE_PROGRAM = 3;

interface ExitSettlerOptions {
  readonly clock: Clock;
  readonly processes: HostProcesses;
  /** The tmux server's pid; undefined while it is unknown or does not respond. */
  readonly serverPid: () => number | undefined;
  /** Makes tmux start a program that ends at once. */
  readonly startProgram: () => void;
  /** Asks tmux which panes are dead, and calls `found` with the reply. */
  readonly probe: () => void;
}

export class ExitSettler {
  readonly #options: ExitSettlerOptions;
  #unsettled = 0;
  #tries = 0;
  #timer: Timer | undefined;

  constructor(options: ExitSettlerOptions) {
    this.#options = options;
  }

  /** Call when a program has ended. */
  probe(): void {
    this.#tries = 0;
    this.#options.probe();
  }

  /** Call with each heartbeat. */
  heartbeat(): void {
    if (this.#unsettled > 0) this.#options.probe();
  }

  /** @param unsettled the number of dead panes for which tmux does not know yet how the program ended */
  found(unsettled: number): void {
    this.#unsettled = unsettled;
    if (unsettled === 0) return;
    this.#remind();
    const { clock, probe } = this.#options;
    const delayMs = PROBE_AFTER_MS[this.#tries];
    if (delayMs === undefined) return;
    this.#tries += 1;
    this.#timer?.cancel();
    this.#timer = clock.callAt(clock.nowMs() + delayMs, probe);
  }

  /** Makes tmux ask the kernel which programs have ended. */
  #remind(): void {
    const { serverPid, processes, startProgram } = this.#options;
    const pid = serverPid();
    if (pid === undefined) return;
    // False if the process has just gone, or belongs to another user or machine.
    const isSent = processes.signal(pid, "SIGCHLD") === true;
    if (!isSent && this.#tries === PROBES_BEFORE_PROGRAM) startProgram();
  }

  /** Call when the panes no longer exist. Safe to call twice. */
  clear(): void {
    this.#timer?.cancel();
    this.#unsettled = 0;
  }
}
