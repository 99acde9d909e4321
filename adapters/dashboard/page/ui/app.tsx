/** The whole page from one state. */
import { useMemo } from "preact/hooks";
import { AGENTS } from "../../../pages/knownAgents.ts";
import { Button } from "../../../pages/controls.tsx";
import { Dialog, KeyList } from "../../../pages/dialog.tsx";
import { TokenForm } from "../../../pages/tokenForm.tsx";
import type { AgentCard } from "../model/agentCard.ts";
import { type PageState, askingCards, target, type LinkState } from "../model/pageState.ts";
import { type Hosts, startHosts } from "../model/otherHosts.ts";
import { groupsOf, type Grouping, type Need } from "../model/order.ts";
import { SHORTCUT_HELP } from "../model/shortcuts.ts";
import type { Api } from "../net/api.ts";
import type { Page } from "../page.ts";
import { NEED_HEADINGS, namesOf, THIS_MACHINE } from "../words/stateWords.ts";
import { type AgentCardProps, AgentCardView } from "./agentCardView.tsx";
import { Age, Now } from "./age.tsx";
import { DetailsDialog } from "./dialogs/detailsDialog.tsx";
import { ListBar } from "./listBar.tsx";
import { ReplyView } from "./replyView.tsx";
import { StartDialog } from "./dialogs/startDialog.tsx";
import type { Notifier } from "./notifier.ts";
import { PaneView } from "./paneView.tsx";
import { RecordingsDialog } from "./dialogs/recordingsDialog.tsx";
import { TemplatesDialog } from "./dialogs/templatesDialog.tsx";
import { TimelineDialog } from "./dialogs/timelineDialog.tsx";
import { openTimeline } from "./handleKey.ts";
import { TopBar } from "./topBar.tsx";

/** Of more agents than this, those that need nothing are two lines each until they are selected. */
const ROOMY = 16;

interface AppProps {
  readonly state: PageState;
  readonly page: Page;
  readonly api: Api;
  readonly notifier: Notifier;
}

