/**
 * Tells a person who looks elsewhere that an agent needs them: opt-in by one button. The daemon does it by Web Push, also when
 * the page is closed; where that is not possible the page does it as long as it is open. Never both.
 */
import type { NativeChannel } from "../../../../protocol/api/native/nativeNotifications.ts";
import type { AgentCard } from "../model/agentCard.ts";
import type { Agents } from "../model/agents.ts";
import { needOf } from "../model/order.ts";
import type { Api } from "../net/api.ts";
import {
  knownBrowser,
  type Picked,
  type PushChoice,
  subscribeBrowser,
  testBrowser,
  unsubscribeBrowser,
} from "../net/browserPush.ts";
import { nameOf } from "../words/stateWords.ts";

export type NotifierState = "unsupported" | "off" | "on" | "denied";

const STORED = "tmuxwire.notify";
/** A notification shows a line or two. */
const MAX_BODY_CHARS = 160;

interface NotifierOptions {
  readonly api: Api;
  readonly onPick: (agentId: number) => void;
  readonly onChange: () => void;
}

export class Notifier {
  readonly #options: NotifierOptions;
  readonly #shown = new Map<number, Notification>();
  #wanted = localStorage.getItem(STORED) === "yes";
  #channel: NativeChannel | undefined;
  #words = "";
  /** The agent to go to once it is on the page: its id in the daemon, or a host's name. */
  #picked = decodeURIComponent(location.hash.slice(1));

  constructor(options: NotifierOptions) {
    this.#options = options;
    if (!isPossible()) return;
    navigator.serviceWorker?.addEventListener("message", ({ data }: MessageEvent<Picked>) => {
      this.#picked = data.picked;
      options.onChange();
    });
    if (this.#isAllowed()) void this.#said(async () => this.#known(await knownBrowser(options.api)));
  }

  get state(): NotifierState {
    if (!isPossible()) return "unsupported";
    if (Notification.permission === "denied") return "denied";
    return this.#isAllowed() ? "on" : "off";
  }

  /** What the daemon does; undefined: it does nothing, and the page what it can. */
  get channel(): NativeChannel | undefined {
    return this.#channel;
  }

  /** What became of the last thing that was asked for; empty: it is done. */
  get words(): string {
    return this.#words;
  }

  /** Or changes what is chosen. */
  async start(choice: PushChoice): Promise<void> {
    if (this.state === "unsupported") return;
    if (Notification.permission === "default") await Notification.requestPermission();
    this.#want(Notification.permission === "granted");
    if (!this.#wanted) return this.#options.onChange();
    await this.#said(async () => {
      this.#channel = await subscribeBrowser(this.#options.api, choice);
    });
  }

  async stop(): Promise<void> {
    this.#want(false);
    this.#channel = undefined;
    await this.#said(() => unsubscribeBrowser(this.#options.api));
  }

  async test(): Promise<void> {
    await this.#said(() => testBrowser(this.#options.api), "A test is on its way.");
  }

  asking(card: AgentCard): void {
    if (this.state !== "on" || this.#channel !== undefined) return;
    if (document.visibilityState === "visible" && document.hasFocus()) return;
    const notification = this.#made(card);
    if (notification === undefined) return;
    notification.addEventListener("click", () => {
      globalThis.focus();
      this.#options.onPick(card.agent_id);
      notification.close();
    });
    this.#shown.set(card.agent_id, notification);
  }

  /** Undefined: the browser lets no page do it by itself, as Chrome on Android. */
  #made(card: AgentCard): Notification | undefined {
    try {
      return new Notification(`${nameOf(card)} needs an answer`, {
        body: (card.question?.text ?? "").slice(0, MAX_BODY_CHARS),
        tag: `tmuxwire-agent-${card.agent_id}`,
        icon: "/page/icon.svg",
      });
    } catch {
      this.#words = "This browser notifies by Web Push alone.";
      return undefined;
    }
  }

  /** Closes notifications that are no longer needed, and goes to the agent whose notification was pressed. */
  keep(agents: Agents): void {
    for (const [agentId, notification] of this.#shown) {
      const card = agents.get(agentId);
      if (card !== undefined && needOf(card) === "asking") continue;
      notification.close();
      this.#shown.delete(agentId);
    }
    const picked = [...agents.values()].find(({ running }) => running?.id === this.#picked);
    if (picked === undefined) return;
    this.#picked = "";
    if (location.hash !== "") history.replaceState(undefined, "", location.pathname);
    queueMicrotask(() => this.#options.onPick(picked.agent_id));
  }

  /** Whoever removes this browser's channel wants no notifications here. */
  #known(known: NativeChannel | "removed" | undefined): void {
    if (known === "removed") this.#want(false);
    else this.#channel = known;
  }

  #want(wanted: boolean): void {
    this.#wanted = wanted;
    localStorage.setItem(STORED, wanted ? "yes" : "no");
  }

  #isAllowed(): boolean {
    return this.#wanted && Notification.permission === "granted";
  }

  async #said(act: () => Promise<void>, done = ""): Promise<void> {
    try {
      await act();
      this.#words = done;
    } catch (error) {
      this.#words = error instanceof Error ? error.message : "it failed";
    }
    this.#options.onChange();
  }
}

/** Browsers offer it only to pages loaded over HTTPS or from this machine. */
const isPossible = (): boolean => "Notification" in globalThis && globalThis.isSecureContext;
