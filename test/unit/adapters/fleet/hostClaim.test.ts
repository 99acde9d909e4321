/** Whether a host is still this daemon's, where NATS tells nobody that another one has it. */
import { expect, test } from "vitest";
import { silentLog } from "../../../../bench/silentLog.ts";
import { HostClaim } from "../../../../adapters/fleet/hostClaim.ts";
import type { NatsLink } from "../../../../adapters/fleet/natsLink.ts";
import { eventually } from "../../../support/clock/eventually.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

test("a holder finds within half a minute that another daemon has its host, and looks no more then", async () => {
  const clock = new FakeClock();
  let stored: string | undefined;
  const link = {
    connection: async () => ({}),
    last: async () => (stored === undefined ? undefined : { seq: 1, data: Buffer.from(stored) }),
    keeps: async () => true,
    answer: () => () => undefined,
    onDoubt: () => () => undefined,
    publish: async ({ bytes }: { readonly bytes: string }) => ((stored = bytes), { kind: "stored", seq: 1 }),
  } as unknown as NatsLink;
  const state = { instance: "us", version: "0", startedUnixMs: 0, servers: ["main"] };
  const claim = new HostClaim({ link, host: "box", stateStream: "S", state, clock, log: silentLog });
  const { signal } = new AbortController();
  await claim.take(signal);
  const lost = claim.lost(signal);
  stored = JSON.stringify({ ...state, instance: "another" });
  clock.advanceMs(30_000);
  await lost;
  expect(clock.pendingTimers).toBe(0);
});

test("a daemon whose own connection is lost while it asks for the holder does not take its place", async () => {
  const clock = new FakeClock();
  const state = { instance: "us", version: "0", startedUnixMs: 0, servers: ["main"] };
  const published: string[] = [];
  let [requests, connected] = [0, true];
  const request = async (): Promise<object> => {
    requests += 1;
    connected = requests > 1;
    if (!connected) throw new Error("closed connection");
    return {};
  };
  const link = {
    get state() {
      return { connected, problem: undefined };
    },
    connection: async () => ({ request }),
    last: async () => ({ seq: 1, data: Buffer.from(JSON.stringify({ ...state, instance: "holder" })) }),
    answer: () => () => undefined,
    publish: async ({ bytes }: { readonly bytes: string }) => (published.push(bytes), { kind: "stored", seq: 2 }),
  } as unknown as NatsLink;
  const claim = new HostClaim({ link, host: "box", stateStream: "S", state, clock, log: silentLog });
  const end = new AbortController();
  const taken = claim.take(end.signal);
  taken.catch(() => undefined);
  await eventually(() => clock.pendingTimers > 0 || published.length > 0);
  clock.advanceMs(2_000);
  await eventually(() => requests === 2 || published.length > 0);
  end.abort(new Error("enough"));
  await expect(taken).rejects.toThrow("enough");
  expect(published).toEqual([]);
});
