/**
 * Reads what a stream keeps, many messages at a time, by a consumer that is gone when they have been read. The client's ordered
 * consumers are not used: one whose server is killed may wait for ever (docs/fleet.md).
 */
import {
  AckPolicy,
  type ConsumerConfig,
  type JetStreamClient,
  type JetStreamManager,
  type JsMsg,
  type StreamConfig,
} from "@nats-io/jetstream";
import { nanos } from "@nats-io/nats-core";
import { systemClock } from "../../daemon/time/clock.ts";
import { within } from "../../daemon/time/within.ts";

/** A message has at most 256 KiB of output. */
const FETCH_MESSAGES = 32;
const FETCH_MS = 3_000;

interface Source {
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly stream: string;
}

/** Returns true when all are read; false: something failed or stayed away, and the rest is not. Never throws. */
export async function* fetchKept(
  { js, jsm, stream }: Source,
  config: Partial<ConsumerConfig>,
): AsyncGenerator<JsMsg, boolean, void> {
  let name: string | undefined;
  try {
    const made = await jsm.consumers.add(stream, {
      ...config,
      ack_policy: AckPolicy.None,
      inactive_threshold: nanos(2 * FETCH_MS),
      mem_storage: true,
      num_replicas: 1,
    });
    ({ name } = made);
    if (made.num_pending === 0) return true;
    const consumer = await js.consumers.get(stream, name);
    for (let expected = 1; ;) {
      const first = expected;
      const batch = await consumer.fetch({ max_messages: FETCH_MESSAGES, expires: FETCH_MS });
      const messages = batch[Symbol.asyncIterator]();
      for (;;) {
        const next = await inTime(messages.next());
        if (next === undefined || next.done === true) break;
        const { deliverySequence, pending } = next.value.info;
        if (deliverySequence !== expected) return false;
        expected += 1;
        yield next.value;
        if (pending === 0) return true;
      }
      if (expected === first) return false;
    }
  } catch {
    return false;
  } finally {
    if (name !== undefined) void jsm.consumers.delete(stream, name).catch(() => false);
  }
}

/** Of the stream that keeps this subject, whoever has made it. */
export async function streamWith(jsm: JetStreamManager, subject: string): Promise<StreamConfig | undefined> {
  for await (const { config } of jsm.streams.list(subject)) return config;
  return undefined;
}

/** Undefined: it fails, or does not come. */
const inTime = <Value>(value: Promise<Value>): Promise<Value | undefined> =>
  within<Value | undefined>(systemClock, 2 * FETCH_MS, undefined, (done) => {
    void (async () => done(await value.catch(() => undefined)))();
  });
