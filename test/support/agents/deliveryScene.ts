/** Readiness and delivery as a daemon has them, for one test; an error that only the log would show fails it. */
import { existsSync } from "node:fs";
import type { DeliveryOptions } from "../../../daemon/delivery/deliveryEngine.ts";
import type { PaneReadiness, Readiness, ReadinessState } from "../../../daemon/readiness/readiness.ts";
import { eventually } from "../clock/eventually.ts";
import { AGENT_PROFILES, type AgentName, type AgentProgram } from "./agentPrograms.ts";
import { type Engines, engines as enginesAt } from "./agentsEngines.ts";

export type { Engines } from "./agentsEngines.ts";
export const engines = (options: Partial<DeliveryOptions> = {}): Engines =>
  enginesAt({ nowUnixMs: Date.now, ...options });

/** Until the daemon knows that the program is in this state: it draws after it has changed. */
export async function untilState(watched: PaneReadiness, wanted: ReadinessState): Promise<Readiness> {
  const now = await watched.probe();
  if (now.state === wanted) return now;
  return new Promise((resolve) => {
    const unsubscribe = watched.subscribe((readiness) => {
      if (readiness.state !== wanted) return;
      unsubscribe();
      resolve(readiness);
    });
  });
}

/** The pane of an agent fixture, as a request names it. */
export const to = ({ server, pane }: AgentProgram, name: AgentName) => ({
  server,
  pane,
  profile: AGENT_PROFILES[name],
});

/** The same, once the program has drawn itself and the daemon knows it. */
export async function drawn(agent: AgentProgram, { readiness }: Engines, name: AgentName) {
  using watched = readiness.watch(agent.server, agent.pane, { profile: AGENT_PROFILES[name] });
  await untilState(watched, "idle");
  return to(agent, name);
}

/** Of the agent below its pane's shell. */
export const agentPid = async ({ server, pane }: AgentProgram): Promise<number> =>
  (await server.foreground(pane)).processes!.find(({ isShell }) => !isShell)!.pid;

export const shellReads = ({ server, pane }: AgentProgram): Promise<void> =>
  eventually(async () => (await server.foreground(pane)).processes?.[0]?.isInteractiveShell === true);

/** A command of the test's own, behind whatever was typed, which is thrown away or has run by then. */
export async function shellHasRun({ server, pane }: AgentProgram, path: string, before = ""): Promise<void> {
  await server.input(pane, [{ kind: "keys", keys: ["C-c"] }]);
  await server.input(pane, [{ kind: "text", bytes: Buffer.from(`${before}: > '${path}'\n`) }]);
  await eventually(() => existsSync(path));
}
