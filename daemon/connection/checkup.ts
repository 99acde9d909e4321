/**
 * Checks that a connection is still as we set it up. tmux is asked at each heartbeat, because anyone who types a command in
 * a pane can move, silence or suspend our client, and no notification says so (docs/tmuxFacts.md 51). A faulty connection is
 * closed; its supervisor opens the next one. At most one check is pending.
 */
import { HEARTBEAT_DEGRADED_MS } from "../../protocol/limits.ts";
import type { Clock } from "../time/clock.ts";
import { isRefusal } from "./commandQueue.ts";
import { faulty } from "./connectionErrors.ts";
import type { ControlConnection } from "./controlConnection.ts";

/** A check gives up after this time; the state is then that of the last heartbeat. */
const CHECK_WITHIN_MS = 1_000;
/** Interval of the looks at a server that is silent and should not be: a reply takes an idle one less than 1 ms. */
const LOOK_AGAIN_MS = 60;

/** The query of a heartbeat. */
export interface Checkup {
  /** A command whose reply holds ids and numbers only. */
  readonly command: string;
  /** Why the connection is no longer usable, according to the reply; undefined if it is fine. */
  readonly fault: (reply: Uint8Array) => string | undefined;
}

export class ConnectionChecker {
  readonly connection: ControlConnection;
  #asked: { readonly sinceMs: number; readonly replies: number } | undefined;
  #wasIdle = false;
  #isLooking = false;

  constructor(connection: ControlConnection) {
    this.connection = connection;
  }

  /** Whether a check is pending. */
  get isWaiting(): boolean {
    return this.#asked !== undefined;
  }

  /** Whether tmux was seen idle and has sent nothing since. */
  get wasIdle(): boolean {
    return this.#wasIdle;
  }

  received(): void {
    this.#wasIdle = false;
  }

  /** Sends the query, unless the last one still has no reply. The connection may be closed afterwards. */
  heartbeat(nowMs: number, checkup: Checkup): void {
    const connection = this.connection;
    if (this.#asked !== undefined) {
      this.#checkReplies(this.#asked, nowMs);
      return;
    }
    this.#asked = { sinceMs: nowMs, replies: connection.replies };
    // If the queue is full, the next heartbeat asks.
    this.#ask(checkup, () => {
      this.#asked = undefined;
    });
  }

  /** Sends the query now, even if another is pending. Resolves when the reply has been checked, or after `CHECK_WITHIN_MS`. */
  check(clock: Clock, checkup: Checkup): Promise<void> {
    return new Promise((resolve) => {
      const timer = clock.callAt(clock.nowMs() + CHECK_WITHIN_MS, resolve);
      this.#ask(checkup, () => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** @param done called once, in the turn in which the reply is checked, or when none will come */
  #ask({ command, fault }: Checkup, done: () => void): void {
    try {
      this.connection.send(command, "ours", (outcome) => {
        done();
        if (!("error" in outcome)) this.#giveUp(fault(outcome.replies[0]!.body));
        else if (isRefusal(outcome.error)) this.#giveUp("it no longer accepts commands");
      });
    } catch {
      done();
    }
  }

  /**
   * Call while tmux is silent. If it owes a reply and is idle, it has forgotten our client (docs/tmuxFacts.md 51). It must be
   * idle twice, because its reply may still be unread the first time.
   */
  silent(isServerIdle: boolean): void {
    const isIdle = isServerIdle && this.connection.pendingCommands > 0;
    if (isIdle && this.#wasIdle) this.#giveUp("tmux has forgotten it");
    this.#wasIdle = isIdle;
  }

  /**
   * Call when tmux is silent although it should have said something: it is asked, and looked at until it replies. One that
   * is idle meanwhile has forgotten our client.
   */
  doubt(clock: Clock, checkup: Checkup, isServerIdle: () => boolean): void {
    this.heartbeat(clock.nowMs(), checkup);
    if (!this.#isLooking) this.#look(clock, isServerIdle);
  }

  #look(clock: Clock, isServerIdle: () => boolean): void {
    this.#isLooking = this.isWaiting;
    if (!this.#isLooking) return;
    // A timer runs before what has arrived is read: if this process was busy, tmux's reply may be unread.
    clock.callAt(clock.nowMs() + LOOK_AGAIN_MS, () =>
      setImmediate(() => {
        if (this.isWaiting) this.silent(isServerIdle());
        this.#look(clock, isServerIdle);
      }),
    );
  }

  /** tmux sends output but no replies, for instance because a hook blocks our client's queue. */
  #checkReplies(asked: { readonly sinceMs: number; readonly replies: number }, nowMs: number): void {
    const { replies } = this.connection;
    if (asked.replies !== replies) this.#asked = { sinceMs: nowMs, replies };
    else if (nowMs - asked.sinceMs >= HEARTBEAT_DEGRADED_MS) this.#giveUp("tmux no longer replies to its commands");
  }

  #giveUp(fault: string | undefined): void {
    if (fault !== undefined) this.connection.close(faulty(fault));
  }
}
