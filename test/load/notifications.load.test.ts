/**
 * Notifications over restarts of the daemon (`kill -9`), by a webhook, ntfy and Web Push: ROUNDS (5) questions of three agents
 * each, a third of them answered within 1.5 s, the daemon killed at a random moment around most. The whole hold: ROUNDS=50.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { AGENT_DIRECTORY, AgentChannel } from "../support/agents/agentPrograms.ts";
import { seeded } from "../support/agents/agentsEngines.ts";
import { notifyReceiver } from "../support/agents/notifyReceiver.ts";
import { pushReceiver } from "../support/agents/pushReceiver.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { report, spread } from "../support/daemon/loadReport.ts";
import { callJson } from "../support/daemon/nativeServer.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 5);
const SEED = Number(process.env["NOTIFY_SEED"] ?? Date.now() % 1_000_000);
/** A question that is open for so long is told. */
const SETTLE_MS = 2_000;
const GIVEN_UP_MS = 60_000;
/** Share of the questions that are answered at once. */
const SHORT_SHARE = Number(process.env["SHORT_SHARE"] ?? 1 / 3);
const NAMES = ["one", "two", "three"] as const;

/** What one channel has been told so far, and how often it was wrong. */
class Told {
  /** `resent`: the same notice once more, by its id, which takes its own place: the daemon was killed before it had noted that it was sent. */
  readonly counts = { told: 0, twice: 0, resent: 0, lost: 0, notTakenBack: 0, shortTold: 0 };
  readonly late: number[] = [];
  /** The ids of the notices, in the order in which they came. */
  readonly ids: () => readonly string[];
  readonly withdrawn: () => number;

  constructor(ids: () => readonly string[], withdrawn: () => number) {
    this.ids = ids;
    this.withdrawn = withdrawn;
  }

  opened(): number {
    return this.ids().length;
  }
}

/** Of the next question, when it is told; undefined: never. */
async function nextTold(told: Told, before: number): Promise<number | undefined> {
  const giveUpMs = performance.now() + GIVEN_UP_MS;
  await eventually(() => told.opened() > before || performance.now() > giveUpMs);
  return told.opened() > before ? performance.now() : undefined;
}

