/** What the daemon does with agents beyond knowing them: it reads their conversations, starts them and brings them back. */
import type { Delivery } from "../../../daemon/delivery/delivery.ts";
import { runProgram } from "../../../daemon/host/runProgram.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { ReadinessWatcher } from "../../../daemon/readiness/readiness.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { AgentTranscripts } from "../agentTranscript.ts";
import type { Agent } from "../catalogue.ts";
import type { AgentDirectory } from "../running/agentDirectory.ts";
import { AgentPlaces } from "./placedSessions.ts";
import { AgentResume } from "./agentResume.ts";
import { AgentStarts } from "./agentStarts.ts";
import { Git } from "./git.ts";
import { Transcripts } from "./transcripts.ts";
import { Worktrees } from "./worktrees.ts";

interface AgentWorkOptions {
  readonly agents: AgentDirectory;
  readonly catalogue: readonly Agent[];
  readonly transcripts: AgentTranscripts;
  readonly readiness: ReadinessWatcher;
  readonly delivery: Delivery;
  /** What panes of an owned server begin with. */
  readonly paneEnvironment: Readonly<Record<string, string>>;
  /** For worktrees that cannot be beside their repository. Absolute. */
  readonly worktreesDirectory: string;
  readonly clock: Clock;
  readonly nowUnixMs: () => number;
  readonly log: Log;
}

export class AgentWork {
  readonly transcripts: Transcripts;
  readonly worktrees: Worktrees;
  readonly starts: AgentStarts;
  readonly resume: AgentResume;
  readonly #places: AgentPlaces;

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
    this.#places = new AgentPlaces({ agents, transcripts: this.transcripts, clock, nowUnixMs, onError });
    this.resume = new AgentResume({ agents, places: this.#places, starts: this.starts, catalogue });
  }

  /** Safe to call twice. */
  close(): void {
    this.#places.close();
  }
}
