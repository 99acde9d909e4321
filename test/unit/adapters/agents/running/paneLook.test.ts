import { expect, test } from "vitest";
import { readAgents } from "../../../../../adapters/agents/catalogue.ts";
import { agentKinds } from "../../../../../adapters/agents/running/agentKinds.ts";
import { PaneLook } from "../../../../../adapters/agents/running/paneLook.ts";
import type { HostProcesses } from "../../../../../daemon/host/hostProcesses.ts";
import type { ProcessStat } from "../../../../../daemon/host/procfs.ts";

interface Fake extends Pick<ProcessStat, "name" | "isForked"> {
  readonly parent?: number;
  readonly words: readonly string[];
}

const SHELL = 100;
const AGENT = 101;

/** A pane whose shell gives its terminal to a process of its own group, as dash and bash do. */
function pane() {
  const running = new Map<number, Fake>([[SHELL, { name: "sh", words: ["/bin/sh"] }]]);
  let front = SHELL;
  const statNow = (pid: number): ProcessStat | undefined => {
    const fake = running.get(pid);
    const { parent = 1, name = "", isForked = false } = fake ?? {};
    return fake === undefined
      ? undefined
      : {
          pid,
          name,
          state: "S",
          parent,
          group: pid,
          terminal: 7,
          foregroundGroup: front,
          start: String(pid),
          isForked,
        };
  };
  const processes = {
    reportsNow: true,
    statNow,
    wordsNow: (pid: number) => running.get(pid)?.words,
    childrenNow: (pid: number) => [...running].filter(([, { parent }]) => parent === pid).map(([child]) => child),
    executableNow: (pid: number) => running.get(pid)?.words[0],
    hasTerminalInputNow: () => true,
  } as unknown as HostProcesses;
  const look = new PaneLook(processes, agentKinds(readAgents(), []));
  return {
    look: () => look.look(SHELL)?.process.pid,
    runs: (fake: Omit<Fake, "parent">) => {
      running.set(AGENT, { ...fake, parent: SHELL });
      front = AGENT;
    },
    ends: () => {
      running.delete(AGENT);
      front = SHELL;
    },
  };
}

test("an agent is found although a look met its process on the way from fork(2) to the end of execve(2)", () => {
  const { look, runs, ends } = pane();
  expect(look()).toBeUndefined();
  runs({ name: "sh", words: ["/bin/sh"], isForked: true });
  expect(look()).toBeUndefined();
  runs({ name: "node", words: [""] });
  expect(look()).toBeUndefined();
  runs({ name: "node", words: ["node", "/home/me/bin/claude"] });
  expect(look()).toBe(AGENT);
  ends();
  expect(look()).toBeUndefined();
});

test("a script that a shell runs is told from the shell that has just forked", () => {
  const { look, runs } = pane();
  runs({ name: "sh", words: ["/bin/sh"], isForked: true });
  expect(look()).toBeUndefined();
  runs({ name: "sh", words: ["/bin/sh", "/home/me/bin/claude"] });
  expect(look()).toBe(AGENT);
});