export function App({ state, page, api, notifier }: AppProps) {
  const { agents, openPaneId, helpOpen, recordingsOpen, tokenWanted, detailsId, startOpen, timelineOpen } = state;
  const recorded = state.recordingsId === undefined ? undefined : agents.get(state.recordingsId);
  const told = state.timelineId === undefined ? undefined : agents.get(state.timelineId);
  const prompted = state.templates === undefined ? undefined : agents.get(state.templates.agentId);
  const details = detailsId === undefined ? undefined : agents.get(detailsId);
  const names = namesOf(agents.values());
  const nameOf = (card: AgentCard): string => names.get(card.agent_id) ?? "";
  const open = openPaneId === undefined ? undefined : agents.get(openPaneId);
  const closePane = (): void => page.update({ openPaneId: undefined });
  return (
    <Now.Provider value={state.nowUnixMs - (state.nowUnixMs % 1_000)}>
      <div class={`page${open === undefined ? "" : " with-pane"}`}>
        <TopBar
          asking={askingCards(agents).length}
          link={state.link}
          notifier={notifier}
          onTimeline={() => openTimeline(page, undefined)}
          onRecordings={() => page.update({ recordingsOpen: true, recordingsId: undefined })}
          onHelp={() => page.update({ helpOpen: true })}
        />
        <Banner link={state.link} problem={state.problem} tokenWanted={tokenWanted} onRetry={() => page.retryNow()} />
        {state.link.kind === "live" ? <ServerNotice state={state} /> : null}
        {state.link.kind === "live" ? <HostNotices hosts={state.hosts} /> : null}
        <p class="heard" role="status" aria-live="polite">
          {state.announcement}
        </p>
        <div class="columns">
          <main class={agents.size > ROOMY ? "list dense" : "list"}>
            {tokenWanted ? (
              // It is exchanged for a cookie that no script can read.
              <TokenForm
                title="This dashboard needs a token"
                words="Enter the token that it was configured with."
                label="Token"
                button="Open the dashboard"
                onToken={(token) => page.giveToken(token)}
              />
            ) : (
              <AgentList state={state} page={page} names={names} />
            )}
          </main>
          {open === undefined ? null : (
            <PaneView key={open.agent_id} card={open} name={nameOf(open)} api={api} onClose={closePane}>
              <ReplyView id="pane" card={open} name={nameOf(open)} page={page} state={state} isOpen />
            </PaneView>
          )}
        </div>
        {recordingsOpen ? (
          <RecordingsDialog
            api={api}
            of={recorded && { card: recorded, name: nameOf(recorded), server: state.server }}
            onClose={() => page.update({ recordingsOpen: false })}
          />
        ) : null}
        {timelineOpen ? (
          <TimelineDialog
            api={api}
            agent={told?.running ? { id: told.running.id, name: nameOf(told) } : undefined}
            onRecordings={
              told === undefined || told.far !== undefined || told.tmux_pane_id === null
                ? undefined
                : () => page.update({ timelineOpen: false, recordingsOpen: true, recordingsId: told.agent_id })
            }
            onClose={() => page.update({ timelineOpen: false })}
          />
        ) : null}
        {details === undefined ? null : (
          <DetailsDialog key={details.agent_id} card={details} name={nameOf(details)} page={page} api={api} />
        )}
        {state.templates === undefined || prompted === undefined ? null : (
          <TemplatesDialog
            card={prompted}
            written={state.prompts.get(prompted.agent_id) ?? ""}
            field={state.templates.field}
            page={page}
            api={api}
          />
        )}
        {startOpen ? (
          <StartDialog cards={[...agents.values()]} hosts={startHosts(state.hosts)} like={target(state)} page={page} />
        ) : null}
        {helpOpen ? (
          <Dialog title="Keyboard" onClose={() => page.update({ helpOpen: false })}>
            <KeyList rows={SHORTCUT_HELP} />
          </Dialog>
        ) : null}
      </div>
    </Now.Provider>
  );
}

interface AgentListProps {
  readonly state: PageState;
  readonly page: Page;
  readonly names: ReadonlyMap<number, string>;
}

/** One flat list with headings between, so that a card that changes its group is moved, not remounted. */
function AgentList({ state, page, names }: AgentListProps) {
  const { agents, loaded, listing } = state;
  if (agents.size === 0) return loaded ? <EmptyState page={page} /> : <p class="loading">Looking for agents…</p>;
  const groups = groupsOf(agents.values(), listing);
  const meant = target(state);
  return (
    <>
      <ListBar state={state} page={page} />
      {listing.unseen === undefined ? null : <p class="quiet unseen">{listing.unseen}</p>}
      {groups.length === 0 ? (
        <p class="loading">No agent has these words{listing.screens === undefined ? "" : ", nor has its screen"}.</p>
      ) : null}
      {groups.flatMap(({ key, cards }) => [
        <h2 class={`group ${key}`} key={`group ${key}`} title={listing.grouping === "project" ? key : undefined}>
          {headingOf(listing.grouping, key, cards)} <span class="count">{cards.length}</span>
        </h2>,
        ...cards.map((card) => (
          <AgentSlot
            key={card.agent_id}
            card={card}
            name={names.get(card.agent_id) ?? ""}
            page={page}
            state={state}
            onScreen={listing.screens?.get(card.agent_id)}
            selected={meant?.agent_id === card.agent_id}
          />
        )),
      ])}
    </>
  );
}

function headingOf(grouping: Grouping, key: string, cards: readonly AgentCard[]): string {
  if (grouping === "need") return NEED_HEADINGS[key as Need];
  if (grouping === "host") return key === "" ? THIS_MACHINE : key;
  return cards[0]?.project_name ?? "";
}

