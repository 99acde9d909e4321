/**
 * Whether a connection still is what we made: asked of tmux at each beat, because anybody who types a command in a pane can
 * move, silence or suspend our client, and no notification says so (docs/tmuxFacts.md 51). A connection with a fault is closed;
 * its supervisor makes the next one. At most one check is under way.
 */
import { AppError } from "../../protocol/errors.ts";
import { HEARTBEAT_DEGRADED_MS } from "../../protocol/limits.ts";
import type { Clock } from "../time/clock.ts";
import type { ControlConnection } from "./controlConnection.ts";

/** A state check always answers: a tmux that is silent for this long is in the state of its last heartbeat. */
const CHECK_WITHIN_MS = 1_000;

/** What a beat asks. */
export interface Checkup {
  /** A command whose answer holds ids and numbers only. */
  readonly command: string;
  /** What in the answer tells that the connection is of no use any more. */
  readonly fault: (answer: Uint8Array) => string | undefined;
}

export class ConnectionChecker {
  readonly #connection: ControlConnection;
  #asked: { readonly sinceMs: number; readonly answers: number } | undefined;
  #wasIdle = false;

  constructor(connection: ControlConnection) {
    this.#connection = connection;
  }

  /** A question is under way. */
  get isWaiting(): boolean {
    return this.#asked !== undefined;
  }

  /** tmux was seen idle and not heard since. */
  get wasIdle(): boolean {
    return this.#wasIdle;
  }

  heard(): void {
    this.#wasIdle = false;
  }

  /** Asks, unless tmux still owes an answer to the last question. Afterwards the connection may be closed. */
  beat(nowMs: number, checkup: Checkup): void {
    const connection = this.#connection;
    if (this.#asked !== undefined) {
      this.#checkReplies(this.#asked, nowMs);
      return;
    }
    this.#asked = { sinceMs: nowMs, answers: connection.answers };
    // Too many commands wait: the next beat asks.
    this.#ask(checkup, () => {
      this.#asked = undefined;
    });
  }

  /** Asks now, whatever else is under way. Resolves when the answer is judged, or after `CHECK_WITHIN_MS`. */
  check(clock: Clock, checkup: Checkup): Promise<void> {
    return new Promise((resolve) => {
      const timer = clock.callAt(clock.nowMs() + CHECK_WITHIN_MS, resolve);
      this.#ask(checkup, () => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** @param done called once, in the turn in which the answer is judged, or when none will come */
  #ask({ command, fault }: Checkup, done: () => void): void {
    try {
      this.#connection.send(command, "ours", (outcome) => {
        done();
        if (!("error" in outcome)) this.#giveUp(fault(outcome.replies[0]?.body ?? new Uint8Array(0)));
        else if (outcome.error.code === "TMUX_COMMAND_FAILED") this.#giveUp("it takes no commands any more");
      });
    } catch {
      done();
    }
  }

  /**
   * tmux was asked, says nothing and does nothing: it has lost us (docs/tmuxFacts.md 51). Seen twice, because what it said
   * may lie unread the first time.
   */
  silent(isServerIdle: boolean): void {
    const isIdle = isServerIdle && this.#connection.pendingCommands > 0;
    if (isIdle && this.#wasIdle) this.#giveUp("tmux has forgotten it");
    this.#wasIdle = isIdle;
  }

  /** tmux speaks but answers nothing, for instance because a hook of somebody's waits in our client's name. */
  #checkReplies(asked: { readonly sinceMs: number; readonly answers: number }, nowMs: number): void {
    const { answers } = this.#connection;
    if (asked.answers !== answers) this.#asked = { sinceMs: nowMs, answers };
    else if (nowMs - asked.sinceMs >= HEARTBEAT_DEGRADED_MS) this.#giveUp("its commands are not answered any more");
  }

  #giveUp(fault: string | undefined): void {
    if (fault !== undefined) this.#connection.close(faulty(fault));
  }
}

/** Why a connection of ours was closed by us. */
export const faulty = (fault: string): AppError =>
  new AppError("CONNECTION_LOST", `the connection to tmux was dropped (${fault}); reconnecting`, {
    details: { reason: fault },
  });
