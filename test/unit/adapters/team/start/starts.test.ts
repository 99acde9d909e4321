/** A restart, with everything around it played: what the new worker is started with, and what is known of it from the start. */
import { homedir } from "node:os";
import { expect, test } from "vitest";
import { Starts } from "../../../../../adapters/team/start/starts.ts";
import type { TeamParts } from "../../../../../adapters/team/start/worker.ts";
import type { TeamPlace } from "../../../../../adapters/team/teamServers.ts";
import type { AgentFacts } from "../../../../../adapters/agents/running/runningAgent.ts";
import { FakeClock } from "../../../../support/clock/fakeClock.ts";

test("a worker that goes on with its conversation can be restarted again before it has said which one that is", async () => {
  const started: (readonly string[])[] = [];
  let known: AgentFacts = { sessionId: "s-1", transcriptPath: "/kept/s-1.jsonl" };
  const server = {
    killSession: async () => undefined,
    createSession: async ({ command }: { readonly command: readonly string[] }) => void started.push(command),
  };
  const place = { server, session: { id: "$1" }, sessionName: "worker-1", pane: "%1", record: undefined };
  const kind = { name: "claude", resume: ["--resume"] };
  const parts = {
    clock: new FakeClock(),
    servers: {
      withSession: (_request: object, run: (found: TeamPlace) => unknown) => run(place as unknown as TeamPlace),
      place: () => place,
      socketPath: () => "/teams/t/tmux.sock",
    },
    agents: {
      check: () => undefined,
      lastInPane: () => ({ ...known, kind, launch: { cwd: homedir() }, endedUnixMs: 1 }),
      isFreeName: () => true,
      introduce: (_server: object, _pane: string, { facts }: { readonly facts: AgentFacts }) => void (known = facts),
      kind: () => kind,
    },
    starts: { bringUp: async () => ({ outcome: "ready" }) },
    workerOf: () => ({ agent: "claude", argv: [process.execPath], environment: {}, hooked: false }),
  } as unknown as TeamParts;
  const starts = new Starts(parts);
  for (let time = 1; time <= 2; time += 1) {
    expect(await starts.restart({ teamId: "t", sessionName: "worker-1" })).toMatchObject({ resumed: true });
  }
  const line = [process.execPath, "--resume", "s-1"];
  expect([started, known.transcriptPath]).toEqual([[line, line], "/kept/s-1.jsonl"]);
});
