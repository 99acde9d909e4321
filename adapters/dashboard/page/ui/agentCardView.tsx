/** One agent: who it is, what it does and by which evidence, and while it asks, everything needed to answer. */
import { Button } from "../../../pages/controls.tsx";
import type { AgentCard } from "../model/agentCard.ts";
import { canPrompt, needOf } from "../model/order.ts";
import type { PageState } from "../model/pageState.ts";
import type { Page } from "../page.ts";
import { labelOf, reasonText } from "../words/stateWords.ts";
import { Age } from "./age.tsx";
import { openPrompt, openTimeline } from "./handleKey.ts";
import { ClockIcon } from "./clockIcon.tsx";
import { ReplyView } from "./replyView.tsx";

export interface AgentCardProps {
  readonly card: AgentCard;
  /** By which it can be told from the others. */
  readonly name: string;
  readonly page: Page;
  readonly state: PageState;
  readonly selected: boolean;
  /** The row of its screen that has what is looked for; undefined: none. */
  readonly onScreen: string | undefined;
}

export function AgentCardView(props: AgentCardProps) {
  const { card, name, page, state, selected } = props;
  const { agent_id: agentId, state_since_unix_ms: since } = card;
  const need = needOf(card);
  const reason = reasonText(card);
  const isPrompting = state.promptingId === agentId || state.prompts.has(agentId);
  const paneOpen = state.openPaneId === agentId;
  const isAway = card.far?.awaySinceUnixMs !== undefined;
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
          {name}
        </h3>
        <p class={`badge ${need}`} title={reason === "" ? undefined : reason}>
          {labelOf(card)}{" "}
          <time class="age" dateTime={new Date(since).toISOString()}>
            <Age since={since} />
          </time>
        </p>
      </header>
      <Doing card={card} />
      <p class="card-facts">
        <Facts card={card} name={name} />
        {need === "gone" && reason !== "" ? <span class="reason">{reason}</span> : null}
      </p>
      {props.onScreen === undefined ? null : <OnScreen row={props.onScreen} text={state.listing.filter.trim()} />}
      <ReplyView id={id} card={card} name={name} page={page} state={state} isOpen={false} />
      <footer class="card-foot">
        {canPrompt(card) && !isPrompting ? (
          <Button
            kind="plain prompt-button"
            data-focus="prompt"
            title="Give it a prompt (/)"
            onPress={() => openPrompt(page, agentId)}
          >
            Prompt
          </Button>
        ) : null}
        {need === "working" ? (
          <Button
            kind="plain interrupt"
            data-focus="interrupt"
            title="Press Escape in its pane: it stops and waits"
            disabled={state.answers.get(agentId)?.kind === "sending" || card.tmux_pane_id === null}
            onPress={() => page.answer(agentId, { kind: "keys", keys: ["Escape"] })}
          >
            Interrupt
          </Button>
        ) : null}
        {card.tmux_pane_id === null || isAway ? null : (
          <Button
            kind="plain pane-button"
            data-focus="pane"
            aria-pressed={paneOpen}
            onPress={() => page.update({ openPaneId: paneOpen ? undefined : agentId })}
          >
            {paneOpen ? "Close pane" : "Open pane"}
          </Button>
        )}
        {card.running === null || isAway ? null : (
          <Button
            kind="plain timeline-button"
            data-focus="timeline"
            label={`Timeline of ${name}`}
            title="Timeline, recordings (t)"
            onPress={() => openTimeline(page, card)}
          >
            <ClockIcon />
          </Button>
        )}
        <Button
          kind="plain details-button"
          data-focus="details"
          label={`Details of ${name}`}
          title="History, name, end (d)"
          onPress={() => page.update({ detailsId: agentId })}
        >
          ⋯
        </Button>
      </footer>
    </article>
  );
}

function OnScreen({ row, text }: { readonly row: string; readonly text: string }) {
  const at = row.toLowerCase().indexOf(text.toLowerCase());
  const end = at + text.length;
  return (
    <p class="on-screen">
      <span class="quiet">on its screen:</span>{" "}
      <code>
        {at < 0 ? (
          row
        ) : (
          <>
            {row.slice(0, at)}
            <mark>{row.slice(at, end)}</mark>
            {row.slice(end)}
          </>
        )}
      </code>
    </p>
  );
}

/** Its task while it works or asks; its last words while it is free. */
function Doing({ card }: { readonly card: AgentCard }) {
  const { running } = card;
  const task = running?.task?.text ?? card.task_instruction ?? "";
  const words = running?.last_message ?? card.task_completion_summary ?? "";
  const isOver = needOf(card) === "ready" || needOf(card) === "gone";
  return (
    <>
      {task === "" ? null : (
        <p class={isOver ? "task over" : "task"} title={task}>
          {task}
        </p>
      )}
      {isOver && words !== "" ? (
        <p class="words" title={words}>
          {words}
        </p>
      ) : null}
    </>
  );
}

function Facts({ card, name }: { readonly card: AgentCard; readonly name: string }) {
  const { running, readiness, project_path: project, far } = card;
  const pane = [card.tmux_session, card.tmux_pane_id].filter((part) => part !== null && part !== "").join(" ");
  const profile = readiness?.profile ?? "";
  const cwd = running?.cwd ?? project;
  const facts = [
    running?.agent ?? (profile === "generic" ? "" : profile),
    running === null || running.name === running.agent || running.name === name ? "" : running.name,
    shortPath(cwd),
    running?.branch ?? "",
    pane,
    // `main@build`: which of its tmux servers.
    far?.server ?? "",
  ];
  return (
    <span class="facts" title={cwd}>
      {facts.filter((fact) => fact !== "").join(" · ")}
    </span>
  );
}

/** Its end, which tells directories apart. */
function shortPath(path: string): string {
  const parts = path.split("/").filter(Boolean);
  return parts.length <= 2 ? path : `…/${parts.slice(-2).join("/")}`;
}
