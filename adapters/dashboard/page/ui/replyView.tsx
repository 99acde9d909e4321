/** What a person can say to an agent: an answer while it asks, else a prompt; and what became of the last one. */
import { useEffect, useState } from "preact/hooks";
import { systemClock } from "../../../../daemon/time/clock.ts";
import { Button } from "../../../pages/controls.tsx";
import type { AgentCard } from "../model/agentCard.ts";
import { type Answer, QUICK_KEYS } from "../model/answers.ts";
import { canPrompt, needOf } from "../model/order.ts";
import type { AnswerProgress, PageState } from "../model/pageState.ts";
import { MAX_ANSWER_TRIES } from "../net/sendAnswer.ts";
import { deliveredText, isUnconfirmed } from "../words/deliveryWords.ts";
import { Age } from "./age.tsx";
import { type PromptProps, PromptView } from "./promptView.tsx";
import { QuestionView } from "./questionView.tsx";

interface ReplyProps extends Omit<PromptProps, "text" | "busy"> {
  readonly state: PageState;
  /** It shows the box for a prompt unasked, while the agent takes one. */
  readonly isOpen: boolean;
}

export function ReplyView({ id, card, name, page, state, isOpen }: ReplyProps) {
  const { agent_id: agentId, question } = card;
  const progress = state.answers.get(agentId);
  const sending = progress?.kind === "sending";
  const answer = (given: Answer): void => void page.answer(agentId, given);
  const isAsking = needOf(card) === "asking";
  const written = state.prompts.get(agentId);
  const isPrompting = written !== undefined || state.promptingId === agentId;
  const prompt = isPrompting || (isOpen && canPrompt(card)) ? (written ?? "") : undefined;
  return (
    <>
      {isAsking && card.far !== undefined && (question?.options.length ?? 0) === 0 ? (
        <>
          {question === undefined || question.text === "" ? null : <p class="question">{question.text}</p>}
          <p class="quiet hint">
            It waits for input that no button stands for: open its pane, and take control to answer.
          </p>
        </>
      ) : isAsking ? (
        <QuestionView
          // Ticks and such belong to one question.
          key={question?.dialog_id ?? question?.text ?? ""}
          id={id}
          question={question}
          draft={state.drafts.get(agentId) ?? ""}
          busy={sending}
          onDraft={(text) => page.draft(agentId, text)}
          onAnswer={answer}
        />
      ) : null}
      {isAsking && card.far === undefined && (question?.options.length ?? 0) === 0 ? (
        <QuickKeys busy={sending} onAnswer={answer} />
      ) : null}
      {card.running === null ? null : (
        <PromptView id={id} card={card} name={name} page={page} text={prompt} busy={sending} />
      )}
      <DeliveryLine progress={progress} last={card.last_delivery} />
    </>
  );
}

interface DeliveryLineProps {
  readonly progress: AnswerProgress | undefined;
  /** As the daemon has it, from any page. */
  readonly last: AgentCard["last_delivery"];
}

/** The outcome of the last answer. */
function DeliveryLine({ progress, last }: DeliveryLineProps) {
  if (progress === undefined) return <RememberedLine last={last} />;
  switch (progress.kind) {
    case "sending":
      return (
        <p class="delivery sending">
          {progress.tries === 1
            ? "sending…"
            : `no response yet, trying again (${progress.tries} of ${MAX_ANSWER_TRIES})…`}
        </p>
      );
    case "delivered":
      return <p class={`delivery ${progress.isSure ? "delivered" : "unsure"}`}>{progress.words}</p>;
    case "failed":
      return (
        <p class="delivery failed" role="alert">
          {progress.words}
        </p>
      );
  }
}

function RememberedLine({ last }: Omit<DeliveryLineProps, "progress">) {
  if (last === null) return null;
  return (
    <p class={`delivery${isUnconfirmed(last.delivery) ? " unsure" : ""}`}>
      last answer: {deliveredText(last.delivery, last.latency_ms, last.screen_note)},{" "}
      <Age since={last.at_unix_ms} words={whenText} />
    </p>
  );
}

const whenText = (age: string): string => (age === "now" ? "just now" : `${age} ago`);

/** How long a first press on Control-C counts. */
const ARMED_MS = 3_000;

/** Single keys for what the question does not offer. Control-C ends programs, so it takes two presses. */
function QuickKeys({ busy, onAnswer }: { readonly busy: boolean; readonly onAnswer: (answer: Answer) => void }) {
  const [armed, setArmed] = useState(false);
  useEffect(() => {
    if (!armed) return undefined;
    const timer = systemClock.callAt(systemClock.nowMs() + ARMED_MS, () => setArmed(false));
    return () => timer.cancel();
  }, [armed]);
  const press = (keys: readonly string[]): void => {
    const ends = keys[0] === "C-c";
    setArmed(ends && !armed);
    if (!ends || armed) onAnswer({ kind: "keys", keys });
  };
  return (
    <div class="quick" role="group" aria-label="Press a key in the pane">
      {QUICK_KEYS.map(({ keys, label, says }) => {
        const asks = armed && label === "C-c";
        return (
          <Button
            key={label}
            kind={`quick-key${asks ? " armed" : ""}`}
            data-focus={`key-${label}`}
            title={asks ? "Press again to send Control-C" : says}
            disabled={busy}
            onPress={() => press(keys)}
          >
            {asks ? "C-c ?" : label}
          </Button>
        );
      })}
    </div>
  );
}
