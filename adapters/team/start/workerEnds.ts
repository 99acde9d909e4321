/** Waits for the ends of workers and of their processes. */
import type { PaneReadiness } from "../../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import type { AgentDirectory } from "../../agents/running/agentDirectory.ts";
import type { RunningAgent } from "../../agents/running/runningAgent.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { EXIT_REPORTED_WITHIN_MS, EXIT_WITHIN_MS, GONE_WITHIN_MS } from "../teamLimits.ts";

/** Whether its program has ended, which the host may show before tmux reports it. */
export const untilEnded = (pane: PaneReadiness, clock: Clock): Promise<boolean> =>
  within(clock, EXIT_WITHIN_MS, false, (end) => {
    const judge = (): void => {
      if (pane.current.state === "dead") end(true);
    };
    judge();
    return pane.subscribe(judge);
  });

/** Waits until tmux has reported how the pane's program ended; the host reports a little earlier that it is gone. */
export const untilExitReported = (server: TmuxServer, pane: PaneId, clock: Clock): Promise<void> =>
  within<void>(clock, EXIT_REPORTED_WITHIN_MS, undefined, (end) => {
    const check = (): void => {
      const found = server.findPane(pane);
      if (found === undefined || found.exit !== undefined) end();
    };
    check();
    return server.subscribe(check);
  });

/** Waits until an agent's process has ended, in vain if it ignores that its terminal has closed. */
export const untilGone = (agents: AgentDirectory, agent: RunningAgent, clock: Clock): Promise<void> =>
  within<void>(clock, GONE_WITHIN_MS, undefined, (end) => {
    if (agent.endedUnixMs !== undefined) end();
    return agents.subscribe((change) => {
      if (change.kind === "ended" && change.agent.id === agent.id) end();
    });
  });
