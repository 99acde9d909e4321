/** What an agent is told besides answers: the messages that wait for it, or did not arrive, and the box for the next one. */
import { Button } from "../../../pages/controls.tsx";
import { SendBox } from "../../../pages/sendBox.tsx";
import type { AgentCard } from "../model/agentCard.ts";
import { needOf } from "../model/order.ts";
import type { Page } from "../page.ts";
import { undeliveredText } from "../words/actionWords.ts";
import { Age } from "./age.tsx";

export interface PromptProps {
  /** Of its elements: it may stand on the card and below the pane. */
  readonly id: string;
  readonly card: AgentCard;
  readonly name: string;
  readonly page: Page;
  /** Undefined: the box is closed. */
  readonly text: string | undefined;
  readonly busy: boolean;
}

/** Of the text field. */
const MAX_ROWS = 10;

const TemplateIcon = () => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d="M5 4h14v16H5zM8.5 9h7M8.5 13h7M8.5 17h4" />
  </svg>
);

export function PromptView({ id, card, name, page, text, busy }: PromptProps) {
  const { agent_id: agentId } = card;
  const messages = card.running?.messages ?? [];
  return (
    <>
      {messages.length === 0 ? null : (
        <ul class="messages" aria-label={`Prompts for ${name} that have not been delivered`}>
          {messages.map((message) => (
            <li key={message.id}>
              <p class="message-text" title={message.text}>
                {message.text}
              </p>
              {message.outcome === "waiting" ? (
                <p class="message-state">
                  <span class="quiet">
                    waits · <Age since={message.created_unix_ms} />
                  </span>
                  <Button kind="plain small" onPress={() => page.actions.takeBack(agentId, message, true)}>
                    Edit
                  </Button>
                  <Button kind="plain small" onPress={() => page.actions.takeBack(agentId, message, false)}>
                    Cancel
                  </Button>
                </p>
              ) : (
                <p class="message-state delivery failed">{undeliveredText(message.outcome, message.reason)}</p>
              )}
            </li>
          ))}
        </ul>
      )}
      {text === undefined ? null : (
        <div
          class="prompt-box"
          onFocusCapture={() => {
            // It stays, whatever the agent does meanwhile: keys that were meant for it must not answer a question.
            if (page.state.promptingId !== agentId) page.update({ promptingId: agentId });
          }}
        >
          <SendBox
            prefix="prompt-"
            id={`${id}-prompt`}
            label={`A prompt for ${name}`}
            placeholder={needOf(card) === "ready" ? "A prompt" : "A prompt for when it is done"}
            text={text}
            rows={Math.min(MAX_ROWS, text.split("\n").length)}
            isBusy={busy}
            onText={(written) => page.actions.write(agentId, written)}
            onSend={() => void page.actions.tell(agentId, "idle")}
          >
            <Button
              kind="plain templates-button"
              data-focus="templates"
              title="Templates (p)"
              label={`Templates for ${name}`}
              onPress={() => page.update({ templates: { agentId, field: `${id}-prompt` } })}
            >
              <TemplateIcon />
            </Button>
            {needOf(card) === "working" ? (
              <Button
                data-focus="now"
                title="Type it at once, into its turn"
                disabled={busy || text.trim() === ""}
                onPress={() => page.actions.tell(agentId, "now")}
              >
                Now
              </Button>
            ) : null}
          </SendBox>
        </div>
      )}
    </>
  );
}
