/**
 * Messages to the agents that people run, offline, through a daemon that is killed: MESSAGES (10) that wait for an agent with
 * KILLS (2) `kill -9` of the daemon, REPLACED (2) times another agent takes its place while a message waits, ROUNDS (3) of
 * send, wait, collect with each and with WORKERS (2) of them at once, the kinds in turns. The kit's fake model has the truth. Needs AGENT_KIT and TUI_INST; REAL_AGENTS=cc,pi2 runs those
 * alone. The whole hold: MESSAGES=100 KILLS=20 REPLACED=50 ROUNDS=20 WORKERS=5.
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createClient, type TmuxwireClient } from "../../adapters/client/client.ts";
import { unixFetch } from "../../adapters/serving/unixFetch.ts";
import { Disposables } from "../support/disposables.ts";
import { seeded } from "../support/agents/agentsEngines.ts";
import { foregroundGroup, realAgents, realWorld, type RealWorld } from "../support/agents/realAgents.ts";
import { eventually } from "../support/clock/eventually.ts";
import { type CliSandbox, cliSandbox, type Running } from "../support/daemon/cliSandbox.ts";
import { report } from "../support/daemon/loadReport.ts";

const MESSAGES = Number(process.env["MESSAGES"] ?? 10);
const KILLS = Number(process.env["KILLS"] ?? 2);
const REPLACED = Number(process.env["REPLACED"] ?? 2);
const ROUNDS = Number(process.env["ROUNDS"] ?? 3);
const WORKERS = Number(process.env["WORKERS"] ?? 2);
const SEED = Number(process.env["REAL_SEED"] ?? Date.now() % 1_000_000);
const SERVER = "real";

const programs = realAgents();

/** Of whichever daemon listens there. */
const clientOf = ({ socketPath, tokenPath }: CliSandbox): TmuxwireClient => {
  const token = readFileSync(tokenPath, "utf8").trim();
  return createClient({ url: "http://localhost", token, fetch: unixFetch(socketPath) });
};

/** The first one's tmux is `SERVER`, the others are `SERVER1`, `SERVER2`, … */
const serverOf = (at: number): string => (at === 0 ? SERVER : `${SERVER}${at}`);

const serve = (sandbox: CliSandbox, ...worlds: readonly RealWorld[]): Promise<Running> =>
  sandbox.serve([], {
    env: { TMUXWIRE_SERVERS: worlds.map(({ socket }, at) => `${serverOf(at)}=${socket.socketPath}`).join() },
  });

/** Its id, once the daemon has found it and it takes a prompt; a question that nobody asked for is refused, as a person would. */
async function idOf(
  client: TmuxwireClient,
  { profile, socket, pane }: RealWorld,
  isOther?: string,
  server = SERVER,
): Promise<string> {
  let id: string | undefined;
  const refused = new Set<string>();
  await eventually(async () => {
    const agents = await client.agents({ server });
    const agent = agents.find((each) => each.agent === profile && each.id !== isOther);
    if (agent?.question !== undefined && agent.question !== null && !refused.has(agent.question.id)) {
      refused.add(agent.question.id);
      socket.tmux("send-keys", "-t", pane, "Escape");
    }
    id = agent?.state === "ready" ? agent.id : undefined;
    return id !== undefined;
  }, 200);
  return id!;
}

const marked = (world: RealWorld, mark: string): number =>
  world.asked().filter(({ text, afterTool }) => !afterTool && text.includes(mark)).length;

/** Sends, waits until it is done, collects; whatever is not as it should be. @param worker a word that its marks begin with */
async function rounds(client: TmuxwireClient, world: RealWorld, agent: string, worker: string) {
  const wrong: unknown[] = [];
  const startedMs = Date.now();
  for (let round = 0; round < ROUNDS; round += 1) {
    const mark = `${worker}${round}q${SEED}`;
    const { outcome, lastWords } = await client.tell(agent, `say ${mark} back`, { wait: "done" });
    const others = lastWords?.match(/[A-Z]\d+q\d+/g)?.filter((other) => other !== mark) ?? [];
    if (
      outcome !== "delivered" ||
      lastWords?.includes(mark) !== true ||
      others.length > 0 ||
      marked(world, mark) !== 1
    ) {
      wrong.push({ worker, round, outcome, lastWords, asked: marked(world, mark) });
    }
  }
  return { wrong, roundMs: Math.round((Date.now() - startedMs) / ROUNDS) };
}

