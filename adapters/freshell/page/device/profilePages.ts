/**
 * The pages of one browser profile. One is the leader, which is the device; the others follow: they show the same, and forward
 * their person's requests to it. What they post to each other is plain data.
 */
import type { Clock } from "../../../../daemon/time/clock.ts";
import { within } from "../../../../daemon/time/within.ts";
import type { OwnerLayout } from "../../../../protocol/api/freshell/deviceLayout.ts";
import type { RpcOutcome } from "../../../../protocol/api/freshell/rpc.ts";
import type { RpcCommand } from "../../../../protocol/api/freshell/rpcCommands.ts";
import { failed } from "../../devices/ownerMessages.ts";
import type { RemoteLine } from "../model/remoteLine.ts";

/** A person's request to the device. */
export type DeviceAsk =
  | { readonly kind: "command"; readonly command: RpcCommand; readonly args: Readonly<Record<string, unknown>> }
  /** Replaces a pane's content by a terminal. */
  | { readonly kind: "terminal"; readonly paneId: string; readonly options: Readonly<Record<string, unknown>> }
  /** Replaces a pane's content by a conversation. */
  | { readonly kind: "session"; readonly paneId: string; readonly provider: string; readonly sessionId: string }
  | { readonly kind: "split"; readonly splitId: string; readonly percent: number }
  | { readonly kind: "paneTitle"; readonly paneId: string; readonly title: string | undefined }
  | { readonly kind: "undo"; readonly lineId: string }
  | { readonly kind: "allow"; readonly allow: readonly string[] };

/** What every page of the profile shows. */
export interface DeviceView {
  readonly layout: OwnerLayout;
  readonly lines: readonly RemoteLine[];
  readonly allow: readonly string[];
  readonly notes: readonly string[];
}

export type PageMessage =
  /** From a new page. */
  | { readonly kind: "who" }
  | { readonly kind: "view"; readonly view: DeviceView }
  | { readonly kind: "ask"; readonly askId: string; readonly ask: DeviceAsk }
  | { readonly kind: "answer"; readonly askId: string; readonly outcome: RpcOutcome }
  /** The page in use has given a terminal this size. */
  | { readonly kind: "size"; readonly terminalId: string; readonly cols: number; readonly rows: number };

/** Of a BroadcastChannel. */
export interface PageChannel {
  post(message: PageMessage): void;
  /** One listener. */
  listen(listener: (message: PageMessage) => void): void;
}

interface Locks {
  request<Result>(name: string, run: () => Promise<Result> | Result): Promise<Result>;
  request<Result>(
    name: string,
    options: { readonly ifAvailable: true },
    run: (lock: unknown) => Promise<Result> | Result,
  ): Promise<Result>;
}

interface ElectionOptions {
  /** Web Locks; undefined on a page loaded over plain HTTP from another machine. */
  readonly locks: Locks | undefined;
  readonly onLeader: () => void;
  /** Another page leads; `onLeader` follows when it has gone. */
  readonly onFollower: () => void;
}

/** The leader is the page that holds a lock, then the next in line. Without locks each page tries, and the server accepts the newest. */
export function elect({ locks, onLeader, onFollower }: ElectionOptions): void {
  if (locks === undefined) {
    onLeader();
    return;
  }
  // Held until the page closes.
  const hold = (): Promise<void> => {
    onLeader();
    return new Promise(() => undefined);
  };
  const name = "freshell.owner";
  const isFree = locks.request(name, { ifAvailable: true }, (lock) => {
    if (lock !== null) return hold();
    onFollower();
    return locks.request(name, hold);
  });
  // Lock requests are rejected only when the page is closing.
  isFree.catch(() => undefined);
}

/** A mutex across the profile's pages; without locks, within this page. */
export function oneAtATime(
  locks: Locks | undefined,
  name: string,
): <Result>(run: () => Promise<Result>) => Promise<Result> {
  if (locks !== undefined) return (run) => locks.request(name, run);
  let turn: Promise<unknown> = Promise.resolve();
  return (run) => {
    const ran = turn.then(run);
    turn = ran.catch(() => undefined);
    return ran;
  };
}

interface FollowerOptions {
  readonly post: (message: PageMessage) => void;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** As long as the server waits for an owner, and a little more. */
const ANSWER_WITHIN_MS = 26_000;
const NO_ANSWER = failed("the page that is this device did not respond; check whether it was done", "OWNER_TIMEOUT");

export class FollowerPage {
  readonly #options: FollowerOptions;
  readonly #asked = new Map<string, (outcome: RpcOutcome) => void>();

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  perform(ask: DeviceAsk): Promise<RpcOutcome> {
    const { post, clock, newId } = this.#options;
    const askId = newId();
    return within(clock, ANSWER_WITHIN_MS, NO_ANSWER, (done) => {
      this.#asked.set(askId, done);
      post({ kind: "ask", askId, ask });
      return () => this.#asked.delete(askId);
    });
  }

  settle(askId: string, outcome: RpcOutcome): void {
    this.#asked.get(askId)?.(outcome);
  }

  /** This page becomes the leader: outcomes of pending requests are unknown. */
  close(): void {
    for (const settle of this.#asked.values()) settle(NO_ANSWER);
  }
}
