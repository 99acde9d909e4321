/** One agent: who it is, what it does and by which evidence, and while it asks, everything needed to answer. */
import { useEffect, useState } from "preact/hooks";
import { systemClock } from "../../../../daemon/time/clock.ts";
import { Button } from "../../../pages/controls.tsx";
import type { AgentCard } from "../model/agentCard.ts";
import { type Answer, QUICK_KEYS } from "../model/answers.ts";
import { needOf } from "../model/order.ts";
import type { AnswerProgress } from "../model/pageState.ts";
import { MAX_ANSWER_TRIES } from "../net/sendAnswer.ts";
import type { Page } from "../page.ts";
import { ageText } from "../words/age.ts";
import { deliveredText, isUnconfirmed } from "../words/deliveryWords.ts";
import { labelOf, nameOf, reasonText } from "../words/stateWords.ts";
import { QuestionView } from "./questionView.tsx";

interface AgentCardProps {
  readonly card: AgentCard;
  readonly page: Page;
  readonly nowUnixMs: number;
  readonly selected: boolean;
  readonly paneOpen: boolean;
  readonly progress: AnswerProgress | undefined;
  readonly draft: string;
}

export function AgentCardView(props: AgentCardProps) {
  const { card, page, nowUnixMs, selected, paneOpen, progress, draft } = props;
  const { agent_id: agentId, state_since_unix_ms: since } = card;
  const need = needOf(card);
  const reason = reasonText(card);
  const sending = progress?.kind === "sending";
  const answer = (given: Answer): void => void page.answer(agentId, given);
  const id = `agent-${agentId}`;
  return (
    <article
      id={id}
      class={`card ${need}${selected ? " selected" : ""}`}
      data-agent={agentId}
      data-safety={need === "asking" ? card.question?.safety : undefined}
      tabIndex={0}
      aria-labelledby={`${id}-name`}
      aria-describedby={need === "asking" ? `${id}-question` : undefined}
      onFocusCapture={() => {
        if (page.state.selectedId !== agentId) page.update({ selectedId: agentId });
      }}
    >
      <header class="card-head">
        <h3 class="card-name" id={`${id}-name`}>
          {nameOf(card)}
        </h3>
        <p class={`badge ${need}`}>
          {labelOf(card)}{" "}
          <time class="age" dateTime={new Date(since).toISOString()}>
            {ageText(since, nowUnixMs)}
          </time>
        </p>
      </header>
      <p class="card-facts">
        <Facts card={card} />
        {reason === "" ? null : <span class="reason">{reason}</span>}
      </p>
      {need === "asking" ? (
        <QuestionView
          // Ticks and such belong to one question.
          key={card.question?.dialog_id ?? card.question?.text ?? ""}
          agentId={agentId}
          question={card.question}
          draft={draft}
          busy={sending}
          onDraft={(text) => page.draft(agentId, text)}
          onAnswer={answer}
        />
      ) : null}
      <DeliveryLine progress={progress} last={card.last_delivery} nowUnixMs={nowUnixMs} />
      <footer class="card-foot">
        {need === "asking" ? <QuickKeys busy={sending} onAnswer={answer} /> : null}
        {need === "working" ? (
          <Button
            kind="plain interrupt"
            data-focus="interrupt"
            title="Press Escape in its pane: it stops and waits"
            disabled={sending || card.tmux_pane_id === null}
            onPress={() => answer({ kind: "keys", keys: ["Escape"] })}
          >
            Interrupt
          </Button>
        ) : null}
        {card.tmux_pane_id === null ? null : (
          <Button
            kind="plain pane-button"
            data-focus="pane"
            aria-pressed={paneOpen}
            onPress={() => page.update({ openPaneId: paneOpen ? undefined : agentId })}
          >
            {paneOpen ? "Close pane" : "Open pane"}
          </Button>
        )}
      </footer>
    </article>
  );
}

function Facts({ card }: { readonly card: AgentCard }) {
  const { session, project_name: project, project_path: path, readiness } = card;
  const pane = [card.tmux_session, card.tmux_pane_id].filter((part) => part !== null && part !== "").join(" ");
  const profile = readiness?.profile ?? "";
  const facts = [profile === "generic" ? "" : profile, pane, project === "" ? "" : session];
  return (
    <span class="facts" title={path}>
      {facts.filter((fact) => fact !== "").join(" · ")}
    </span>
  );
}

interface DeliveryLineProps {
  readonly progress: AnswerProgress | undefined;
  /** As the daemon has it, from any page. */
  readonly last: AgentCard["last_delivery"];
  readonly nowUnixMs: number;
}

/** The outcome of the last answer. */
function DeliveryLine({ progress, last, nowUnixMs }: DeliveryLineProps) {
  if (progress === undefined) return <RememberedLine last={last} nowUnixMs={nowUnixMs} />;
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

function RememberedLine({ last, nowUnixMs }: Omit<DeliveryLineProps, "progress">) {
  if (last === null) return null;
  return (
    <p class={`delivery${isUnconfirmed(last.delivery) ? " unsure" : ""}`}>
      last answer: {deliveredText(last.delivery, last.latency_ms, last.screen_note)},{" "}
      {whenText(last.at_unix_ms, nowUnixMs)}
    </p>
  );
}

function whenText(atUnixMs: number, nowUnixMs: number): string {
  const age = ageText(atUnixMs, nowUnixMs);
  return age === "now" ? "just now" : `${age} ago`;
}

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
