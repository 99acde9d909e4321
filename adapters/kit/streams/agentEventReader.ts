/**
 * The agents of this daemon for one reader: all of them first, then each as it is whenever it has changed. A reader that is
 * slow gets the latest of each agent, not every step; it has a set of agents to be told of, and no queue. One that comes back
 * begins anew.
 */
import type { NativeAgentEvent } from "../../../protocol/api/native/nativeAgentEvents.ts";
import type { NativeMessage } from "../../../protocol/api/native/nativeAgentMessages.ts";
import type { AgentMessages } from "../../agents/messages/agentMessages.ts";
import type { AgentDirectory } from "../../agents/running/agentDirectory.ts";
import type { RunningAgent } from "../../agents/running/runningAgent.ts";
import { nativeMessage } from "../../operations/agents/agentMessageOperations.ts";
import { nativeAgent, nativeAgents } from "../../operations/agents/agentOutputs.ts";
import { clip } from "../../../protocol/text/clip.ts";
import type { EventReader } from "./eventLog.ts";
import { sseEvent, type SseWriter } from "./sseWriter.ts";

/** Of one agent; the others follow when these are gone. */
const MAX_MESSAGES = 10;
/** Some lines: the whole text is in the list of messages. */
const MAX_MESSAGE_CHARS = 600;

interface AgentEventReaderOptions {
  readonly agents: Pick<AgentDirectory, "agents" | "subscribe">;
  /** Absent: this daemon keeps none. */
  readonly messages: Pick<AgentMessages, "onChange" | "undelivered"> | undefined;
  readonly out: Pick<SseWriter, "room" | "write">;
}

export class AgentEventReader implements EventReader {
  readonly #options: AgentEventReaderOptions;
  readonly #unsubscribe: readonly (() => void)[];
  readonly #changed = new Map<string, RunningAgent>();
  #hasBegun = false;
  #messagesChanged = false;

  constructor(options: AgentEventReaderOptions) {
    this.#options = options;
    const { agents, messages } = options;
    this.#unsubscribe = [
      agents.subscribe(({ agent }) => {
        this.#changed.set(agent.id, agent);
        this.pump();
      }),
      messages?.onChange(() => {
        this.#messagesChanged = true;
        this.pump();
      }) ?? (() => undefined),
    ];
  }

  pump(): void {
    const { agents, out } = this.#options;
    if (!this.#hasBegun) {
      if (out.room() <= 0) return;
      this.#hasBegun = true;
      this.#changed.clear();
      this.#write({ type: "agents", agents: [...nativeAgents(agents.agents())], messages: this.#undelivered() });
    }
    for (const [id, agent] of this.#changed) {
      if (out.room() <= 0) return;
      this.#changed.delete(id);
      this.#write({ type: "agent", agent: nativeAgent(agent) });
    }
    if (!this.#messagesChanged || out.room() <= 0) return;
    this.#messagesChanged = false;
    this.#write({ type: "messages", messages: this.#undelivered() });
  }

  close(): void {
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  #undelivered(): NativeMessage[] {
    return [...(this.#options.messages?.undelivered().values() ?? [])].flatMap((messages) =>
      messages
        .slice(0, MAX_MESSAGES)
        .map((message) => nativeMessage({ ...message, text: clip(message.text, MAX_MESSAGE_CHARS) })),
    );
  }

  #write(event: NativeAgentEvent): void {
    this.#options.out.write(sseEvent(event.type, JSON.stringify(event)));
  }
}
