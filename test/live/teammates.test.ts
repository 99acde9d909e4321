/**
 * An agent that leads teammates in panes beside its own, with the tmux commands that Claude Code 2.1 sends (docs/agentFacts.md,
 * "Teammates"), while a control client that reads nothing is attached: every pane is listed, what a teammate prints has no
 * silent hole, each names its leader, and the server lives.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readAgents } from "../../adapters/agents/catalogue.ts";
import { AgentDirectory } from "../../adapters/agents/running/agentDirectory.ts";
import { AgentStore } from "../../adapters/agents/running/agentStore.ts";
import { noteLeaders } from "../../adapters/agents/running/leaders.ts";
import { silentLog } from "../../bench/silentLog.ts";
import { ReadinessEngine } from "../../daemon/readiness/engine.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { PROFILES } from "../support/agents/agentCatalogue.ts";
import { eventually } from "../support/clock/eventually.ts";
import { guestFixture, userSession } from "../support/tmux/guestFixture.ts";
import { ownedFixture, type PrivateSocket } from "../support/tmux/ownedFixture.ts";
import { follow } from "../support/tmux/output.ts";

/** How often the team is made and ended; more to look for what is rare. */
const ROUNDS = Number(process.env["ROUNDS"] ?? 3);
const TEAMMATES = 3;
const LINES = 2_000;
const SESSION = "0b6f9d4e-7a51-4a0e-9d55-2f7f5c1f3a77";

/** Stands for Claude: draws its box; a teammate first prints numbered lines. */
const CLAUDE = `#!${process.execPath}
const led = process.argv.includes("--agent-id");
for (let at = 0; led && at < ${LINES}; at += 1) process.stdout.write("<" + at + ">\\r\\n");
const rule = "─".repeat(20);
process.stdin.setRawMode?.(true);
process.stdin.on("data", () => undefined);
process.stdout.write("Claude Code v2.1.330\\r\\n" + rule + "\\r\\n❯ \\r\\n" + rule + "\\r\\n");
`;

