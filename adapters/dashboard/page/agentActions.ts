/** What a person does with agents besides answering them: prompts, names, ends and starts, as operations of the daemon. */
import type { Clock } from "../../../daemon/time/clock.ts";
import type { NativeAgentStarted, NativeStartAgent } from "../../../protocol/api/native/nativeAgentStart.ts";
import type { NativeTold } from "../../../protocol/api/native/nativeAgentMessages.ts";
import { messageOf } from "../../../protocol/errors.ts";
import { Refused } from "../../pages/askServer.ts";
import type { AgentCard } from "./model/agentCard.ts";
import { serverOn } from "./model/otherHosts.ts";
import type { AnswerProgress, PageState } from "./model/pageState.ts";
import { withEntry } from "./model/pageState.ts";
import type { Api } from "./net/api.ts";
import { agentPath, sendOnce } from "./net/sendAnswer.ts";
import { startedText, toldText } from "./words/actionWords.ts";

interface AgentActionsOptions {
  readonly api: Api;
  readonly clock: Clock;
  /** A unique key. */
  readonly newKey: () => string;
  readonly state: () => PageState;
  readonly update: (change: Partial<PageState>) => void;
  readonly progress: (agentId: number, progress: AnswerProgress) => void;
}

type WaitingMessage = NonNullable<AgentCard["running"]>["messages"][number];

/** Undefined: it is done; else what is wrong, in words. */
type Problem = string | undefined;

export class AgentActions {
  readonly #options: AgentActionsOptions;
  /** The last start without a response: the agent may run. */
  #unsure: { readonly asked: string; readonly key: string } | undefined;

  constructor(options: AgentActionsOptions) {
    this.#options = options;
  }

  write(agentId: number, text: string): void {
    const { state, update } = this.#options;
    update({ prompts: withEntry(state().prompts, agentId, text === "" ? undefined : text) });
  }

  /** What is written becomes a prompt: typed at once, or when the agent takes one. */
  async tell(agentId: number, when: "idle" | "now"): Promise<void> {
    const { api, clock, newKey, state, update, progress } = this.#options;
    const running = state().agents.get(agentId)?.running;
    const text = state().prompts.get(agentId);
    if (!running || text === undefined || state().answers.get(agentId)?.kind === "sending") return;
    progress(agentId, { kind: "sending", tries: 1 });
    const key = newKey();
    const told = await sendOnce({
      send: (signal) => api.operate("POST", agentPath(running.id, "messages"), { text, when }, key, signal),
      clock,
      onRetry: (tries) => progress(agentId, { kind: "sending", tries }),
    });
    if (!state().agents.has(agentId)) return;
    if (told instanceof Refused) {
      progress(agentId, { kind: "failed", words: `the prompt was not taken: ${told.message}` });
      return;
    }
    // What was written meanwhile stays.
    if (state().prompts.get(agentId) === text) {
      this.write(agentId, "");
      update({ promptingId: undefined });
    }
    progress(agentId, toldText(told.body as NativeTold));
  }

  /** A message that waits: taken back, and its text to be written again if that is wanted. */
  async takeBack(agentId: number, message: WaitingMessage, edits: boolean): Promise<void> {
    const { api, state, update, progress } = this.#options;
    const path = `/v1/messages/${encodeURIComponent(message.id)}`;
    const { text } = await api.operate("DELETE", path, {}).then(
      ({ body }) => body as { readonly text: string },
      (error: unknown) => {
        progress(agentId, { kind: "failed", words: messageOf(error) });
        return { text: undefined };
      },
    );
    if (!edits || text === undefined || !state().agents.has(agentId)) return;
    const written = state().prompts.get(agentId);
    this.write(agentId, written === undefined ? text : `${text}\n${written}`);
    update({ promptingId: agentId });
  }

  rename(card: AgentCard, name: string): Promise<Problem> {
    return this.#attempt(card, "rename", { name });
  }

  /** @param force also if something is lost by it: its turn, a question, what stands in its box, messages that wait */
  end(card: AgentCard, force: boolean): Promise<Problem> {
    return this.#attempt(card, "end", { force });
  }

  /** Resolves with what became of it, or what is wrong. @param host undefined: this machine */
  async start(
    request: Omit<NativeStartAgent, "server">,
    host?: string,
  ): Promise<{ readonly isDone: boolean; readonly words: string }> {
    const { api, newKey, state } = this.#options;
    const server = host === undefined ? state().server : serverOn(host, state().agents);
    const body = { ...request, server };
    const asked = JSON.stringify(body);
    // Asked for again, it is the same start, and no second agent.
    const key = this.#unsure?.asked === asked ? this.#unsure.key : newKey();
    this.#unsure = undefined;
    try {
      return startedText((await api.operate("POST", "/v1/agents", body, key)).body as NativeAgentStarted);
    } catch (error) {
      if (error instanceof Refused && error.status === 0) this.#unsure = { asked, key };
      return { isDone: false, words: messageOf(error) };
    }
  }

  async #attempt({ running }: AgentCard, what: string, body: object): Promise<Problem> {
    if (running === null) return "its process is not known any more";
    try {
      await this.#options.api.operate("POST", agentPath(running.id, what), body);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }
}
