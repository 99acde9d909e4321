/**
 * Keeps the event loop awake for the millisecond in which an answer is due, while one command follows upon the other:
 * falling asleep and being woken again costs more than tmux takes to answer, and a client that asks without a pause has its
 * answers in two thirds of the time (`npm run bench -- http`). This is busy polling as `SO_BUSY_POLL` does it (socket(7)),
 * of descriptors that are watched anyway.
 *
 * It pays only in such a conversation, where the kernel has given each side a core. After a pause tmux, or the client that
 * waits for our answer, is put on the core that we are on and expected to leave (a "sync" wake-up): staying awake would keep
 * it from running. And it pays only with a core to spare: where others want it, that shows in less CPU time than time that
 * has passed, or in no answer, and polling rests for a while.
 */
import process from "node:process";
import type { Clock } from "./clock.ts";

/** tmux takes a tenth of it for a command, and a program on a machine gone cold half of it to echo its input. */
export const BUSY_POLL_MS = 1;
/** Commands that follow each other as closely as this are one conversation, from so many on. */
const CONVERSATION_GAP_MS = 3;
export const CONVERSATION_COMMANDS = 8;
/** Polling is judged in sums of this length; a short spell says nothing. */
const JUDGE_MS = 5;
/** What the last sum counts in the running share: one alone may be a neighbour that looked in. */
const LAST_COUNTS = 0.25;
/** With less of the time on a core somebody else wants it. Median on two cores: 0.98, and 0.39 when one of them is taken. */
const MIN_CPU_SHARE = 0.35;
const REST_MS = 200;

interface BusyPollOptions {
  readonly clock: Clock;
  /** CPU time that this process has used, in milliseconds. */
  readonly cpuMs?: (() => number) | undefined;
  /** Runs after the loop has looked once for whatever has arrived, without sleeping. */
  readonly nextTurn?: ((run: () => void) => void) | undefined;
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

export class BusyPoll {
  readonly #clock: Clock;
  readonly #cpuMs: () => number;
  readonly #nextTurn: (run: () => void) => void;
  readonly #turn = (): void => this.#probe();
  #answerByMs = 0;
  #echoByMs = 0;
  #askedMs = Number.NEGATIVE_INFINITY;
  #inARow = 0;
  #isPolling = false;
  #isClosed = false;
  #spellFromMs = 0;
  #spellCpuMs = 0;
  /** Of the spells that have not been judged yet. */
  #polledMs = 0;
  #workedMs = 0;
  #cpuShare = 1;
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor({ clock, cpuMs = processCpuMs, nextTurn = setImmediate }: BusyPollOptions) {
    this.#clock = clock;
    this.#cpuMs = cpuMs;
    this.#nextTurn = nextTurn;
  }

  /** Something has been asked that answers soon: awake until `answered()`, or until it is late. */
  awaitAnswer(): void {
    this.#asked(false);
  }

  /** What has been asked has consequences that follow its answer, as input has its echo: awake for the whole time. */
  awaitEcho(): void {
    this.#asked(true);
  }

  /** Nothing is asked any more. */
  answered(): void {
    this.#answerByMs = 0;
  }

  /** Ends it for good. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
  }

  #asked(hasEcho: boolean): void {
    const nowMs = this.#clock.nowMs();
    this.#inARow = nowMs - this.#askedMs < CONVERSATION_GAP_MS ? this.#inARow + 1 : 1;
    this.#askedMs = nowMs;
    if (this.#inARow < CONVERSATION_COMMANDS || this.#isClosed) return;
    this.#answerByMs = nowMs + BUSY_POLL_MS;
    if (hasEcho) this.#echoByMs = this.#answerByMs;
    if (this.#isPolling || nowMs < this.#restUntilMs) return;
    this.#isPolling = true;
    this.#beginSpell(nowMs);
  }

  #beginSpell(nowMs: number): void {
    this.#spellFromMs = nowMs;
    this.#spellCpuMs = this.#cpuMs();
    this.#nextTurn(this.#turn);
  }

  #probe(): void {
    const nowMs = this.#clock.nowMs();
    const isDue = !this.#isClosed && nowMs < Math.max(this.#answerByMs, this.#echoByMs);
    if (isDue && nowMs - this.#spellFromMs < JUDGE_MS) {
      this.#nextTurn(this.#turn);
      return;
    }
    this.#endSpell(nowMs);
    if (isDue && nowMs >= this.#restUntilMs) this.#beginSpell(nowMs);
    else this.#isPolling = false;
  }

  #endSpell(nowMs: number): void {
    const isUnanswered = this.#answerByMs > 0 && nowMs >= this.#answerByMs;
    this.#polledMs += nowMs - this.#spellFromMs;
    // What is not answered while we poll perhaps waits for our core.
    if (!isUnanswered) this.#workedMs += this.#cpuMs() - this.#spellCpuMs;
    if (this.#polledMs < JUDGE_MS) return;
    const share = this.#workedMs / this.#polledMs;
    // It stays as it is over a rest: if nothing has changed, the next sum ends in another.
    this.#cpuShare += (share - this.#cpuShare) * LAST_COUNTS;
    if (this.#cpuShare < MIN_CPU_SHARE) this.#restUntilMs = nowMs + REST_MS;
    this.#polledMs = 0;
    this.#workedMs = 0;
  }
}
