/**
 * Whether a process that still runs has begun to end: a signal that ends or stops it is pending, or it has removed its
 * handler for SIGTERM, as programs do before they restore their terminal. It reads nothing from then on, but may stay in
 * the foreground for most of a second (docs/agentFacts.md), and what is typed meanwhile goes to the next reader. A program
 * may also remove its handler for another reason and continue: `renewed` takes that as the new baseline.
 */
import type { Procfs } from "../host/procfs.ts";

const bitOf = (signal: number): bigint => 1n << BigInt(signal - 1);
const TERM = bitOf(15);
/**
 * What a person, a shell or a supervisor sends to a program that should end or stop: HUP, INT, QUIT, KILL, TERM, STOP, TSTP
 * (signal(7), x86 and ARM). On a busy machine even SIGSTOP waits until the program is given a CPU.
 */
const ENDS = [1, 2, 3, 9, 15, 19, 20].map(bitOf).reduce((all, bit) => all | bit);

export class EndSigns {
  readonly #processes: Procfs;
  readonly #pids: readonly number[];
  /** Of these, the ones that handled SIGTERM when they were last checked. */
  readonly #handling: readonly number[];

  /** @param before of an earlier check, whose baseline stays for the processes it knows */
  constructor(pids: readonly number[], processes: Procfs, before?: EndSigns) {
    this.#processes = processes;
    this.#pids = [...new Set(pids)];
    this.#handling = this.#pids.filter((pid) =>
      before !== undefined && before.#pids.includes(pid)
        ? before.#handling.includes(pid)
        : ((processes.signalsNow(pid)?.caught ?? 0n) & TERM) !== 0n,
    );
  }

  /** For any of them; false where the system does not report it. */
  get isShown(): boolean {
    return this.#pids.some((pid) => {
      const signals = this.#processes.signalsNow(pid);
      if (signals === undefined) return false;
      return (signals.pending & ENDS) !== 0n || (this.#handling.includes(pid) && (signals.caught & TERM) === 0n);
    });
  }

  /** Takes what they handle now as the baseline. */
  renewed(): EndSigns {
    return new EndSigns(this.#pids, this.#processes);
  }
}
