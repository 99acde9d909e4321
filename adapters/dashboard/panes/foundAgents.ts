/**
 * The agents that the daemon finds by their processes (`AgentDirectory`), on the dashboard: what it knows of one stands on
 * its card, and one that no hook has told of gets a record, so that its card, its questions and its answers are as those of
 * the others. Such a record is the process's: its id is made from the process's, and it ends with it.
 */
import { createHash } from "node:crypto";
import { markOf } from "../../../daemon/panes/foreground.ts";
import type { RunningAgent } from "../../agents/running/runningAgent.ts";
import type { Agent } from "../agents/agent.ts";
import { runningFields } from "../agents/card.ts";
import type { DashboardParts } from "../dashboardParts.ts";
import { isFound } from "../store/records.ts";

export class FoundAgents {
  readonly #options: DashboardParts;
  /** The fields on its card, by the agent, as they were sent last. */
  readonly #shown = new WeakMap<Agent, string>();
  /** Whose card shows a process that runs, by its id. */
  readonly #agents = new Map<string, Agent>();
  readonly #unsubscribe: (() => void)[] = [];
  #isClosed = false;

  constructor(options: DashboardParts) {
    this.#options = options;
    // Until then it is unknown which server the panes of known agents belong to.
    void options.listed.then(() => this.#begin());
  }

  close(): void {
    this.#isClosed = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #begin(): void {
    if (this.#isClosed) return;
    const { running, operations } = this.#options;
    this.#unsubscribe.push(
      running.subscribe(({ agent }) => this.#look(agent)),
      operations.messages?.onChange(() => this.#readMessages()) ?? (() => undefined),
    );
    for (const found of running.agents()) this.#look(found);
  }

  #readMessages(): void {
    const { operations, book } = this.#options;
    const undelivered = operations.messages?.undelivered();
    for (const agent of book.all()) {
      if (agent.running === undefined) continue;
      agent.messages = undelivered?.get(agent.running.id) ?? [];
      this.#show(agent);
    }
  }

  #look(found: RunningAgent): void {
    if (found.server !== this.#options.server) return;
    try {
      if (found.endedUnixMs === undefined) this.#runs(found);
      else this.#ended(found);
    } catch (error) {
      this.#options.log.warn("dashboard.agent.unlisted", { agent: found.id, error });
    }
  }

  #runs(found: RunningAgent): void {
    const holder = this.#options.panes.places.inPane(found.pane);
    const process = holder?.record.process;
    // As far as anybody knows.
    const isIts = process === undefined || (process.pid === found.process.pid && process.start === found.process.start);
    const agent = isIts && holder !== undefined ? holder : this.#add(found, holder);
    if (agent === undefined) return;
    const isAnother = agent.running?.id !== found.id;
    agent.running = found;
    this.#agents.set(found.id, agent);
    // Some may have waited for it while no daemon ran.
    if (isAnother) agent.messages = this.#options.operations.messages?.undelivered(found.id).get(found.id) ?? [];
    this.#show(agent);
  }

  #ended({ id }: RunningAgent): void {
    const agent = this.#agents.get(id);
    this.#agents.delete(id);
    if (agent?.running?.id !== id || agent.record.endedUnixMs !== undefined) return;
    agent.running = undefined;
    agent.messages = [];
    this.#show(agent);
  }

  /** @param holder whose pane it is @throws AppError RESOURCE_LIMIT */
  #add(found: RunningAgent, holder: Agent | undefined): Agent | undefined {
    const { book, desk, panes, settings } = this.#options;
    // What runs in front of an agent that has not left is its tool.
    if (holder !== undefined && !panes.places.hasEnded(holder)) return undefined;
    const sessionUuid = uuidOf(found.id);
    const known = this.#agents.get(found.id) ?? book.byUuid(sessionUuid);
    // Its own hook has told of its end, which the process may outlive for a moment; or somebody has ended it.
    if (known?.record.endedUnixMs !== undefined && !isFound(known.record)) return undefined;
    const project = book.projectOf(found.cwd, settings.registersProjects);
    if (project === undefined) return undefined;
    const agent = known === undefined ? book.add(sessionUuid, project, {}) : book.reopen(known);
    desk.reportCreated(agent);
    panes.moved(agent, found.pane, undefined);
    book.update(agent, { process: markOf(found.process) });
    return agent;
  }

  #show(agent: Agent): void {
    const shown = JSON.stringify(runningFields(agent));
    if (this.#shown.get(agent) === shown) return;
    this.#shown.set(agent, shown);
    this.#options.desk.refreshCard(agent, "running");
  }
}

/** RFC 9562 §5.8: version 8 is for ids that are made in a way of one's own. */
function uuidOf(agentId: string): string {
  const hex = createHash("sha256").update(agentId).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
