/**
 * Waits until a program that was started takes a prompt, asks something, or has ended. One that reports by a hook when it is
 * ready is believed at once; its screen counts only after a grace period for the hook, because a prompt box drawn a moment
 * before keys are read swallows Enter (docs/contracts/team.md §5).
 */
import type { PaneReadiness, Readiness } from "../../../daemon/readiness/readiness.ts";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { AgentDirectory } from "../running/agentDirectory.ts";
import type { RunningAgent } from "../running/runningAgent.ts";

/** If the screen looks settled for this long and the hook has not reported, there is no hook. */
export const HOOK_GRACE_MS = 1_500;
const SHELL = "shell";

interface SettleOptions {
  readonly agents: Pick<AgentDirectory, "inPane" | "subscribe">;
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Only what this profile says counts. */
  readonly profile: string;
  /**
   * Whether a program that is the pane's own was started with a hook. Undefined: it runs in front of a shell, and a question
   * that has been read counts at once.
   */
  readonly hooked?: boolean | undefined;
  /** Is over: what it said was not so. */
  readonly seen?: Readiness | undefined;
}

/** `late`: not ready in time. `ended`: its program did, or never ran. `asking`: it asks something first, and goes on asking. */
type Settled = "ready" | "asking" | "ended" | "late";

const saysItself = ({ source }: Readiness): boolean => source === "hook" || source === "osc7501";

export function untilSettled(
  server: TmuxServer,
  pane: PaneId,
  watched: Pick<PaneReadiness, "current" | "subscribe">,
  { agents, clock, timeoutMs, profile, hooked, seen }: SettleOptions,
): Promise<Settled> {
  let agent: RunningAgent | undefined;
  return within<Settled>(clock, Math.max(0, timeoutMs), "late", (end) => {
    let grace: Timer | undefined;
    let judged: Readiness | undefined;
    const judge = (): void => {
      const { current } = watched;
      agent = agents.inPane(server, pane) ?? agent;
      if (agent?.endedUnixMs !== undefined || current.state === "dead" || server.findPane(pane) === undefined)
        return end("ended");
      // The shell behind it: it never came to be, or has ended already.
      if (hooked === undefined && current.profile === SHELL && current.state === "idle") return end("ended");
      if (current === judged) return undefined;
      judged = current;
      grace?.cancel();
      if (current === seen || current.profile !== profile) return undefined;
      const settle = (outcome: Settled): void => {
        grace = clock.callAt(clock.nowMs() + HOOK_GRACE_MS, () => end(outcome));
      };
      if (current.state === "idle") return hooked !== true || saysItself(current) ? end("ready") : settle("ready");
      if (current.state !== "asking") return undefined;
      if (hooked === false) return settle("asking");
      // What has a hook says itself when it is ready.
      return hooked === undefined && current.dialog !== undefined ? end("asking") : undefined;
    };
    const unsubscribe = [
      watched.subscribe(judge),
      server.subscribe(judge),
      agents.subscribe((change) => {
        if (change.agent.pane === pane && change.agent.server === server) judge();
      }),
    ];
    judge();
    return () => {
      grace?.cancel();
      for (const stop of unsubscribe) stop();
    };
  });
}
