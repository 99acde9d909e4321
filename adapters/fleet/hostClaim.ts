/**
 * One daemon publishes as one host. Who it is stands in the stream for states; it is taken over only from a daemon that has
 * ended, or that answers no longer. Two that start at once are told apart by the stream, which stores one claim after a known
 * one.
 */
import type { NatsConnection } from "@nats-io/transport-node";
import type { Log } from "../../daemon/ops/log.ts";
import { backOffMs } from "../../daemon/time/backOff.ts";
import type { Clock, Timer } from "../../daemon/time/clock.ts";
import { SingleFlight } from "../../daemon/time/singleFlight.ts";
import { sleep, untilAborted } from "../../daemon/time/within.ts";
import { aliveSubject, daemonSubject, hostStream } from "./fleetSubjects.ts";
import type { NatsLink } from "./natsLink.ts";

/** A daemon that lives answers at once. */
const ALIVE_MS = 2_000;
const RETRY = { minMs: 1_000, maxMs: 30_000 };
/** Servers of NATS that lose each other for a while tell nobody: the holder looks so often whether it still is. */
const LOOK_MS = 30_000;

/** The daemon's own last value. */
interface DaemonState {
  readonly instance: string;
  readonly version: string;
  readonly startedUnixMs: number;
  /** The tmux servers that it publishes. */
  readonly servers: readonly string[];
  /** It has ended in order. */
  readonly ended?: true;
}

interface HostClaimOptions {
  readonly link: NatsLink;
  readonly host: string;
  readonly stateStream: string;
  readonly state: DaemonState;
  readonly clock: Clock;
  readonly log: Log;
}

export class HostClaim {
  readonly #options: HostClaimOptions;
  readonly #lost = new Set<() => void>();
  #doubt: () => void = () => undefined;
  #stopAnswering: (() => void) | undefined;
  #seq = 0;
  #holder: string | undefined;

  constructor(options: HostClaimOptions) {
    this.#options = options;
  }

  /** The other daemon that publishes as this host; undefined: none, as far as is known. */
  get otherHolder(): string | undefined {
    return this.#holder;
  }

  /** Resolves when the host is ours. @throws the signal's reason */
  async take(signal: AbortSignal): Promise<void> {
    const { host, clock, log } = this.#options;
    for (let tries = 0; ; tries += 1) {
      const other = await this.#try(signal);
      if (other === undefined) {
        this.#holder = undefined;
        return;
      }
      if (this.#holder !== other) log.error("nats.host.taken", { host, by: other });
      this.#holder = other;
      await sleep(clock, backOffMs(Math.min(tries, 6), RETRY), signal);
    }
  }

  /** Whether it still is, with the streams; if not, `lost` resolves. @throws the signal's reason */
  async isHeld(signal: AbortSignal): Promise<boolean> {
    const { link, host, state } = this.#options;
    const last = await this.#last(signal);
    const isOurs = last.state?.instance === state.instance;
    if (isOurs && (await link.keeps(hostStream(host).subjects[0] ?? "", signal))) return true;
    this.#stopAnswering?.();
    this.#stopAnswering = undefined;
    for (const lost of this.#lost) lost();
    this.#lost.clear();
    return false;
  }

  /** While we were cut off another daemon may have taken it, and a NATS without a disk has forgotten it. @throws the signal's reason */
  lost(signal: AbortSignal): Promise<void> {
    const { link, clock } = this.#options;
    const look = new SingleFlight(async () => void (await this.isHeld(signal)));
    return untilAborted(signal, (resolve) => {
      this.#lost.add(resolve);
      let timer: Timer | undefined;
      const later = (): void => void (timer = clock.callAt(clock.nowMs() + LOOK_MS, this.#doubt));
      this.#doubt = () => {
        timer?.cancel();
        later();
        look.soon();
      };
      later();
      const stopLooking = link.onDoubt(this.#doubt);
      return () => {
        this.#lost.delete(resolve);
        timer?.cancel();
        this.#doubt = () => undefined;
        stopLooking();
      };
    });
  }

  /** Another daemon need not ask for us. Gives up with the signal. */
  async leave(signal: AbortSignal): Promise<void> {
    if (this.#stopAnswering === undefined) return;
    const { link, host, state } = this.#options;
    const bytes = JSON.stringify({ ...state, ended: true } satisfies DaemonState);
    await link.publish({ subject: daemonSubject(host), bytes, after: this.#seq }, signal);
  }

  /** The instance that has it instead; undefined: it is ours. */
  async #try(signal: AbortSignal): Promise<string | undefined> {
    const { link, host, state } = this.#options;
    const nc = await link.connection(signal);
    const last = await this.#last(signal);
    const held = last.state;
    // While we are cut off nobody answers us, which says nothing of the holder.
    const maySay = async (): Promise<boolean> => (await isAlive(nc, host)) || !link.state.connected;
    if (held !== undefined && held.ended !== true && held.instance !== state.instance && (await maySay())) {
      return held.instance;
    }
    this.#stopAnswering ??= link.answer(aliveSubject(host), (message) => {
      message.respond(state.instance);
      // Who asks may have waited in vain, and have taken it.
      this.#doubt();
    });
    const request = { subject: daemonSubject(host), bytes: JSON.stringify(state), after: last.seq };
    const outcome = await link.publish(request, signal);
    if (outcome.kind === "stored") {
      this.#seq = outcome.seq;
      return undefined;
    }
    // The answer to an earlier try was lost, or another daemon was quicker.
    const now = await this.#last(signal);
    if (now.state?.instance === state.instance) {
      this.#seq = now.seq;
      return undefined;
    }
    this.#stopAnswering();
    this.#stopAnswering = undefined;
    return now.state?.instance ?? "unknown";
  }

  async #last(signal: AbortSignal): Promise<{ readonly seq: number; readonly state: DaemonState | undefined }> {
    const { link, host, stateStream } = this.#options;
    const last = await link.last(stateStream, daemonSubject(host), signal);
    return { seq: last?.seq ?? 0, state: last === undefined ? undefined : daemonStateOf(last.data) };
  }
}

/** Undefined: it is none. */
export function daemonStateOf(bytes: Uint8Array): DaemonState | undefined {
  try {
    const state = JSON.parse(Buffer.from(bytes).toString()) as Partial<DaemonState> | null;
    return typeof state?.instance === "string" ? (state as DaemonState) : undefined;
  } catch {
    return undefined;
  }
}

async function isAlive(nc: NatsConnection, host: string): Promise<boolean> {
  try {
    await nc.request(aliveSubject(host), "", { timeout: ALIVE_MS });
    return true;
  } catch {
    return false;
  }
}
