/** One agent: who it is, what it does and by which evidence, and while it asks, everything needed to answer. */
import type { AgentCard } from "../model/agentCard.ts";
import type { Answer } from "../model/answers.ts";
import { needOf, sinceOf } from "../model/order.ts";
import type { AnswerProgress } from "../model/pageState.ts";
import type { Page } from "../page.ts";
import { ageText } from "../words/age.ts";
import { labelOf, nameOf, reasonText } from "../words/stateWords.ts";
import { DeliveryLine } from "./deliveryLine.tsx";
import { QuestionView } from "./questionView.tsx";
import { QuickKeys } from "./quickKeys.tsx";

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
  const { agentId } = card;
  const need = needOf(card);
  const since = sinceOf(card);
  const reason = reasonText(card);
  const sending = progress?.kind === "sending";
  const answer = (given: Answer): void => void page.answer(agentId, given);
  const id = `agent-${agentId}`;
  return (
    <article
      id={id}
      class={`card ${need}${selected ? " selected" : ""}`}
      data-agent={agentId}
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
          {labelOf(card)}
          {since === undefined ? null : (
            <>
              {" "}
              <time class="age" dateTime={new Date(since).toISOString()}>
                {ageText(since, nowUnixMs)}
              </time>
            </>
          )}
        </p>
      </header>
      <p class="card-facts">
        <Facts card={card} />
        {reason === "" ? null : <span class="reason">{reason}</span>}
      </p>
      {need === "asking" ? (
        <QuestionView
          // Ticks and such belong to one question.
          key={card.question?.dialogId ?? card.question?.text ?? ""}
          agentId={agentId}
          question={card.question}
          draft={draft}
          busy={sending}
          onDraft={(text) => page.draft(agentId, text)}
          onAnswer={answer}
        />
      ) : null}
      <DeliveryLine progress={progress} last={card.lastDelivery} nowUnixMs={nowUnixMs} />
      <footer class="card-foot">
        {need === "asking" ? <QuickKeys busy={sending} onAnswer={answer} /> : null}
        {need === "working" ? (
          <button
            type="button"
            class="button plain interrupt"
            data-focus="interrupt"
            title="Press Escape in its pane: it stops and waits"
            disabled={sending || card.paneId === undefined}
            onClick={() => answer({ kind: "keys", keys: ["Escape"] })}
          >
            Interrupt
          </button>
        ) : null}
        {card.paneId === undefined ? null : (
          <button
            type="button"
            class="button plain pane-button"
            data-focus="pane"
            aria-pressed={paneOpen}
            onClick={() => page.update({ openPaneId: paneOpen ? undefined : agentId })}
          >
            {paneOpen ? "Close pane" : "Open pane"}
          </button>
        )}
      </footer>
    </article>
  );
}

function Facts({ card }: { readonly card: AgentCard }) {
  const { session, projectName, paneId, tmuxSession, projectPath, readiness } = card;
  const pane = [tmuxSession, paneId].filter((part) => part !== undefined && part !== "").join(" ");
  const profile = readiness?.profile ?? "";
  const facts = [profile === "generic" ? "" : profile, pane, projectName === "" ? "" : session];
  return (
    <span class="facts" title={projectPath}>
      {facts.filter((fact) => fact !== "").join(" · ")}
    </span>
  );
}
