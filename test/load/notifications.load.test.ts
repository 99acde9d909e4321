/**
 * Notifications over restarts of the daemon (`kill -9`): ROUNDS (5) questions of three agents each, a third of them answered
 * within 1.5 s, the daemon killed at a random moment around each. The whole hold: ROUNDS=50.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { AGENT_DIRECTORY, AgentChannel } from "../support/agents/agentPrograms.ts";
import { seeded } from "../support/agents/agentsEngines.ts";
import { notifyReceiver } from "../support/agents/notifyReceiver.ts";
import { eventually } from "../support/clock/eventually.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { report, spread } from "../support/daemon/loadReport.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 5);
const SEED = Number(process.env["NOTIFY_SEED"] ?? Date.now() % 1_000_000);
/** A question that is open for so long is told. */
const SETTLE_MS = 2_000;
const NAMES = ["one", "two", "three"] as const;

test("each question is told once, whatever happens to the daemon, and none that is answered at once", async () => {
  const uniform = seeded(SEED);
  const random = (below: number): number => Math.floor(uniform() * below);
  await using sandbox = cliSandbox();
  await using receiver = await notifyReceiver();
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
  let daemon = await sandbox.serve();
  await sandbox.run(["notify", "add", "webhook", receiver.url, "--on", "asking"]);
  for (const name of NAMES) {
    await sandbox.run(["new", name, "--", join(bin, "claude"), name]);
    await channels.get(name)!.next("ready");
  }
  await eventually(async () => {
    const { agents } = JSON.parse((await sandbox.run(["agents", "--json"])).stdout) as { agents: { state: string }[] };
    return agents.length === NAMES.length && agents.every(({ state }) => state === "ready");
  }, 100);
  const open = (): number => receiver.received.filter(({ body: { state } }) => state === "open").length;
  const withdrawn = (): number => receiver.received.length - open();

  const counts = { questions: 0, told: 0, twice: 0, lost: 0, notTakenBack: 0, short: 0, shortTold: 0 };
  const late: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of NAMES) {
      const channel = channels.get(name)!;
      const isShort = random(3) === 0;
      const isKilled = random(3) > 0;
      const [before, backBefore] = [open(), withdrawn()];
      const restart = async (): Promise<void> => {
        if (!isKilled) return;
        await delay(random(isShort ? 1_000 : 2_500));
        daemon.child.kill("SIGKILL");
        await daemon.finished;
        daemon = await sandbox.serve();
      };
      const askedMs = performance.now();
      await channel.tell("ask");
      if (isShort) {
        const answered = delay(random(1_500)).then(() => channel.tell("idle"));
        await Promise.all([restart(), answered]);
        await delay(SETTLE_MS + 1_500);
        counts.short += 1;
        counts.shortTold += open() - before;
        continue;
      }
      const seen = (async (): Promise<number | undefined> => {
        const giveUpMs = performance.now() + 60_000;
        await eventually(() => open() > before || performance.now() > giveUpMs);
        return open() > before ? performance.now() : undefined;
      })();
      await restart();
      const atMs = await seen;
      counts.questions += 1;
      if (atMs === undefined) counts.lost += 1;
      else {
        counts.told += 1;
        if (!isKilled) late.push(atMs - askedMs - SETTLE_MS);
      }
      await delay(1_500);
      counts.twice += Math.max(0, open() - before - 1);
      await channel.tell("idle");
      const giveUpMs = performance.now() + 60_000;
      await eventually(() => withdrawn() > backBefore || performance.now() > giveUpMs);
      if (withdrawn() === backBefore) counts.notTakenBack += 1;
    }
  }
  report("notifications", { seed: SEED, ...counts, late: spread(late) });
  expect(counts).toMatchObject({ lost: 0, twice: 0, notTakenBack: 0, shortTold: 0 });
});
