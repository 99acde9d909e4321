/**
 * Waits until a worker is ready for a prompt. Its hook reports that; a screen that looks ready counts only after a grace
 * period for the hook, because a prompt box drawn a moment before keys are read swallows Enter (docs/contracts/team.md §5).
 */
import type { PaneReadiness, Readiness } from "../../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { EXIT_REPORTED_WITHIN_MS, EXIT_WITHIN_MS, HOOK_GRACE_MS } from "../teamLimits.ts";

interface ReadyOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Whether the worker was started with the hook. */
  readonly hooked: boolean;
}

const saysItself = ({ source }: Readiness): boolean => source === "hook" || source === "osc7501";

/** `late`: not ready in time. `dead`: its program ended. */
export function untilReady(
  pane: PaneReadiness,
  { clock, timeoutMs, hooked }: ReadyOptions,
): Promise<"ready" | "late" | "dead"> {
  return within<"ready" | "late" | "dead">(clock, timeoutMs, "late", (end) => {
    let grace: Timer | undefined;
    const judge = (readiness: Readiness): void => {
      grace?.cancel();
      grace = undefined;
      if (readiness.state === "dead") end("dead");
      else if (readiness.state !== "idle") return;
      else if (!hooked || saysItself(readiness)) end("ready");
      else grace = clock.callAt(clock.nowMs() + HOOK_GRACE_MS, () => end("ready"));
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
