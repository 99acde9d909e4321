/**
 * Waits until a worker is ready for a prompt. Its hook reports that; a screen that looks ready counts only after a grace
 * period for the hook, because a prompt box drawn a moment before keys are read swallows Enter (docs/contracts/team.md §5).
 */
import type { PaneReadiness, Readiness } from "../../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import type { AgentDirectory } from "../../agents/running/agentDirectory.ts";
import type { RunningAgent } from "../../agents/running/runningAgent.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { EXIT_REPORTED_WITHIN_MS, EXIT_WITHIN_MS, GONE_WITHIN_MS, HOOK_GRACE_MS } from "../teamLimits.ts";

interface ReadyOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Whether the worker was started with the hook. */
  readonly hooked: boolean;
}

const saysItself = ({ source }: Readiness): boolean => source === "hook" || source === "osc7501";

/** `late`: not ready in time. `dead`: its program ended. `asking`: it asks something first, and goes on asking. */
type ReadyOutcome = "ready" | "late" | "dead" | "asking";

export function untilReady(pane: PaneReadiness, { clock, timeoutMs, hooked }: ReadyOptions): Promise<ReadyOutcome> {
  return within<ReadyOutcome>(clock, timeoutMs, "late", (end) => {
    let grace: Timer | undefined;
    const judge = (readiness: Readiness): void => {
      const { state } = readiness;
      const settle = (outcome: ReadyOutcome): void => {
        grace = clock.callAt(clock.nowMs() + HOOK_GRACE_MS, () => end(outcome));
      };
      grace?.cancel();
      grace = undefined;
      if (state === "dead") end("dead");
      else if (state === "idle" && (!hooked || saysItself(readiness))) end("ready");
      else if (state === "idle") settle("ready");
      // What has a hook says itself when it is ready.
      else if (state === "asking" && !hooked) settle("asking");
    };
    judge(pane.current);
    const unsubscribe = pane.subscribe(judge);
    return () => {
      grace?.cancel();
      unsubscribe();
    };
  });
}

/** Whether its program has ended, which the host may show before tmux reports it. */
export const untilEnded = (pane: PaneReadiness, clock: Clock): Promise<boolean> =>
  within(clock, EXIT_WITHIN_MS, false, (end) => {
    const judge = ({ state }: Readiness): void => {
      if (state === "dead") end(true);
    };
    judge(pane.current);
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
