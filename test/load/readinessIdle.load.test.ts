/**
 * What watching costs: 200 panes that print nothing, and one that floods among them. Prints the processor's time and the
 * commands sent; `READINESS_PANES`, `READINESS_SECONDS` change the size.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { realReadiness } from "../support/agents/readinessWatch.ts";

const PANES = Number(process.env["READINESS_PANES"] ?? 200);
const SECONDS = Number(process.env["READINESS_SECONDS"] ?? 10);

interface Counted {
  readonly server: TmuxServer;
  readonly calls: { captures: number; describes: number };
}

/** The server, its probes counted. */
function counting(server: TmuxServer): Counted {
  const calls = { captures: 0, describes: 0 };
  const counted = new Proxy(server, {
    get: (target, name) => {
      if (name === "capture") calls.captures += 1;
      if (name === "describePane") calls.describes += 1;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
  return { server: counted, calls };
}

/** Nothing is awaited but time itself: what happens in it is what is measured. */
async function during(seconds: number): Promise<number> {
  const before = process.cpuUsage();
  await delay(seconds * 1_000);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / (seconds * 1_000);
}

test(`${PANES} watched panes that print nothing cost nothing; a flood costs a look per 60 ms`, async () => {
  await using fixture = await ownedFixture();
  const { server, calls } = counting(fixture.server);
  const engine = realReadiness();
  const ids: PaneId[] = [];
  for (let number = 0; number < PANES; number += 1) {
    const session = await fixture.server.createSession({ name: `p${number}`, command: ["cat"] });
    ids.push(session.activePane!);
  }
  const unwatchedShare = await during(SECONDS / 2);
  const beganLooksMs = performance.now();
  await Promise.all(ids.map((id) => engine.watch(server, id).probe()));
  const firstLooksMs = performance.now() - beganLooksMs;
  calls.captures = 0;
  calls.describes = 0;
  const heapBefore = process.memoryUsage().heapUsed;
  const idleShare = await during(SECONDS);
  const idleCalls = { ...calls };
  const flood = await fixture.server.createSession({ name: "flood", command: ["sh", "-c", "sleep 1; yes"] });
  using flooding = engine.watch(server, flood.activePane!);
  await flooding.probe();
  const source = fixture.server.output(flood.activePane!);
  while (source.outputSeq === 0) await delay(20);
  const [from, beganMs] = [source.outputSeq, performance.now()];
  calls.captures = 0;
  await delay((SECONDS / 2) * 1_000);
  const tookMs = performance.now() - beganMs;
  const looksPerSecond = (calls.captures / tookMs) * 1_000;
  const megabytesPerSecond = (source.outputSeq - from) / 1_000 / tookMs;
  console.log(
    JSON.stringify({
      scenario: "readinessIdle",
      panes: PANES,
      firstLooksMs: round(firstLooksMs),
      idleCpuShare: round(idleShare),
      unwatchedCpuShare: round(unwatchedShare),
      idleCalls,
      heapGrowthKb: Math.round((process.memoryUsage().heapUsed - heapBefore) / 1_024),
      flood: { looksPerSecond: round(looksPerSecond), megabytesPerSecond: round(megabytesPerSecond) },
    }),
  );
  engine.close();
  expect(idleCalls).toEqual({ captures: 0, describes: 0 });
  expect(idleShare).toBeLessThan(0.05);
  expect(looksPerSecond).toBeLessThanOrEqual(17);
});

const round = (value: number): number => Math.round(value * 10_000) / 10_000;
