/**
 * The daemon's connection to NATS as its publishers see it: a publish is under way until it is known to be stored, whatever
 * happens to the connection; streams are made where the account may, else checked.
 */
import {
  jetstream,
  type JetStreamClient,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  type StoredMsg,
  type StreamConfig,
} from "@nats-io/jetstream";
import {
  headers,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  nanos,
  RequestError,
  type Subscription,
} from "@nats-io/transport-node";
import type { Log } from "../../daemon/ops/log.ts";
import { backOffMs } from "../../daemon/time/backOff.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { sleep, untilAborted } from "../../daemon/time/within.ts";
import { AppError, messageOf } from "../../protocol/errors.ts";
import { streamWith } from "./fetchKept.ts";
import type { Retention } from "./fleetConfig.ts";
import { hostStream, STATE_STREAM } from "./fleetSubjects.ts";

/** After that it is unknown whether a message was stored. */
const ANSWER_MS = 5_000;
const RETRY = { minMs: 100, maxMs: 10_000 };
/** JetStream's code for a message that does not follow the one that it names (`nats-server` errors.json). */
const WRONG_LAST_SEQUENCE = 10_071;
const NO_MESSAGE = 10_037;
const NO_STREAM = 10_059;
const STATE_BYTES = 268_435_456;
/** By which a stream of our making is known. */
const MADE_BY_US = "made by tmuxwire";

/** What the daemon tells of its connection. */
interface LinkState {
  readonly connected: boolean;
  /** Why nothing can be stored at the moment; undefined: it can. */
  readonly problem: string | undefined;
}

/** The stored message has this sequence; a conflict: the subject's last message is not the one that was named. */
type Published = { readonly kind: "stored"; readonly seq: number } | { readonly kind: "conflict" };

interface PublishRequest {
  readonly subject: string;
  readonly bytes: Uint8Array | string;
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
  /** The sequence of the subject's last message; absent: whatever it is. */
  readonly after?: number | undefined;
}

interface Answering {
  readonly subject: string;
  readonly callback: (message: Msg) => void;
  subscription: Subscription | undefined;
}