test("each question is told once, whatever happens to the daemon, and none that is answered at once", async () => {
  const uniform = seeded(SEED);
  const random = (below: number): number => Math.floor(uniform() * below);
  await using sandbox = cliSandbox();
  await using webhook = await notifyReceiver();
  await using ntfy = await notifyReceiver();
  let key = "";
  // It takes only what it can decrypt and what is signed with the daemon's key.
  await using push = await pushReceiver(() => key);
  const channels = new Map<string, AgentChannel>();
  for (const name of NAMES) channels.set(name, await AgentChannel.open(sandbox.root));
  const argv = Object.fromEntries(
    NAMES.map((name) => [name, channels.get(name)!.argv("dialog", { busyMs: 0 }).slice(2)]),
  );
  const claude = `#!${process.execPath}
process.argv.splice(2, 1, ...${JSON.stringify(argv)}[process.argv[2]]);
void import(${JSON.stringify(join(AGENT_DIRECTORY, "dialog.mjs"))});
`;
  const bin = sandbox.binaries("bin", { claude });
  const serve = async () => {
    const daemon = sandbox.start(["serve", "--only", "native,dashboard", "--port", "0"]);
    const [, url = ""] = await daemon.line(/dashboard listening on (\S+)/);
    await daemon.line(/listening on unix:/);
    return { daemon, url };
  };
  let { daemon, url } = await serve();
  await sandbox.run(["notify", "add", "webhook", webhook.url, "--on", "asking"]);
  await sandbox.run(["notify", "add", "ntfy", `${ntfy.url}/topic`, "--on", "asking"]);
  key = String((await callJson(url, "GET", "/api/push/key", undefined, {})).json["key"]);
  const subscription = { url: push.url, keys: push.keys, on: ["asking"] };
  expect((await callJson(url, "POST", "/api/push", subscription, {})).status).toBe(200);
  for (const name of NAMES) {
    await sandbox.run(["new", name, "--", join(bin, "claude"), name]);
    await channels.get(name)!.next("ready");
  }
  await eventually(async () => {
    const { agents } = JSON.parse((await sandbox.run(["agents", "--json"])).stdout) as { agents: { state: string }[] };
    return agents.length === NAMES.length && agents.every(({ state }) => state === "ready");
  }, 100);
  type State = "open" | "withdrawn";
  const hooked = (state: State) => webhook.received.flatMap(({ body }) => (body.state === state ? [body.id] : []));
  const pushed = (state: State) => push.received.flatMap(({ notice }) => (notice.state === state ? [notice.id] : []));
  const atNtfy = (method: string) =>
    ntfy.received.flatMap((one) => (one.method === method ? [String(one.body["sequence_id"])] : []));
  const channelsTold: Readonly<Record<string, Told>> = {
    webhook: new Told(
      () => hooked("open"),
      () => hooked("withdrawn").length,
    ),
    ntfy: new Told(
      () => atNtfy("POST"),
      () => atNtfy("DELETE").length,
    ),
    push: new Told(
      () => pushed("open"),
      () => pushed("withdrawn").length,
    ),
  };
  const all = Object.values(channelsTold);

  const counts = { restarts: 0, questions: 0, short: 0 };
  const tell = (what: string): void => {
    const told = Object.entries(channelsTold).map(([name, one]) => [name, { ...one.counts, late: spread(one.late) }]);
    report("notifications", { what, seed: SEED, ...counts, ...Object.fromEntries(told) });
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of NAMES) {
      const channel = channels.get(name)!;
      const isShort = uniform() < SHORT_SHARE;
      const isKilled = random(3) > 0;
      const before = all.map((told) => told.opened());
      const backBefore = all.map((told) => told.withdrawn());
      const restart = async (): Promise<void> => {
        if (!isKilled) return;
        await delay(random(isShort ? 1_000 : 2_500));
        daemon.child.kill("SIGKILL");
        await daemon.finished;
        ({ daemon, url } = await serve());
        counts.restarts += 1;
      };
      const askedMs = performance.now();
      await channel.tell("ask");
      if (isShort) {
        const steps: Record<string, number> = {};
        const step = (what: string): void => void (steps[what] = Math.round(performance.now() - askedMs));
        const answer = async (): Promise<void> => {
          await delay(random(1_500));
          await channel.tell("idle");
          step("answered");
        };
        await Promise.all([restart().then(() => step("served")), answer()]);
        await delay(SETTLE_MS + 1_500);
        counts.short += 1;
        for (const [at, told] of all.entries()) told.counts.shortTold += told.opened() - before[at]!;
        const wrong = webhook.received.filter(({ body, atMs }) => body.state === "open" && atMs > askedMs);
        for (const { body, atMs } of wrong) {
          report("notifications", {
            what: "short told",
            name,
            isKilled,
            ...steps,
            toldMs: Math.round(atMs - askedMs),
            body,
          });
        }
        continue;
      }
      const seen = Promise.all(all.map((told, at) => nextTold(told, before[at]!)));
      await restart();
      counts.questions += 1;
      for (const [at, atMs] of (await seen).entries()) {
        const told = all[at]!;
        if (atMs === undefined) told.counts.lost += 1;
        else {
          told.counts.told += 1;
          if (!isKilled) told.late.push(atMs - askedMs - SETTLE_MS);
        }
      }
      await delay(1_500);
      for (const [at, told] of all.entries()) {
        const ids = told.ids().slice(before[at]);
        const distinct = new Set(ids).size;
        told.counts.twice += Math.max(0, distinct - 1);
        told.counts.resent += ids.length - distinct;
      }
      await channel.tell("idle");
      const giveUpMs = performance.now() + GIVEN_UP_MS;
      const isBack = (told: Told, at: number): boolean => told.withdrawn() > backBefore[at]!;
      await eventually(() => all.every(isBack) || performance.now() > giveUpMs);
      for (const [at, told] of all.entries()) if (!isBack(told, at)) told.counts.notTakenBack += 1;
    }
    if (round % 10 === 9) tell("so far");
  }
  tell("all");
  for (const [name, told] of Object.entries(channelsTold)) {
    expect.soft({ name, ...told.counts }).toMatchObject({ name, lost: 0, twice: 0, notTakenBack: 0, shortTold: 0 });
  }
});
