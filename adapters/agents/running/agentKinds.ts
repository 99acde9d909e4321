/**
 * What agents are called: the names of each one's program, from the catalogue and from profiles, a person's own included. An
 * agent is recognised by the processes in front of a pane alone; what a pane shows never makes one.
 */
import { addresseeOf } from "../../../daemon/panes/foreground.ts";
import { isCalled } from "../../../daemon/host/programNames.ts";
import type { Profile } from "../../../daemon/readiness/profile.ts";
import type { Foreground, ForegroundProcess } from "../../../daemon/tmux/processes.ts";
import type { Agent } from "../catalogue.ts";

interface AgentKind {
  readonly agent: Agent;
  /** Names of its program. */
  readonly programs: ReadonlySet<string>;
}

export interface FoundAgent {
  readonly kind: AgentKind;
  readonly process: ForegroundProcess;
}

/** @param profiles those that the daemon judges by; one of a person's own for which there is no agent makes one */
export function agentKinds(agents: readonly Agent[], profiles: readonly Profile[]): readonly AgentKind[] {
  const judging = profiles.filter(({ kind }) => kind === "agent");
  // Several with one name are for its versions.
  const programsOf = (wanted: string): readonly string[] =>
    judging.filter(({ name }) => name === wanted).flatMap(({ programs }) => [...programs]);
  const known = agents.map((agent) => {
    return { agent, programs: new Set([agent.name, ...programsOf(agent.name)]) };
  });
  const names = new Set(agents.map(({ name }) => name));
  const own = new Set(judging.map(({ name }) => name).filter((name) => !names.has(name)));
  return [...known, ...[...own].map((name) => ({ agent: bareAgent(name), programs: new Set(programsOf(name)) }))];
}

const bareAgent = (name: string): Agent => ({
  name,
  title: name,
  label: name,
  marks: [],
  profile: undefined,
  plugin: undefined,
  once: [],
});

/**
 * The outermost agent: what an agent runs belongs to it. Of that one, the process that reads (`addresseeOf`): not its
 * launcher. None without a terminal as input: it takes no prompts.
 */
export function agentIn(foreground: Foreground, kinds: readonly AgentKind[]): FoundAgent | undefined {
  for (const { names } of foreground) {
    const kind = kinds.find(({ programs }) => isCalled(names, programs));
    if (kind === undefined) continue;
    const process = addresseeOf(foreground, kind.programs);
    return process === undefined || process.hasTerminalInput === false ? undefined : { kind, process };
  }
  return undefined;
}
