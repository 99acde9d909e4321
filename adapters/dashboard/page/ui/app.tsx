/** The whole page from one state. */
import type { PageState } from "../model/pageState.ts";
import { askingCards, target } from "../model/pageState.ts";
import { groupByNeed } from "../model/order.ts";
import type { Api } from "../net/api.ts";
import type { Page } from "../page.ts";
import { NEED_HEADINGS } from "../words/stateWords.ts";
import { AgentCardView } from "./agentCardView.tsx";
import { Banner } from "./banner.tsx";
import { EmptyState } from "./emptyState.tsx";
import { HelpDialog } from "./helpDialog.tsx";
import type { Notifier } from "./notifier.ts";
import { PaneView } from "./paneView.tsx";
import { RecordingsDialog } from "./recordingsDialog.tsx";
import { TokenForm } from "./tokenForm.tsx";
import { TopBar } from "./topBar.tsx";

interface AppProps {
  readonly state: PageState;
  readonly page: Page;
  readonly api: Api;
  readonly notifier: Notifier;
}

export function App({ state, page, api, notifier }: AppProps) {
  const { agents, openPaneId, helpOpen, recordingsOpen, tokenWanted } = state;
  const open = openPaneId === undefined ? undefined : agents.get(openPaneId);
  const closePane = (): void => page.update({ openPaneId: undefined });
  return (
    <div class={`page${open === undefined ? "" : " with-pane"}`}>
      <TopBar
        asking={askingCards(agents).length}
        link={state.link}
        notifications={notifier.state}
        onNotify={() => void notifier.toggle()}
        onRecordings={() => page.update({ recordingsOpen: true })}
        onHelp={() => page.update({ helpOpen: true })}
      />
      <Banner link={state.link} problem={state.problem} tokenWanted={tokenWanted} onRetry={() => page.retryNow()} />
      <p class="heard" role="status" aria-live="polite">
        {state.announcement}
      </p>
      <div class="columns">
        <main class="list">{tokenWanted ? <TokenForm page={page} /> : <AgentList state={state} page={page} />}</main>
        {open === undefined ? null : <PaneView key={open.agentId} card={open} api={api} onClose={closePane} />}
      </div>
      {recordingsOpen ? <RecordingsDialog api={api} onClose={() => page.update({ recordingsOpen: false })} /> : null}
      {helpOpen ? <HelpDialog onClose={() => page.update({ helpOpen: false })} /> : null}
    </div>
  );
}

/** One flat list with headings between, so that a card that changes its group is moved, not remounted. */
function AgentList({ state, page }: { readonly state: PageState; readonly page: Page }) {
  const { agents, loaded } = state;
  if (agents.size === 0) return loaded ? <EmptyState /> : <p class="loading">Looking for agents…</p>;
  const meant = target(state);
  return (
    <>
      {groupByNeed(agents.values()).flatMap(({ need, cards }) => [
        <h2 class={`group ${need}`} key={need}>
          {NEED_HEADINGS[need]} <span class="count">{cards.length}</span>
        </h2>,
        ...cards.map((card) => (
          <AgentCardView
            key={card.agentId}
            card={card}
            page={page}
            nowUnixMs={state.nowUnixMs}
            selected={meant?.agentId === card.agentId}
            paneOpen={state.openPaneId === card.agentId}
            progress={state.answers.get(card.agentId)}
            draft={state.drafts.get(card.agentId) ?? ""}
          />
        )),
      ])}
    </>
  );
}
