/**
 * The same prompts to the agents that people run, offline, typed by `tmux send-keys` and through a daemon (docs/delivery.md
 * has the figures): ROUNDS (5) of every job both ways. Needs AGENT_KIT (the kit's folder) and TUI_INST (the programs'
 * folder); REAL_AGENTS=cc,pi runs those alone, JOBS=idle,killed those jobs. REAL_TRACE=FILE has every try by itself.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createClient } from "../../adapters/client/client.ts";
import { unixFetch } from "../../adapters/serving/unixFetch.ts";
import { seeded } from "../support/agents/agentsEngines.ts";
import { realAgents, realWorld } from "../support/agents/realAgents.ts";
import { doJob, type Job, JOBS, type JobTry, WAYS } from "../support/agents/twoWays.ts";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { report } from "../support/daemon/loadReport.ts";

const ROUNDS = Number(process.env["ROUNDS"] ?? 5);
const SEED = Number(process.env["REAL_SEED"] ?? Date.now() % 1_000_000);
const ASKED = (process.env["JOBS"]?.split(",") as Job[] | undefined) ?? JOBS;
const SERVER = "real";
/** What no prompt of ours may come to. */
const HARM: ReadonlySet<string> = new Set(["executed", "approved", "twice", "changed"]);

/** A kill may come after the proof. */
const ENDS: ReadonlySet<Job> = new Set(["killed"]);

const programs = realAgents();

// Without a program the lines above say why.
describe.skipIf(programs.length === 0).each(programs.length === 0 ? (["cc"] as const) : programs)("%s", (program) => {
  test("each prompt both ways", { timeout: 600_000 + ROUNDS * 300_000 }, async () => {
    const random = seeded(SEED);
    await using world = await realWorld(program);
    await using sandbox = cliSandbox();
    await sandbox.serve([], { env: { TMUXWIRE_SERVERS: `${SERVER}=${world.socket.socketPath}` } });
    const { socketPath, tokenPath } = sandbox;
    const token = readFileSync(tokenPath, "utf8").trim();
    const daemon = {
      client: createClient({ url: "http://localhost", token, fetch: unixFetch(socketPath) }),
      server: SERVER,
    };
    const tries: JobTry[] = [];
    const notBegun: string[] = [];
    let isFresh = false;
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const job of ASKED) {
        for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed()) {
          try {
            if (job !== "starting") {
              if (!isFresh) await world.start();
              await world.settled();
            }
            const entry = await doJob(world, daemon, { job, way, round, random });
            if (entry !== undefined) tries.push(entry);
            // What a try may have left must not meet the next one.
            isFresh = entry?.found === "once";
          } catch (error) {
            isFresh = false;
            notBegun.push(`${job} ${way}: ${String(error)}`);
          }
        }
      }
    }
    for (const job of ASKED) {
      for (const way of WAYS) {
        const own = tries.filter((each) => each.job === job && each.way === way);
        const arrived = own.flatMap(({ arrivedMs }) => arrivedMs ?? []).sort((a, b) => a - b);
        report("sendKeys", {
          program,
          job,
          way,
          tries: own.length,
          ...counted(own.map(({ found, told }) => (told === undefined ? found : `${found}, ${told}`))),
          intoTurn: own.filter(({ isIntoTurn }) => isIntoTurn === true).length,
          medianMs: arrived[Math.floor(arrived.length / 2)],
          maxMs: arrived.at(-1),
        });
      }
    }
    report("sendKeys", { program, seed: SEED, notBegun });
    const ours = tries.filter(({ way }) => way === "tmuxwire");
    expect(ours.filter(({ found }) => HARM.has(found))).toEqual([]);
    expect(ours.filter(({ found, told, job }) => told === "submitted" && found !== "once" && !ENDS.has(job))).toEqual(
      [],
    );
    expect(ours.filter(({ found, told }) => told?.startsWith("WRONG_STATE") === true && found === "once")).toEqual([]);
    expect(notBegun.length).toBeLessThan(tries.length / 2);
  });
});

function counted(words: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
