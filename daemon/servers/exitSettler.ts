/**
 * A pane is dead when its terminal is closed; tmux learns how its program ended from a signal, mostly a moment later. Now
 * and then tmux 3.3a misses that signal, and the program stays a zombie until another one ends (docs/tmuxFacts.md
 * 39). The same signal from us makes it check, and has no other effect; where we cannot send one, it gets it from
 * a program that it starts and that ends. Then we list again, at once and then less and less often, and after that with
 * every heartbeat.
 */
import type { HostProcesses } from "../host/hostProcesses.ts";
import type { Clock, Timer } from "../time/clock.ts";

const PROBE_AFTER_MS = [1, 5, 25, 125, 625];
/** A program is started for it when tmux has not learned of the end by itself after so many probes. */
const PROBES_BEFORE_PROGRAM = 3;

interface ExitSettlerOptions {
  readonly clock: Clock;
  readonly processes: HostProcesses;
  /** The tmux server's process; undefined while it is not known or does not respond. */
  readonly serverPid: () => number | undefined;
  /** Has tmux start a program that ends at once. */
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

  /** Something has ended. */
  probe(): void {
    this.#tries = 0;
    this.#options.probe();
  }

  /** Some time has passed. */
  beat(): void {
    if (this.#unsettled > 0) this.#options.probe();
  }

  /** The number of dead panes whose programs' ends tmux does not know yet. */
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

  /** Has tmux ask the kernel which programs have ended. */
  #remind(): void {
    const { serverPid, processes, startProgram } = this.#options;
    const pid = serverPid();
    if (pid === undefined) return;
    // A process that has just gone, or is another user's or another machine's, cannot be reached.
    const isSent = processes.signal(pid, "SIGCHLD") === true;
    if (!isSent && this.#tries === PROBES_BEFORE_PROGRAM) startProgram();
  }

  /** What was asked about no longer exists. Safe to call twice. */
  clear(): void {
    this.#timer?.cancel();
    this.#unsettled = 0;
  }
}
