/**
 * Requests to owners: how long one takes beside a round trip, what many owners cost, what part 1's streams and waits lose to a
 * thousand requests a second, and ten thousand requests among connections that drop. One JSON line each.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OwnerRequest } from "../../protocol/api/freshell/rpc.ts";
import { FRESHELL_TOKEN, FreshellClient, FreshellFixture } from "../support/daemon/freshellFixture.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { cpuMsOf } from "../support/daemon/processCost.ts";
import { FakeOwner, requestOf } from "../support/freshell/fakeOwner.ts";
import { AUTH_TOKEN, freshellScene } from "../support/freshell/freshellScene.ts";
import { ownedFixture, type OwnedFixture } from "../support/tmux/ownedFixture.ts";

let owned: OwnedFixture;
let freshell: FreshellFixture;
beforeAll(async () => {
  owned = await ownedFixture();
  freshell = await FreshellFixture.start(owned.server, { config: { maxConnections: 500, maxTerminals: 200 } });
});
afterAll(async () => {
  await freshell[Symbol.asyncDispose]();
  await owned[Symbol.asyncDispose]();
});

const callerNamed = (deviceId: string): Promise<FreshellClient> =>
  freshell.connect({ device: { deviceId, deviceLabel: deviceId, deviceType: "cli", role: "caller" } });
const BARE_RELAY = join(import.meta.dirname, "../support/freshell/bareRelay.mjs");
const exact = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;
async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
/** A command is two round trips and a frame: through a relay that does nothing it takes three times the round trip. */
const MOST_OVER_BARE = 2.5;
const fixed = (owner: FakeOwner): void => {
  owner.answer = ({ expectedRevision = 0 }) => ({ ok: true, result: {}, appliedRevision: expectedRevision + 1 });
};

test("a layout command beside a round trip, a relay that does nothing, and an owner that is not there", async () => {
  const { bareRelay } = (await import(BARE_RELAY)) as {
    readonly bareRelay: () => Promise<{ readonly url: string; readonly close: () => void }>;
  };
  const bare = await bareRelay();
  const throughBare = async (hello: object): Promise<FreshellClient> => {
    const client = await FreshellClient.open(bare.url);
    client.send({ type: "hello", ...hello });
    await client.next("ready");
    return client;
  };
  const owner = await FakeOwner.start(freshell, "quick", { allow: ["*"] });
  const bareOwner = await FakeOwner.start({ connect: throughBare }, "quick", { allow: ["*"] });
  for (const each of [owner, bareOwner]) fixed(each);
  const away = await FakeOwner.start(freshell, "away", { allow: ["*"] });
  away.client.socket.close();
  await away.client.closed;
  const caller = await callerNamed("caller");
  const bareCaller = await throughBare({ device: { role: "caller" } });
  const command = (client: FreshellClient, target: string): Promise<number> =>
    timed(async () => {
      client.send(requestOf("kill-pane", target, { target: "pane:p1" }));
      await client.next("layout.rpc.result");
    });
  const ping = (client: FreshellClient): Promise<number> =>
    timed(async () => {
      client.send({ type: "ping" });
      await client.next("pong");
    });
  const [commands, pings, refusals, bareCommands, barePings]: number[][] = [[], [], [], [], []];
  for (let count = 0; count < 3_000; count += 1) {
    commands!.push(await command(caller, "quick"));
    pings!.push(await ping(caller));
    bareCommands!.push(await command(bareCaller, "quick"));
    barePings!.push(await ping(bareCaller));
    if (count % 10 === 0) refusals!.push(await command(caller, "away"));
  }
  const figures = (values: readonly number[]) => exact(values.slice(500));
  const [l, rtt, floor, bareRtt] = [figures(commands!), figures(pings!), figures(bareCommands!), figures(barePings!)];
  const refusal = spread(refusals!);
  report("freshell relay", {
    commandMs: rounded(l),
    roundTripMs: rounded(rtt),
    ratio: rounded(l / rtt),
    // The same frames through a relay that does nothing: what sockets and clients take of it.
    bareCommandMs: rounded(floor),
    bareRoundTripMs: rounded(bareRtt),
    bareRatio: rounded(floor / bareRtt),
    overBare: rounded(l / floor),
    refusal,
  });
  for (const client of [owner.client, bareOwner.client, caller, bareCaller]) client.socket.close();
  bare.close();
  expect(refusal.p99Ms).toBeLessThanOrEqual(50);
  expect(l / floor).toBeLessThanOrEqual(MOST_OVER_BARE);
});