/** Reads nothing of what tmux sends to it. */
async function laggingClient({ socketPath }: PrivateSocket): Promise<AsyncDisposable & { readonly pid: number }> {
  const child = spawn("tmux", ["-S", socketPath, "-C", "attach-session", "-t", "=lead"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  await once(child.stdout, "readable");
  child.kill("SIGSTOP");
  return {
    pid: child.pid!,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      child.stdout.resume();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    },
  };
}

interface Printed {
  readonly numbers: readonly number[];
  readonly gaps: number;
}

/** The numbers that a pane prints from now on, and how many gaps were declared. */
function numbersOf(server: TmuxServer, pane: PaneId): () => Printed {
  const source = server.output(pane);
  let text = "";
  let gaps = 0;
  follow(
    source,
    source.outputSeq,
    (bytes) => (text += Buffer.from(bytes).toString("latin1")),
    () => {
      gaps += 1;
      text += "|";
    },
  );
  return () => ({ numbers: [...text.matchAll(/<(\d+)>/g)].map(([, number]) => Number(number)), gaps });
}

/** How often a number is missing in between. */
const holes = ({ numbers }: Printed): number =>
  numbers.filter((number, at) => at > 0 && number !== numbers[at - 1]! + 1).length;

const summary = ({ numbers, gaps }: Printed): object => ({
  read: numbers.length,
  last: numbers.at(-1),
  gaps,
});

const places = {
  owned: async () => {
    const fixture = await ownedFixture();
    fixture.socket.tmux("new-session", "-d", "-x", "200", "-y", "50", "-s", "lead", "cat");
    return fixture;
  },
  guest: () => guestFixture((socket) => void userSession(socket, "lead", ["cat"])),
};

test.for(["owned", "guest"] as const)("a team in panes, on a server that is %s", async (kind, { onTestFailed }) => {
  let told = (): string => "before the first round";
  onTestFailed(() => console.error(told()));
  await using fixture = await places[kind]();
  const { server, socket } = fixture;
  const tmux = (...args: readonly string[]): string => socket.tmux(...args);
  const failing = (error: unknown): never => {
    throw error;
  };
  const engines = { clock: systemClock, nowUnixMs: Date.now, onError: failing };
  using readiness = closing(new ReadinessEngine({ ...engines, profiles: PROFILES }));
  const store = new AgentStore({ path: join(socket.directory, "agents.db"), nowUnixMs: Date.now, log: silentLog });
  using agents = closing(new AgentDirectory({ ...engines, catalogue: readAgents(), readiness, store }));
  noteLeaders(agents);
  agents.addServer("main", server);
  const claude = join(socket.directory, "claude");
  writeFileSync(claude, CLAUDE, { mode: 0o755 });
  const pid = tmux("display-message", "-p", "#{pid}");
  const lead = tmux("display-message", "-p", "-t", "=lead:", "#{pane_id}").trim();
  await eventually(() => server.findPane(lead as PaneId) !== undefined);
  tmux("respawn-pane", "-k", "-t", lead, "--", claude, "--teammate-mode", "tmux");
  await eventually(() => agents.agents().length === 1);
  const [leader] = agents.agents();
  await using lagging = await laggingClient(socket);
  expect(lagging.pid).toBeGreaterThan(0);

  for (let round = 0; round < ROUNDS; round += 1) {
    const made: { readonly pane: PaneId; readonly printed: () => Printed }[] = [];
    for (let at = 0; at < TEAMMATES; at += 1) {
      const how = at === 0 ? ["-t", lead, "-h", "-l", "70%"] : ["-t", made.at(-1)!.pane, "-v"];
      const pane = tmux("split-window", "-d", ...how, "-P", "-F", "#{pane_id}", "--", "cat").trim() as PaneId;
      await eventually(() => server.findPane(pane) !== undefined);
      made.push({ pane, printed: numbersOf(server, pane) });
      // Everybody can be at anything when the next command comes.
      await delay(Math.random() * 60);
      tmux("select-pane", "-t", pane, "-P", "bg=default,fg=blue");
      tmux("select-pane", "-t", pane, "-T", `mate-${at}`);
      tmux("set-option", "-w", "-t", lead, "pane-border-status", "top");
      tmux("set-option", "-p", "-t", pane, "remain-on-exit", "failed");
      const option = ["--agent-id", `mate-${at}@team`, "--team-name", "team", "--parent-session-id", SESSION];
      tmux("respawn-pane", "-k", "-t", pane, "--", claude, ...option);
      await delay(Math.random() * 30);
      tmux("select-layout", "-t", lead, "main-vertical");
      tmux("resize-pane", "-t", lead, "-x", "30%");
    }
    // Its hook, or its transcript, tells the leader's session.
    agents.note(leader!, { sessionId: SESSION });
    told = () =>
      `round ${round}: ${JSON.stringify(made.map(({ pane, printed }) => [pane, summary(printed())]))} ${agents
        .agents()
        .map(({ id, pane, leader: led }) => `${id} ${pane} ${led}`)
        .join(", ")}`;
    await eventually(async () => {
      for (const { pane, printed } of made) {
        const { numbers, gaps } = printed();
        if (numbers.at(-1) === LINES - 1) continue;
        // A guest's stream that began late says so, and its beginning is on the screen.
        if (gaps === 0 || !(await server.capture(pane)).lines.some((row) => row.startsWith("❯"))) return false;
      }
      return true;
    });
    for (const { printed } of made) expect(holes(printed())).toBeLessThanOrEqual(printed().gaps);
    await eventually(() => {
      const mates = agents.agents().filter(({ id }) => id !== leader!.id);
      return mates.length === TEAMMATES && mates.every((mate) => mate.leader === leader!.id);
    });
    const listed = tmux("list-panes", "-s", "-t", "=lead", "-F", "#{pane_id}").trim().split("\n").sort();
    await eventually(() => {
      const window = server.findPane(lead as PaneId)?.window;
      const known = server.panes().filter((pane) => pane.window === window);
      return (
        known
          .map(({ id }) => id)
          .sort()
          .join() === listed.join()
      );
    });
    expect(listed).toHaveLength(TEAMMATES + 1);
    for (const { pane } of made) tmux("kill-pane", "-t", pane);
    await eventually(() => agents.agents().length === 1 && server.findPane(made[0]!.pane) === undefined);
  }
  expect(tmux("display-message", "-p", "#{pid}")).toBe(pid);
});

const closing = <Closed extends { close(): void }>(closed: Closed): Closed & Disposable =>
  Object.assign(closed, { [Symbol.dispose]: () => closed.close() });
