/**
 * How full an agent's context is, where its status line says so: `[ctx: 22% used, 155k remaining]`, as the contract's users
 * have it. Captured after a hook, once in a while: no hook waits for the capture, and nothing polls.
 */
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Agent, ContextUse } from "../agents/agent.ts";
import { CONTEXT_CAPTURE_MS } from "../dashboardLimits.ts";
import type { AgentPlacesOptions } from "./agentPlaces.ts";

/** A status line is one of the last. */
const LINES = 8;
const STATUS = /\[ctx:\s*(\d{1,3})%\s*used,\s*(\d{1,9}(?:\.\d{1,3})?[kKmM]?)\s*remaining\]/;

type ContextGaugeOptions = Pick<AgentPlacesOptions, "server" | "desk" | "clock" | "log">;

export class ContextGauge {
  readonly #options: ContextGaugeOptions;
  readonly #capturedMs = new WeakMap<Agent, number>();

  constructor(options: ContextGaugeOptions) {
    this.#options = options;
  }

  /** Its hook has arrived. */
  reported(agent: Agent, pane: PaneId): void {
    const { clock } = this.#options;
    const nowMs = clock.nowMs();
    if (nowMs - (this.#capturedMs.get(agent) ?? -Infinity) < CONTEXT_CAPTURE_MS) return;
    this.#capturedMs.set(agent, nowMs);
    clock.callAt(nowMs, () => void this.#probe(agent, pane));
  }

  async #probe(agent: Agent, pane: PaneId): Promise<void> {
    const { server, desk, log } = this.#options;
    try {
      const { lines } = await server.capture(pane, { unfollowed: true });
      const found = contextIn(lines);
      const isSame = found?.percentUsed === agent.context?.percentUsed && found?.remaining === agent.context?.remaining;
      // A dialog may hide the line for a while.
      if (found === undefined || isSame || agent.record.tmuxPaneId !== pane) return;
      agent.context = found;
      desk.refreshCard(agent, "context");
    } catch (error) {
      log.debug("dashboard.context.unseen", { code: toAppError(error).code });
    }
  }
}

/** The last one on the screen, which a program can write as it likes: numbers and nothing else. */
export function contextIn(lines: readonly string[]): ContextUse | undefined {
  const last = lines.findLastIndex((line) => line.trim() !== "");
  for (let at = last; at >= 0 && at > last - LINES; at -= 1) {
    const [, percent, remaining] = STATUS.exec(lines[at] ?? "") ?? [];
    if (percent !== undefined && remaining !== undefined) return { percentUsed: Number(percent), remaining };
  }
  return undefined;
}