/** A card of many is drawn again when something on it has changed, not with every event about another. */
function AgentSlot(props: AgentCardProps) {
  const { card, name, state, selected, onScreen } = props;
  const { agent_id: id } = card;
  return useMemo(
    () => <AgentCardView {...props} />,
    [
      card,
      name,
      selected,
      onScreen,
      state.answers.get(id),
      state.drafts.get(id),
      state.prompts.get(id),
      state.promptingId === id,
      state.openPaneId === id,
    ],
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
      return problem === undefined ? null : <Alert words={`The agents cannot be listed: ${problem}. Trying again…`} />;
    case "lost": {
      const words = `Connection lost: ${link.message}. What you see may be out of date. Reconnecting…`;
      return <Alert words={words} button="Try now" onPress={onRetry} />;
    }
    case "refused":
      return <Alert words={`Not connected: ${link.message}.`} button="Try again" onPress={onRetry} />;
  }
}

/** What is wrong with tmux, since when, and what to do. One at a time: one that does not run is never calm. */
function ServerNotice({ state: { goneSinceUnixMs, waitingSinceUnixMs } }: { readonly state: PageState }) {
  const since = goneSinceUnixMs ?? waitingSinceUnixMs;
  if (since === undefined) return null;
  return (
    <div class="banner waiting" role="status">
      <p>
        {goneSinceUnixMs === undefined
          ? // Attaching to a tmux before 3.7 while its sessions come and go could end it.
            "Waiting until tmux is calm: its sessions keep coming and going. Live panes and answers begin then; what the " +
            "agents do is shown meanwhile."
          : "tmux is not running, so no agent of this machine can be reached. Start it: it is found by itself, and `tmuxwire resume` " +
            "brings agents back."}{" "}
        <span aria-hidden="true">
          (<Age since={since} />)
        </span>
      </p>
    </div>
  );
}

/** More than this at once have one cause, and one line says how many they are. */
const MOST_NOTICES = 4;

/** Which machines are away, since when, and what to do, in the daemon's words. */
function HostNotices({ hosts }: { readonly hosts: Hosts }) {
  const wrong = [...hosts.values()].filter(({ away, problem }) => away !== undefined || problem !== undefined);
  const more = wrong.length - MOST_NOTICES;
  return (
    <>
      {wrong.slice(0, MOST_NOTICES).map(({ name, away, problem }) => (
        <div class="banner waiting host-away" role="status" key={name}>
          <p>
            <strong>{name}</strong>
            {away === undefined ? `: ${problem ?? ""}` : ` is away: ${away.words}`}{" "}
            {away === undefined ? null : (
              <span aria-hidden="true">
                (<Age since={away.sinceUnixMs} />)
              </span>
            )}
          </p>
        </div>
      ))}
      {more <= 0 ? null : (
        <div class="banner waiting host-away" role="status">
          <p>
            {more} more hosts are away or not shown in full: <code>tmuxwire hosts</code> lists them.
          </p>
        </div>
      )}
    </>
  );
}

const [FIRST, ...OTHERS] = AGENTS.filter(({ reports }) => reports).map(({ name }) => name);

interface AlertProps {
  readonly words: string;
  readonly button?: string;
  readonly onPress?: () => void;
}

const Alert = ({ words, button, onPress }: AlertProps) => (
  <div class="banner" role="alert">
    <p>{words}</p>
    {button === undefined ? null : <Button onPress={onPress}>{button}</Button>}
  </div>
);

/** Shown when there are no agents. */
const EmptyState = ({ page }: Pick<AgentListProps, "page">) => (
  <section class="empty">
    <h2>No agents yet</h2>
    <p>Agents that run in your tmux appear here by themselves.</p>
    <p>
      <Button kind="primary" onPress={() => page.update({ startOpen: true })}>
        Start an agent
      </Button>
    </p>
    <ol>
      <li>
        Better with their hooks, which say at once what an agent does. Install them once:{" "}
        <code>tmuxwire hooks install {FIRST}</code> (or {OTHERS.join(", ")})
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
