/** Notifies a person in another tab that an agent asks: opt-in by a button, closed when the agent goes on. */
import type { AgentCard } from "../model/agentCard.ts";
import type { Agents } from "../model/agents.ts";
import { needOf } from "../model/order.ts";
import { nameOf } from "../words/stateWords.ts";

export type NotifierState = "unsupported" | "off" | "on" | "denied";

const STORED = "tmuxwire.notify";
/** A notification shows a line or two. */
const MAX_BODY_CHARS = 160;

export class Notifier {
  readonly #onPick: (agentId: number) => void;
  readonly #shown = new Map<number, Notification>();
  #wanted = localStorage.getItem(STORED) === "yes";
  onChange: () => void = () => undefined;

  constructor(onPick: (agentId: number) => void) {
    this.#onPick = onPick;
  }

  get state(): NotifierState {
    // Browsers offer it only to pages loaded over HTTPS or from this machine.
    if (!("Notification" in globalThis) || !globalThis.isSecureContext) return "unsupported";
    if (Notification.permission === "denied") return "denied";
    return this.#wanted && Notification.permission === "granted" ? "on" : "off";
  }

  async toggle(): Promise<void> {
    if (this.state === "unsupported") return;
    const wanted = this.state !== "on";
    if (wanted && Notification.permission === "default") await Notification.requestPermission();
    this.#wanted = wanted && Notification.permission === "granted";
    localStorage.setItem(STORED, this.#wanted ? "yes" : "no");
    this.onChange();
  }

  asking(card: AgentCard): void {
    if (this.state !== "on" || (document.visibilityState === "visible" && document.hasFocus())) return;
    const notification = new Notification(`${nameOf(card)} needs an answer`, {
      body: (card.question?.text ?? "").slice(0, MAX_BODY_CHARS),
      tag: `tmuxwire-agent-${card.agent_id}`,
      icon: "/page/icon.svg",
    });
    notification.addEventListener("click", () => {
      globalThis.focus();
      this.#onPick(card.agent_id);
      notification.close();
    });
    this.#shown.set(card.agent_id, notification);
  }

  /** Closes notifications that are no longer needed. */
  keep(agents: Agents): void {
    for (const [agentId, notification] of this.#shown) {
      const card = agents.get(agentId);
      if (card !== undefined && needOf(card) === "asking") continue;
      notification.close();
      this.#shown.delete(agentId);
    }
  }
}
