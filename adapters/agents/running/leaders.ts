/**
 * Which agent leads which: one that starts teammates in panes tells each its own session's id, as an option. Known once the
 * leader's session is; nothing is guessed from who stands beside whom.
 */
import type { AgentDirectory } from "./agentDirectory.ts";
import type { RunningAgent } from "./runningAgent.ts";

/** Notes the leader of each teammate. Returns the function that ends it. */
export function noteLeaders(agents: AgentDirectory): () => void {
  /** Teammates that run, with their leader's session. */
  const led = new Map<RunningAgent, string>();
  return agents.subscribe(({ kind, agent }) => {
    if (kind === "ended") return void led.delete(agent);
    const session = kind === "appeared" ? leadersSession(agent) : undefined;
    if (session !== undefined) led.set(agent, session);
    for (const [teammate, of] of led) {
      const leader = agents.agents().find(({ sessionId }) => sessionId === of);
      if (leader !== undefined && teammate.leader !== leader.id) agents.note(teammate, { leader: leader.id });
    }
  });
}

/** As its command line says it: `--option ID` or `--option=ID`. */
function leadersSession({ kind: { leads }, server, process }: RunningAgent): string | undefined {
  if (leads === undefined) return undefined;
  const words = server.processes.wordsNow(process.pid) ?? [];
  const at = words.findIndex((word) => word === leads || word.startsWith(`${leads}=`));
  const session = words[at] === leads ? words[at + 1] : words[at]?.slice(leads.length + 1);
  return session === "" ? undefined : session;
}
