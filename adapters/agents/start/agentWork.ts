/** What the daemon does with agents beyond knowing them: it reads their conversations, starts them and brings them back. */
import type { Delivery } from "../../../daemon/delivery/delivery.ts";
import { runProgram } from "../../../daemon/host/runProgram.ts";
import type { ReadinessWatcher } from "../../../daemon/readiness/readiness.ts";
import type { Agent } from "../catalogue.ts";
import { PlacedSessions } from "./placedSessions.ts";
import { AgentResume } from "./agentResume.ts";
import { AgentStarts, type AgentStartsOptions } from "./agentStarts.ts";
import { Git } from "./git.ts";
import { Transcripts } from "./transcripts.ts";
import { Worktrees } from "./worktrees.ts";

interface AgentWorkOptions extends Pick<
  AgentStartsOptions,
  "agents" | "transcripts" | "paneEnvironment" | "clock" | "nowUnixMs" | "log"
> {
  readonly catalogue: readonly Agent[];
  readonly readiness: ReadinessWatcher;
  readonly delivery: Delivery;
  /** For worktrees that cannot be beside their repository. Absolute. */
  readonly worktreesDirectory: string;
}

export class AgentWork {
  readonly transcripts: Transcripts;
  readonly worktrees: Worktrees;
  readonly starts: AgentStarts;
  readonly resume: AgentResume;
  readonly #places: PlacedSessions;

  constructor(options: AgentWorkOptions) {
    const { agents, catalogue, clock, nowUnixMs, log, paneEnvironment: env } = options;
    this.transcripts = new Transcripts({ transcripts: options.transcripts, agents, nowUnixMs });
    this.worktrees = new Worktrees({
      git: new Git({ run: runProgram, env }),
      database: () => agents.database,
      fallbackDirectory: options.worktreesDirectory,
      agents: () => agents.agents(),
      nowUnixMs,
    });
    this.starts = new AgentStarts({ ...options, worktrees: this.worktrees, conversations: this.transcripts });
    const onError = (error: unknown): void => log.error("agents.places.failed", { error });
    this.#places = new PlacedSessions({ agents, transcripts: this.transcripts, clock, nowUnixMs, onError });
    this.resume = new AgentResume({ agents, places: this.#places, starts: this.starts, catalogue, clock });
  }

  /** Safe to call twice. */
  close(): void {
    this.#places.close();
  }
}