interface NatsLinkOptions {
  /** One try; the connection reconnects by itself. */
  readonly connect: () => Promise<NatsConnection>;
  /** JetStream's; default: the one of the server. */
  readonly domain?: string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export class NatsLink {
  readonly #options: NatsLinkOptions;
  readonly #closing = new AbortController();
  /** Those who wait for the connection, or for a sign that it lives. */
  readonly #waiting = new Set<() => void>();
  #parts: { readonly nc: NatsConnection; readonly js: JetStreamClient; readonly jsm: JetStreamManager } | undefined;
  readonly #answering = new Set<Answering>();
  readonly #doubting = new Set<() => void>();
  #connected = false;
  #problem: string | undefined;
  #probing = false;

  constructor(options: NatsLinkOptions) {
    this.#options = options;
    void this.#open();
  }

  get state(): LinkState {
    return { connected: this.#connected, problem: this.#problem };
  }

  /** Most bytes of one message. */
  get maxPayload(): number {
    return this.#parts?.nc.info?.max_payload ?? 1_048_576;
  }

  /** Aborts when the link is closed. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Resolves with the connection once there is one. @throws the signal's reason */
  async connection(signal: AbortSignal): Promise<NatsConnection> {
    return (await this.#ready(signal)).nc;
  }

  /** Answers on this connection and on any that follows it, until what is returned is called. */
  answer(subject: string, callback: (message: Msg) => void): () => void {
    const one: Answering = { subject, callback, subscription: undefined };
    this.#answering.add(one);
    this.#subscribe(one);
    return () => {
      this.#answering.delete(one);
      if (this.#parts?.nc.isClosed() === false) one.subscription?.unsubscribe();
    };
  }

  #subscribe(one: Answering): void {
    const nc = this.#parts?.nc;
    if (nc?.isClosed() !== false) return;
    one.subscription = nc.subscribe(one.subject, {
      callback: (error, message) => {
        if (error === null) one.callback(message);
      },
    });
  }

  /**
   * Calls whenever what NATS has kept may be gone, or may be another daemon's: the connection is another one, or no stream
   * takes what is published. Until what is returned is called.
   */
  onDoubt(call: () => void): () => void {
    this.#doubting.add(call);
    return () => this.#doubting.delete(call);
  }

  #doubt(): void {
    for (const call of this.#doubting) call();
  }

  /** Whether a stream keeps this subject. @throws the signal's reason */
  keeps(subject: string, signal: AbortSignal): Promise<boolean> {
    return this.#until(signal, async () => {
      const { jsm } = await this.#ready(signal);
      return (await streamWith(jsm, subject)) !== undefined;
    });
  }

  /** The newest message with this subject, as the stream's leader has it; undefined: none is kept. @throws the signal's reason */
  last(stream: string, subject: string, signal: AbortSignal): Promise<StoredMsg | undefined> {
    return this.#until(signal, async () => {
      const { jsm } = await this.#ready(signal);
      try {
        return (await jsm.streams.getMessage(stream, { last_by_subj: subject })) ?? undefined;
      } catch (error) {
        const code = codeOf(error);
        if (code === NO_MESSAGE || code === NO_STREAM) return undefined;
        throw error;
      }
    });
  }

  /** Ends when it is stored or refused for good; a lost connection or a full stream only delays it. @throws the signal's reason */
  publish({ subject, bytes, headers: given = [], after }: PublishRequest, signal: AbortSignal): Promise<Published> {
    return this.#until(signal, async () => {
      const { js } = await this.#ready(signal);
      try {
        const ack = await js.publish(subject, bytes, {
          timeout: ANSWER_MS,
          retries: 0,
          headers: headersOf(given),
          ...(after === undefined ? {} : { expect: { lastSubjectSequence: after } }),
        });
        return { kind: "stored", seq: ack.seq } as const;
      } catch (error) {
        if (codeOf(error) === WRONG_LAST_SEQUENCE) return { kind: "conflict" } as const;
        if (isUnheard(error)) this.#doubt();
        // It may be on its way still: another one would only be queued behind it.
        await this.#proof(signal);
        throw error;
      }
    });
  }

  /**
   * Makes this host's stream and the one for states, or takes those that have their subjects. @throws the signal's reason
   */
  streams(
    host: string,
    retention: Retention,
    signal: AbortSignal,
  ): Promise<{ readonly output: string; readonly state: string }> {
    const { republish, ...names } = hostStream(host);
    return this.#until(signal, async () => {
      const { jsm } = await this.#ready(signal);
      const output = await this.#stream(jsm, "ours", {
        ...names,
        ...(republish === undefined ? {} : { republish }),
        max_age: nanos(retention.ageMs),
        max_bytes: retention.bytes,
        num_replicas: retention.replicas,
      });
      const state = await this.#stream(jsm, "shared", {
        ...STATE_STREAM,
        max_msgs_per_subject: 1,
        max_bytes: STATE_BYTES,
        num_replicas: retention.replicas,
      });
      return { output, state };
    });
  }

  /** What is under way is given up. */
  async close(): Promise<void> {
    this.#closing.abort(new AppError("SHUTTING_DOWN", "the daemon is stopping"));
    await this.#parts?.nc.close();
  }

  /** Connects until it is closed: rights may be corrected, and a server started, while we wait. */
  async #open(): Promise<void> {
    const { connect, clock, domain } = this.#options;
    const within = domain === undefined ? {} : { domain };
    for (let tries = 0; !this.signal.aborted; tries += 1) {
      try {
        const nc = await connect();
        this.#parts = {
          nc,
          js: jetstream(nc, within),
          jsm: await jetstreamManager(nc, { ...within, checkAPI: false }),
        };
        for (const one of this.#answering) this.#subscribe(one);
        tries = 0;
        await this.#watch(nc);
      } catch (error) {
        this.#troubled(messageOf(error));
      }
      await sleep(clock, backOffMs(Math.min(tries, 8), RETRY), this.signal).catch(() => undefined);
    }
  }

  /** Until it is closed. */
  async #watch(nc: NatsConnection): Promise<void> {
    if (this.signal.aborted) {
      await nc.close();
      return;
    }
    this.#became(true);
    for await (const status of nc.status()) {
      if (status.type === "disconnect") this.#became(false);
      else if (status.type === "reconnect") this.#became(true);
    }
    this.#became(false);
  }

  #became(connected: boolean): void {
    if (this.#connected !== connected) this.#options.log.info(connected ? "nats.connected" : "nats.lost");
    this.#connected = connected;
    if (!connected) return;
    this.#wake();
    this.#doubt();
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const go of waiting) go();
  }

  async #ready(signal: AbortSignal) {
    while (this.#parts === undefined || !this.#connected) await this.#woken(signal);
    return this.#parts;
  }

  #woken(signal: AbortSignal): Promise<void> {
    return untilAborted(signal, (resolve) => {
      this.#waiting.add(resolve);
      return () => this.#waiting.delete(resolve);
    });
  }

  /** Resolves when the server has answered to something, or is another one. */
  async #proof(signal: AbortSignal): Promise<void> {
    if (!this.#connected) return;
    if (!this.#probing) {
      this.#probing = true;
      void this.#parts?.nc
        .flush()
        .catch(() => undefined)
        .finally(() => {
          this.#probing = false;
          this.#wake();
        });
    }
    await this.#woken(signal);
  }

  /** Tries until it works; what keeps it from working is logged when it changes. */
  async #until<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    for (let tries = 0; ; tries += 1) {
      try {
        signal.throwIfAborted();
        const result = await work();
        this.#troubled(undefined);
        return result;
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (this.#connected) this.#troubled(messageOf(error));
        await sleep(this.#options.clock, backOffMs(Math.min(tries, 8), RETRY), signal);
      }
    }
  }

  #troubled(problem: string | undefined): void {
    if (problem !== undefined && problem !== this.#problem) this.#options.log.warn("nats.refused", { problem });
    this.#problem = problem;
  }

  /** Its name. One that other daemons use as well stays as it is. */
  async #stream(jsm: JetStreamManager, whose: "ours" | "shared", wanted: StreamWishes): Promise<string> {
    const found = await streamWith(jsm, wanted.subjects[0] ?? "");
    if (found === undefined) {
      const { config } = await jsm.streams.add({ ...wanted, allow_direct: true, description: MADE_BY_US });
      return config.name;
    }
    const isOurs = whose === "ours" && found.name === wanted.name && found.description === MADE_BY_US;
    const { max_age = 0, max_bytes, num_replicas } = wanted;
    const isAsWanted =
      found.max_age === max_age && found.max_bytes === max_bytes && found.num_replicas === num_replicas;
    if (isOurs && !isAsWanted) {
      // NATS refuses one that is longer than messages are kept.
      const duplicate_window = Math.min(found.duplicate_window, max_age);
      await jsm.streams.update(found.name, { max_age, max_bytes, num_replicas, duplicate_window });
    }
    return found.name;
  }
}

type StreamWishes = Pick<StreamConfig, "name" | "subjects" | "max_bytes" | "num_replicas"> &
  Partial<Pick<StreamConfig, "max_age" | "max_msgs_per_subject" | "republish">>;

export const codeOf = (error: unknown): number | undefined =>
  error instanceof JetStreamApiError ? error.code : undefined;

/** The client calls it "jetstream is not enabled": no stream takes the subject, or none that has a leader. */
const isUnheard = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof RequestError && error.cause.isNoResponders();

function headersOf(given: readonly (readonly [name: string, value: string])[]): MsgHdrs {
  const made = headers();
  for (const [name, value] of given) made.set(name, value);
  return made;
}