function counted(words: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

describe.skipIf(programs.length === 0).each(programs.length === 0 ? (["cc"] as const) : programs)("%s", (program) => {
  test.skipIf(MESSAGES === 0)("messages survive a daemon that is killed: each once, in order", async () => {
    const random = seeded(SEED);
    await using world = await realWorld(program);
    await using sandbox = cliSandbox();
    await world.start();
    await world.settled();
    let daemon = await serve(sandbox, world);
    const client = clientOf(sandbox);
    const agent = await idOf(client, world);
    const startedMs = Date.now();
    const marks = Array.from({ length: MESSAGES }, (_, at) => `M${at}x${Math.floor(random() * 1e6).toString(36)}`);
    for (const mark of marks) await client.tell(agent, `say ${mark} back`);
    for (let kill = 1; kill <= KILLS; kill += 1) {
      // Spread over the run, each at another moment of a delivery.
      const wanted = Math.min(MESSAGES - 1, Math.floor((kill * MESSAGES) / (KILLS + 1)));
      await eventually(async () => {
        const { length } = (await client.messages()).filter(({ outcome }) => outcome !== "waiting");
        return length >= wanted;
      }, 50);
      await delay(random() * 1_500);
      daemon.child.kill("SIGKILL");
      await daemon.finished;
      daemon = await serve(sandbox, world);
    }
    await eventually(async () => {
      const messages = await client.messages();
      return (
        messages.length === MESSAGES &&
        messages.every(
          ({ outcome, doneUnixMs }) => outcome !== "waiting" && (outcome !== "delivered" || doneUnixMs !== null),
        )
      );
    }, 300);
    const messages = await client.messages();
    const arrived = world
      .asked()
      .flatMap(({ text, afterTool }) => (afterTool ? [] : marks.filter((mark) => text.includes(mark)).slice(-1)));
    const firsts = [...new Set(arrived)];
    const figures = {
      messages: MESSAGES,
      kills: KILLS,
      outcomes: counted(messages.map(({ outcome }) => outcome)),
      arrivedOnce: marks.filter((mark) => marked(world, mark) === 1).length,
      twice: marks.filter((mark) => marked(world, mark) > 1).length,
      never: marks.filter((mark) => marked(world, mark) === 0).length,
      inOrder: JSON.stringify(firsts) === JSON.stringify(marks.filter((mark) => firsts.includes(mark))),
      confirmedBy: counted(messages.map(({ confirmedBy }) => String(confirmedBy))),
      sec: Math.round((Date.now() - startedMs) / 1_000),
      withoutWords: messages.filter(({ lastWords }) => lastWords === null).length,
    };
    report("agentMessages", { campaign: "killed daemon", program, seed: SEED, ...figures });
    expect([figures.twice, figures.never, figures.inOrder]).toEqual([0, 0, true]);
    expect(
      daemon
        .stderr()
        .split("\n")
        .filter((line) => line !== "" && !line.includes('"level":"info"')),
    ).toEqual([]);
  });

  test.skipIf(REPLACED === 0)("a message for an agent that is replaced goes to no successor", async () => {
    await using world = await realWorld(program);
    await using sandbox = cliSandbox();
    await world.start();
    await world.settled();
    await serve(sandbox, world);
    const client = clientOf(sandbox);
    let toSuccessor = 0;
    const outcomes: string[] = [];
    let last: string | undefined;
    for (let at = 0; at < REPLACED; at += 1) {
      const agent = await idOf(client, world, last);
      await client.tell(agent, `slow 60000 W${at}`, { wait: "taken" });
      const told = await client.tell(agent, `say L${at}end back`);
      const group = foregroundGroup(world.socket, world.pane);
      const before = world.prompts();
      if (group !== undefined) process.kill(-group, "SIGKILL");
      // In the same shell: a pane that is respawned while it is drawn can end tmux (docs/tmuxFacts.md 16).
      await eventually(() => world.prompts() > before);
      await world.launch();
      await world.settled();
      last = agent;
      const successor = await idOf(client, world, last);
      await client.tell(successor, `say S${at}end back`, { wait: "done" });
      const message = (await client.messages()).find(({ id }) => id === told.id);
      outcomes.push(message?.outcome ?? "none");
      toSuccessor += marked(world, `L${at}end`);
    }
    report("agentMessages", { campaign: "replaced", program, times: REPLACED, toSuccessor });
    expect([toSuccessor, new Set(outcomes)]).toEqual([0, new Set(["agent_ended"])]);
  });

  test.skipIf(ROUNDS === 0)(
    "rounds of send, wait, collect lose and mix nothing; then it ends by its own words",
    async () => {
      await using world = await realWorld(program);
      await using sandbox = cliSandbox();
      await world.start();
      await world.settled();
      await serve(sandbox, world);
      const client = clientOf(sandbox);
      const agent = await idOf(client, world);
      const { wrong, roundMs } = await rounds(client, world, agent, "R");
      const ended = await client.endAgent(agent);
      report("agentMessages", { campaign: "rounds", program, rounds: ROUNDS, roundMs, wrong: wrong.length, ...ended });
      expect(wrong).toEqual([]);
      expect(ended.endedBy).toBe("itself");
    },
  );
});

test.skipIf(ROUNDS === 0 || WORKERS === 0 || programs.length === 0)(
  "workers at once: each gets its own and nothing else",
  async () => {
    await using stack = new Disposables();
    const worlds: RealWorld[] = [];
    for (let at = 0; at < WORKERS; at += 1) {
      const world = stack.use(await realWorld(programs[at % programs.length]!));
      await world.start();
      await world.settled();
      worlds.push(world);
    }
    const sandbox = stack.use(cliSandbox());
    await serve(sandbox, ...worlds);
    const client = clientOf(sandbox);
    const results = await Promise.all(
      worlds.map(async (world, at) => {
        const agent = await idOf(client, world, undefined, serverOf(at));
        return rounds(client, world, agent, String.fromCodePoint(65 + at));
      }),
    );
    const wrong = results.flatMap((each) => each.wrong);
    // Nobody got what was for another.
    const strayed = worlds.flatMap((world, at) =>
      world
        .asked()
        .flatMap(({ text }) => text.match(/\b[A-Z]\d+q\d+/g) ?? [])
        .filter((mark) => !mark.startsWith(String.fromCodePoint(65 + at))),
    );
    report("agentMessages", {
      campaign: "workers",
      kinds: worlds.map((_, at) => programs[at % programs.length]).join(),
      rounds: ROUNDS,
      roundMs: results.map(({ roundMs }) => roundMs),
      wrong: wrong.length,
      strayed: strayed.length,
    });
    expect([wrong, strayed]).toEqual([[], []]);
  },
);