test("a new pane with a terminal beside a create", async () => {
  const owner = await FakeOwner.start(freshell, "panes", { allow: ["*"] });
  const caller = await callerNamed("caller");
  const [creates, splits, pings]: [number[], number[], number[]] = [[], [], []];
  const kill = async (terminalId: unknown): Promise<void> => {
    await freshell.call("POST", `/api/terminals/${String(terminalId)}/kill`);
  };
  for (let count = 0; count < 30; count += 1) {
    let id: unknown;
    creates.push(await timed(async () => (id = (await freshell.create({ shell: "/bin/sh" })).terminalId)));
    await kill(id);
    const request = requestOf(
      "split-pane",
      "panes",
      { target: "pane:p1", direction: "vertical", shell: "/bin/sh" },
      {
        expectedRevision: owner.revision,
      },
    );
    splits.push(
      await timed(async () => {
        caller.send(request);
        const { result } = await caller.next("layout.rpc.result");
        id = (result as Record<string, unknown>)["terminalId"];
      }),
    );
    await kill(id);
    pings.push(
      await timed(async () => {
        caller.send({ type: "ping" });
        await caller.next("pong");
      }),
    );
  }
  const [create, split, ping] = [spread(creates).p50Ms, spread(splits).p50Ms, spread(pings).p50Ms];
  report("freshell split-pane", { create, split, ping, allowed: rounded(create + 3 * ping + 5) });
  expect(split).toBeLessThanOrEqual(create + 3 * ping + 5);
  for (const client of [owner.client, caller]) client.socket.close();
});

interface Peers {
  /** How many responses have come to its caller. */
  end(): Promise<number>;
}
async function peers(
  mode: "presence" | "requests",
  count: number,
  { url = freshell.url, token = FRESHELL_TOKEN } = {},
): Promise<Peers> {
  const script = join(import.meta.dirname, "../support/freshell/relayPeers.mjs");
  const child = fork(script, [url, token, mode, String(count)], { execArgv: [] });
  await once(child, "message");
  return {
    end: async () => {
      const told = once(child, "message");
      child.send("end");
      const [{ answers }] = (await told) as [{ answers: number }];
      await once(child, "exit");
      return answers;
    },
  };
}

test("200 owners with presence every 5 s: the product's process, and one that only reads and parses what they send", async () => {
  const SECONDS = 20;
  await using scene = await freshellScene({ MAX_CONNECTIONS: "500" });
  const bare = fork(BARE_RELAY, [], { execArgv: [] });
  const [{ url }] = (await once(bare, "message")) as [{ url: string }];
  const shareOf = async (pid: number): Promise<number> => {
    const before = cpuMsOf(pid);
    await delay(SECONDS * 1_000);
    return (cpuMsOf(pid) - before) / (SECONDS * 1_000);
  };
  const shareWithOwners = async (pid: number, ofUrl: string, token: string): Promise<number> => {
    const owners = await peers("presence", 200, { url: ofUrl, token });
    // Their files are written first.
    await delay(6_000);
    const share = await shareOf(pid);
    await owners.end();
    return share;
  };
  const { pid } = scene.daemon;
  const quiet = await shareOf(pid);
  const [ours, floor]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < 3; turn += 1) {
    ours.push((await shareWithOwners(pid, scene.url, AUTH_TOKEN)) - quiet);
    floor.push(await shareWithOwners(bare.pid ?? 0, url, FRESHELL_TOKEN));
  }
  bare.disconnect();
  const share = exact(ours);
  const bareShare = exact(floor);
  report("freshell presence", { owners: 200, coreShare: rounded(share), bareShare: rounded(bareShare), quiet });
  expect(share).toBeLessThan(0.01);
});

test("output and waits with a thousand requests a second", async () => {
  const { terminalId } = await freshell.create({ shell: "/bin/sh" });
  const post = (path: string, body: object) => freshell.call("POST", path, body);
  let round = 0;
  /** Seconds of one flood to an attached reader, its end told by a wait. */
  const flood = async (): Promise<number> => {
    round += 1;
    const word = `end-${round}`;
    const wait = post("/api/waits", { target: { terminalId }, pattern: `${word}-42`, timeoutSec: 60 });
    const startMs = performance.now();
    await post(`/api/terminals/${terminalId}/input`, { keys: [`seq 1 300000; echo ${word}-$((40+2))`, "Enter"] });
    expect((await wait).status).toBe(200);
    return (performance.now() - startMs) / 1_000;
  };
  const reader = await freshell.connect();
  reader.send({ type: "terminal.attach", terminalId });
  await reader.next("terminal.attached");
  await flood();
  // The same callers and owners with a relay that does nothing, in a process of its own: what the machine loses to them.
  const bare = fork(BARE_RELAY, [], { execArgv: [] });
  const [{ url }] = (await once(bare, "message")) as [{ url: string }];
  const runs = { alone: [] as number[], besideBare: [] as number[], beside: [] as number[] };
  const answered = { bare: 0, freshell: 0 };
  for (let turn = 0; turn < 7; turn += 1) {
    runs.alone.push(await flood());
    const elsewhere = await peers("requests", 1_000, { url });
    runs.besideBare.push(await flood());
    answered.bare += await elsewhere.end();
    const here = await peers("requests", 1_000);
    runs.beside.push(await flood());
    answered.freshell += await here.end();
    reader.frames.length = 0;
  }
  bare.disconnect();
  const [alone, besideBare, beside] = [exact(runs.alone), exact(runs.besideBare), exact(runs.beside)];
  const rate = (count: number, seconds: readonly number[]): number =>
    Math.round(count / seconds.reduce((sum, each) => sum + each, 0));
  const againstBare = rounded(besideBare / beside);
  report("freshell flood", {
    aloneSec: rounded(alone),
    besideBareSec: rounded(besideBare),
    besideSec: rounded(beside),
    ratio: rounded(alone / beside),
    bareRatio: rounded(alone / besideBare),
    againstBare,
    perSecond: rate(answered.freshell, runs.beside),
    barePerSecond: rate(answered.bare, runs.besideBare),
  });
  reader.socket.close();
  expect(answered.freshell).toBeGreaterThan(0);
  expect(againstBare).toBeGreaterThanOrEqual(0.95);
});

