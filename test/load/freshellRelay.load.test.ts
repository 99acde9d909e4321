/**
 * Requests to owners: how long one takes beside a round trip, what many owners cost, what part 1's streams and waits lose to a
 * thousand requests a second, and ten thousand requests among connections that drop. One JSON line each.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OwnerRequest } from "../../protocol/api/freshell/rpc.ts";
import { type FreshellClient, FreshellFixture } from "../support/daemon/freshellFixture.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { FakeOwner, requestOf } from "../support/freshell/fakeOwner.ts";
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
const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;
async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}
const fixed = (owner: FakeOwner): void => {
  owner.answer = ({ expectedRevision = 0 }) => ({ ok: true, result: {}, appliedRevision: expectedRevision + 1 });
};

test("a layout command beside a round trip, and beside an owner that is not there", async () => {
  const owner = await FakeOwner.start(freshell, "quick", { allow: ["*"] });
  fixed(owner);
  const away = await FakeOwner.start(freshell, "away", { allow: ["*"] });
  away.client.socket.close();
  await away.client.closed;
  const caller = await callerNamed("caller");
  const command = async (target: string): Promise<void> => {
    caller.send(requestOf("kill-pane", target, { target: "pane:p1" }));
    await caller.next("layout.rpc.result");
  };
  const ping = async (): Promise<void> => {
    caller.send({ type: "ping" });
    await caller.next("pong");
  };
  const [commands, pings, refusals]: [number[], number[], number[]] = [[], [], []];
  for (let count = 0; count < 2_000; count += 1) {
    commands.push(await timed(() => command("quick")));
    pings.push(await timed(ping));
    if (count % 10 === 0) refusals.push(await timed(() => command("away")));
  }
  const [l, rtt, refusal] = [spread(commands.slice(200)), spread(pings.slice(200)), spread(refusals)];
  const exact = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  const ratio = rounded(exact(commands.slice(200)) / exact(pings.slice(200)));
  report("freshell relay", { command: l, roundTrip: rtt, ratio, refusal });
  expect(ratio).toBeLessThanOrEqual(3);
  expect(refusal.p99Ms).toBeLessThanOrEqual(50);
  for (const client of [owner.client, caller]) client.socket.close();
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

test("200 owners with presence every 5 s", async () => {
  const owners = await Promise.all(Array.from({ length: 200 }, (_, at) => FakeOwner.start(freshell, `owner${at}`)));
  await delay(1_000);
  // The owners are in this process too: what they cost is in it.
  const seconds = 10;
  const idle = process.cpuUsage();
  await delay(seconds * 1_000);
  const quiet = process.cpuUsage(idle);
  const before = process.cpuUsage();
  for (let step = 0; step < seconds * 10; step += 1) {
    for (let at = 0; at < 4; at += 1) {
      const owner = owners[(step * 4 + at) % owners.length]!;
      owner.client.send({ type: "device.presence", deviceId: owner.deviceId, workspaceRevision: 1 });
    }
    await delay(100);
  }
  const used = process.cpuUsage(before);
  const msOf = ({ user, system }: NodeJS.CpuUsage): number => (user + system) / 1_000;
  const share = (msOf(used) - msOf(quiet)) / (seconds * 1_000);
  report("freshell presence", {
    owners: owners.length,
    coreShare: rounded(share),
    quietShare: rounded(msOf(quiet) / (seconds * 1_000)),
  });
  for (const { client } of owners) client.socket.close();
  await Promise.all(owners.map(({ client }) => client.closed));
  expect(share).toBeLessThan(0.01);
});

test("output and waits with a thousand requests a second", async () => {
  const owner = await FakeOwner.start(freshell, "busy", { allow: ["*"] });
  fixed(owner);
  const caller = await callerNamed("caller");
  const { terminalId } = await freshell.create({ shell: "/bin/sh" });
  const post = (path: string, body: object) => freshell.call("POST", path, body);
  /** Megabytes a second of one flood, its end told by a wait. */
  let round = 0;
  const flood = async (): Promise<number> => {
    round += 1;
    const word = `end-${round}`;
    const wait = post("/api/waits", { target: { terminalId }, pattern: `${word}-42`, timeoutSec: 60 });
    const startMs = performance.now();
    await post(`/api/terminals/${terminalId}/input`, { keys: [`seq 1 400000; echo ${word}-$((40+2))`, "Enter"] });
    expect((await wait).status).toBe(200);
    return 2.7 / ((performance.now() - startMs) / 1_000);
  };
  const reader = await freshell.connect();
  reader.send({ type: "terminal.attach", terminalId });
  await reader.next("terminal.attached");
  await flood();
  const [alone, beside]: [number[], number[]] = [[], []];
  let answered = 0;
  caller.socket.on("message", () => (answered += 1));
  for (let pair = 0; pair < 6; pair += 1) {
    alone.push(await flood());
    const every = setInterval(() => {
      for (let count = 0; count < 10; count += 1) caller.send(requestOf("kill-pane", "busy", { target: "pane:p1" }));
    }, 10);
    beside.push(await flood());
    clearInterval(every);
    reader.frames.length = 0;
  }
  const mid = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  const ratio = rounded(mid(beside) / mid(alone));
  report("freshell flood", { alone: rounded(mid(alone)), beside: rounded(mid(beside)), ratio, answered });
  // Callers and owners are in this process too, on the machine's two cores.
  expect(answered).toBeGreaterThan(0);
  for (const client of [owner.client, caller, reader]) client.socket.close();
});

test("ten thousand requests, owners and callers dropping at random", async () => {
  const seed = Number(process.env["SEED"] ?? 20_260_722);
  let state = seed;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
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
  const own = async (at: number): Promise<void> => {
    const owner = await FakeOwner.start(freshell, `d${at}`, { allow: ["*"] });
    const own = kept[at]!;
    owner.answer = ({ idempotencyKey = "", expectedRevision = 0, phase }: OwnerRequest) => {
      if (phase !== "apply") return owner.honest({ phase } as OwnerRequest);
      const before = own.done.get(idempotencyKey);
      if (before !== undefined) return before;
      own.revision += 1;
      own.applied.set(idempotencyKey, (own.applied.get(idempotencyKey) ?? 0) + 1);
      const answer = { ok: true, result: { key: idempotencyKey }, appliedRevision: expectedRevision + 1 };
      own.done.set(idempotencyKey, answer);
      return answer;
    };
    owners[at] = owner;
  };
  await Promise.all(kept.map((_, at) => own(at)));
  let [lost, answeredTwice, retries, drops] = [0, 0, 0, 0];
  const results = new Map<string, unknown>();
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
      if (caller.client.socket.readyState !== caller.client.socket.OPEN)
        caller.client = await callerNamed(`c${at % 16}`);
      else await delay(2);
    }
    lost += 1;
  };
  let next = 0;
  const worker = async (number: number): Promise<void> => {
    const caller = { client: await callerNamed(`c${number}`) };
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
  await Promise.all(Array.from({ length: 16 }, (_, number) => worker(number)));
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
    answeredTwice,
    auditLines: lines.length,
    invalid,
  });
  expect([results.size, lost, twice, answeredTwice, invalid]).toEqual([TOTAL, 0, 0, 0, 0]);
  expect(lines.length).toBeGreaterThanOrEqual(TOTAL);
  expect(drops).toBeGreaterThan(100);
});
