/** The whole page from one state. */
import { useEffect, useRef, useState } from "preact/hooks";
import { AGENTS } from "../../../pages/knownAgents.ts";
import { useModal } from "../../../pages/useModal.ts";
import { type PageState, askingCards, target, type LinkState } from "../model/pageState.ts";
import { groupByNeed } from "../model/order.ts";
import { SHORTCUT_HELP } from "../model/shortcuts.ts";
import type { Api } from "../net/api.ts";
import type { Page } from "../page.ts";
import { ageText } from "../words/age.ts";
import { NEED_HEADINGS } from "../words/stateWords.ts";
import { AgentCardView } from "./agentCardView.tsx";
import type { Notifier } from "./notifier.ts";
import { PaneView } from "./paneView.tsx";
import { RecordingsDialog } from "./recordingsDialog.tsx";
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
      {state.waitingSinceUnixMs === undefined || state.link.kind !== "live" ? null : (
        <WaitingNotice age={ageText(state.waitingSinceUnixMs, state.nowUnixMs)} />
      )}
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

interface BannerProps {
  readonly link: LinkState;
  readonly problem: string | undefined;
  readonly tokenWanted: boolean;
  readonly onRetry: () => void;
}

/** Whether the page is up to date, and if not, what is being done about it. */
function Banner({ link, problem, tokenWanted, onRetry }: BannerProps) {
  // The token form says it.
  if (tokenWanted) return null;
  switch (link.kind) {
    case "connecting":
    case "closed":
      return null;
    case "live":
      return problem === undefined ? null : (
        <div class="banner" role="alert">
          <p>The agents cannot be listed: {problem}. Trying again…</p>
        </div>
      );
    case "lost":
      return (
        <div class="banner" role="alert">
          <p>Connection lost: {link.message}. What you see may be out of date. Reconnecting…</p>
          <button type="button" class="button" onClick={onRetry}>
            Try now
          </button>
        </div>
      );
    case "refused":
      return (
        <div class="banner" role="alert">
          <p>Not connected: {link.message}.</p>
          <button type="button" class="button" onClick={onRetry}>
            Try again
          </button>
        </div>
      );
  }
}

/** Attaching to a tmux before 3.7 while its sessions come and go could end it. */
const WaitingNotice = ({ age }: { readonly age: string }) => (
  <div class="banner waiting" role="status">
    <p>
      Waiting until tmux is calm: its sessions keep coming and going. Live panes and answers begin then; what the agents
      do is shown meanwhile. <span aria-hidden="true">({age})</span>
    </p>
  </div>
);

const [FIRST, ...OTHERS] = AGENTS.filter(({ reports }) => reports).map(({ name }) => name);

/** Shown when there are no agents. */
const EmptyState = () => (
  <section class="empty">
    <h2>No agents yet</h2>
    <p>Agents appear here by themselves once their hooks tell tmuxwire about them.</p>
    <ol>
      <li>
        Install the hooks once: <code>tmuxwire hooks install {FIRST}</code> (or {OTHERS.join(", ")})
      </li>
      <li>
        Start an agent in a tmux pane: <code>tmux new -s work {FIRST}</code>
      </li>
      <li>When it needs an answer, its card turns amber, and you can answer from here.</li>
    </ol>
    <p class="quiet">
      Nothing happens? <code>tmuxwire doctor</code> says what is missing.
    </p>
  </section>
);

/** The page's keys. */
function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  return (
    <dialog class="dialog help" ref={useModal()} aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keyboard</h2>
      <dl>
        {SHORTCUT_HELP.map(([keys, meaning]) => (
          <div class="help-row" key={keys}>
            <dt>
              {keys.split("  ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit" class="button primary">
          Close
        </button>
      </form>
    </dialog>
  );
}

/** For a daemon with a token: it is exchanged for a cookie that no script can read, and is in no URL and no storage. */
function TokenForm({ page }: { readonly page: Page }) {
  const field = useRef<HTMLInputElement>(null);
  const [value, setValue] = useState("");
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [sending, setSending] = useState(false);
  useEffect(() => field.current?.focus(), []);
  const token = value.trim();
  const give = async (): Promise<void> => {
    if (token === "" || sending) return;
    setSending(true);
    setProblem(undefined);
    const wrong = await page.giveToken(token);
    setSending(false);
    setProblem(wrong);
    if (wrong !== undefined) field.current?.select();
  };
  return (
    <form
      class="empty token"
      onSubmit={(event) => {
        event.preventDefault();
        void give();
      }}
    >
      <h2>This dashboard needs a token</h2>
      <p>Enter the token that it was configured with.</p>
      <label for="token">Token</label>
      <input
        id="token"
        class="text"
        type="password"
        autocomplete="off"
        ref={field}
        value={value}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : "token-problem"}
        onInput={(event) => setValue(event.currentTarget.value)}
      />
      {problem === undefined ? null : (
        <p id="token-problem" class="delivery failed" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" class="button primary" disabled={token === "" || sending}>
        Open the dashboard
      </button>
    </form>
  );
}