test("ten thousand requests, owners and callers dropping at random", async () => {
  const seed = Number(process.env["SEED"] ?? 20_260_722);
  let drawn = seed;
  const random = (): number => {
    drawn = (Math.imul(drawn, 1_664_525) + 1_013_904_223) >>> 0;
    return drawn / 2 ** 32;
  };
  const DEVICES = 8;
  const TOTAL = 10_000;
  // What devices keep of their own: by device, what each key did.
  const kept = Array.from({ length: DEVICES }, () => ({
    revision: 1,
    done: new Map<string, object>(),
    applied: new Map<string, number>(),
  }));
  const owners: FakeOwner[] = [];
  const results = new Map<string, unknown>();
  // A request that reaches an owner a second time, or after its response.
  const delivered = new Set<string>();
  let deliveredTwice = 0;
  const own = async (at: number): Promise<void> => {
    // Superseded while it said what it allows: then the other one is the device.
    const owner = await FakeOwner.start(freshell, `d${at}`, { allow: ["*"] }).catch(() => undefined);
    if (owner === undefined) return;
    const state = kept[at]!;
    owner.answer = ({ requestId, idempotencyKey = "", expectedRevision = 0, phase }: OwnerRequest) => {
      if (delivered.has(requestId) || results.has(idempotencyKey)) deliveredTwice += 1;
      delivered.add(requestId);
      if (phase !== "apply") return owner.honest({ phase } as OwnerRequest);
      const before = state.done.get(idempotencyKey);
      if (before !== undefined) return before;
      state.revision += 1;
      state.applied.set(idempotencyKey, (state.applied.get(idempotencyKey) ?? 0) + 1);
      const answer = { ok: true, result: { key: idempotencyKey }, appliedRevision: expectedRevision + 1 };
      state.done.set(idempotencyKey, answer);
      return answer;
    };
    owners[at] = owner;
  };
  await Promise.all(kept.map((_, at) => own(at)));
  let [lost, answeredTwice, retries, drops] = [0, 0, 0, 0];
  const one = async (caller: { client: FreshellClient }, at: number): Promise<void> => {
    const key = `load-${at}`;
    const device = Math.floor(random() * DEVICES);
    for (let attempt = 0; attempt < 200; attempt += 1) {
      const { client } = caller;
      const request = requestOf("new-tab", `d${device}`, { browser: "http://h/" }, { idempotencyKey: key });
      if (client.socket.readyState === client.socket.OPEN) {
        client.send(request);
        const answer = await client.next("layout.rpc.result").catch(() => undefined);
        if (answer !== undefined && answer["requestId"] !== request["requestId"]) answeredTwice += 1;
        if (answer?.["ok"] === true) {
          results.set(key, answer["result"]);
          return;
        }
      }
      retries += 1;
      // The caller's own connection went, or the owner's: both come again.
      if (caller.client.socket.readyState !== caller.client.socket.OPEN) caller.client = await callerNamed("caller");
      else await delay(2);
    }
    lost += 1;
  };
  let next = 0;
  const worker = async (): Promise<void> => {
    const caller = { client: await callerNamed("caller") };
    while (next < TOTAL) {
      const at = next++;
      if (random() < 0.01) {
        drops += 1;
        const target = caller.client;
        setImmediate(() => target.socket.terminate());
      }
      if (random() < 0.01) {
        drops += 1;
        const device = Math.floor(random() * DEVICES);
        owners[device]?.client.socket.terminate();
        await own(device);
      }
      await one(caller, at);
    }
    caller.client.socket.close();
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: 16 }, () => worker()));
  const twice = kept.flatMap(({ applied }) => [...applied.values()]).filter((count) => count > 1).length;
  const folder = join(freshell.home, ".freshell/audit");
  const files = readdirSync(folder).filter((name) => name.includes(".jsonl"));
  const lines = files.flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"));
  const invalid = lines.filter((line) => {
    try {
      return Object.keys(JSON.parse(line) as object).length !== 8;
    } catch {
      return true;
    }
  }).length;
  const seconds = rounded((performance.now() - startMs) / 1_000);
  report("freshell drops", {
    seed,
    total: TOTAL,
    seconds,
    drops,
    retries,
    lost,
    twice,
    deliveredTwice,
    answeredTwice,
    auditLines: lines.length,
    invalid,
  });
  expect([results.size, lost, twice, deliveredTwice, answeredTwice, invalid]).toEqual([TOTAL, 0, 0, 0, 0, 0]);
  expect(lines.length).toBeGreaterThanOrEqual(TOTAL);
  expect(drops).toBeGreaterThan(100);
});
