/**
 * When a worker takes a prompt. Its hook says so itself; a screen that looks ready counts once the hook has had its time,
 * because a box that is drawn a moment before keys are read swallows Enter (docs/contracts/team.md §5).
 */
import type { PaneReadiness, Readiness } from "../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { Clock, Timer } from "../../daemon/time/clock.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { EXIT_TOLD_WITHIN_MS, EXIT_WITHIN_MS, HOOK_GRACE_MS } from "./teamLimits.ts";

interface ReadyOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The worker was started with the hook. */
  readonly hooked: boolean;
  readonly graceMs?: number | undefined;
}

const saysItself = ({ source }: Readiness): boolean => source === "hook" || source === "osc7501";

/** `late`: not in time. `dead`: its program ended. */
export function untilReady(pane: PaneReadiness, options: ReadyOptions): Promise<"ready" | "late" | "dead"> {
  const { clock, timeoutMs, hooked, graceMs = HOOK_GRACE_MS } = options;
  return new Promise((resolve) => {
    let grace: Timer | undefined;
    const end = (outcome: "ready" | "late" | "dead"): void => {
      deadline.cancel();
      grace?.cancel();
      unsubscribe();
      resolve(outcome);
    };
    const judge = (readiness: Readiness): void => {
      grace?.cancel();
      grace = undefined;
      if (readiness.state === "dead") end("dead");
      else if (readiness.state !== "idle") return;
      else if (!hooked || saysItself(readiness)) end("ready");
      else grace = clock.callAt(clock.nowMs() + graceMs, () => end("ready"));
    };
    const deadline = clock.callAt(clock.nowMs() + timeoutMs, () => end("late"));
    const unsubscribe = pane.subscribe(judge);
    judge(pane.current);
  });
}

/** Whether its program has ended, for what looks like that to the system before tmux tells. */
export function untilEnded(pane: PaneReadiness, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (hasEnded: boolean): void => {
      deadline.cancel();
      unsubscribe();
      resolve(hasEnded);
    };
    const judge = ({ state }: Readiness): void => {
      if (state === "dead") end(true);
    };
    const deadline = clock.callAt(clock.nowMs() + EXIT_WITHIN_MS, () => end(false));
    const unsubscribe = pane.subscribe(judge);
    judge(pane.current);
  });
}

/** Until tmux has told how the pane's program ended: the system knows that it is gone a moment before. */
export function untilExitReported(server: TmuxServer, pane: PaneId, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const isReported = (): boolean => {
      const found = server.findPane(pane);
      return found === undefined || found.exit !== undefined;
    };
    const end = (): void => {
      deadline.cancel();
      unsubscribe();
      resolve();
    };
    const deadline = clock.callAt(clock.nowMs() + EXIT_TOLD_WITHIN_MS, end);
    const unsubscribe = server.subscribe(() => {
      if (isReported()) end();
    });
    if (isReported()) end();
  });
}
