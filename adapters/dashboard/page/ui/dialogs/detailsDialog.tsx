/** One agent: what was asked, answered and done, and when; its name; its end. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { DashboardTurn } from "../../../../../protocol/api/dashboard.ts";
import { messageOf } from "../../../../../protocol/errors.ts";
import { Button } from "../../../../pages/controls.tsx";
import { Dialog } from "../../../../pages/dialog.tsx";
import type { AgentCard } from "../../model/agentCard.ts";
import { needOf } from "../../model/order.ts";
import type { Api } from "../../net/api.ts";
import type { Page } from "../../page.ts";
import { Problem } from "../problem.tsx";

interface DetailsProps {
  readonly card: AgentCard;
  readonly name: string;
  readonly page: Page;
  readonly api: Api;
}

const INTENTS: Readonly<Record<DashboardTurn["intent"], string>> = {
  command: "Prompt",
  answer: "Answer",
  question: "Question",
  completion: "Done",
};

export function DetailsDialog({ card, name, page, api }: DetailsProps) {
  const { running } = card;
  const [problem, setProblem] = useState("");
  const close = (): void => page.update({ detailsId: undefined });
  return (
    <Dialog kind="details" title={name} onClose={close}>
      <Problem words={problem} />
      <dl class="facts-list">
        {factsOf(card).map(([term, text]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      {running === null || card.far?.awaySinceUnixMs !== undefined ? null : (
        <>
          <RenameForm card={card} name={running.name} page={page} onProblem={setProblem} />
          <EndForm card={card} page={page} onProblem={setProblem} onDone={close} />
        </>
      )}
      {card.far === undefined ? (
        <History card={card} api={api} onProblem={setProblem} />
      ) : (
        <p class="quiet">Its history is kept on {card.far.host}, where the dashboard shows it.</p>
      )}
    </Dialog>
  );
}

function factsOf({ running, ...card }: AgentCard): readonly (readonly [string, string])[] {
  const place = [card.tmux_session, card.tmux_pane_id].filter(Boolean).join(" ");
  const rows: readonly (readonly [string, string | null | undefined])[] = [
    ["Host", card.far?.host],
    ["Server", card.far?.server],
    ["Agent", running === null ? card.readiness?.profile : [running.agent, running.version].filter(Boolean).join(" ")],
    ["Directory", running?.cwd ?? card.project_path],
    ["Branch", running?.branch],
    ["Pane", place],
    ["Task", running?.task?.text ?? card.task_instruction],
    ["Last words", running?.last_message ?? card.task_completion_summary],
  ];
  return rows.flatMap(([term, text]) => ((text ?? "") === "" ? [] : [[term, text ?? ""] as const]));
}

interface FormProps {
  readonly card: AgentCard;
  readonly page: Page;
  readonly onProblem: (words: string) => void;
}

function RenameForm({ card, name, page, onProblem }: FormProps & { readonly name: string }) {
  const [written, setWritten] = useState(name);
  const rename = async (event: Event): Promise<void> => {
    event.preventDefault();
    onProblem((await page.actions.rename(card, written.trim())) ?? "");
  };
  return (
    <form class="line-form" onSubmit={(event) => void rename(event)}>
      <label>
        Name{" "}
        <input class="text" value={written} maxLength={64} onInput={(event) => setWritten(event.currentTarget.value)} />
      </label>
      <Button disabled={written.trim() === "" || written === name}>Rename</Button>
    </form>
  );
}

/** Twice where something would be lost. */
function EndForm({ card, page, onProblem, onDone }: FormProps & { readonly onDone: () => void }) {
  const [refused, setRefused] = useState(false);
  const [isEnding, setEnding] = useState(false);
  const end = async (force: boolean): Promise<void> => {
    setEnding(true);
    const problem = await page.actions.end(card, force);
    setEnding(false);
    onProblem(problem ?? "");
    setRefused(problem !== undefined);
    if (problem === undefined) onDone();
  };
  return (
    <p class="line-form">
      <Button disabled={isEnding} onPress={() => end(false)}>
        {isEnding ? "Ending…" : "End it"}
      </Button>
      {refused ? (
        <Button kind="danger" disabled={isEnding} onPress={() => end(true)}>
          End it all the same
        </Button>
      ) : (
        <span class="quiet">
          {needOf(card) === "ready" ? "Its pane and its shell stay." : "Refused while something would be lost."}
        </span>
      )}
    </p>
  );
}

function History({ card, api, onProblem }: Omit<FormProps, "page"> & { readonly api: Api }) {
  const [turns, setTurns] = useState<readonly DashboardTurn[] | undefined>(undefined);
  const [words, setWords] = useState("");
  const closing = useRef(new AbortController());
  const { agent_id: agentId, turn_count: count, state } = card;
  useEffect(() => {
    const { signal } = closing.current;
    api.turns(agentId, signal).then(
      ({ body }) => setTurns((body as { readonly turns: readonly DashboardTurn[] }).turns),
      (error: unknown) => {
        if (!signal.aborted) onProblem(messageOf(error));
      },
    );
  }, [agentId, count, state]);
  useEffect(() => () => closing.current.abort(), []);
  if (turns === undefined) return null;
  const shown = turns.filter(({ text }) => text.toLowerCase().includes(words.toLowerCase()));
  return (
    <section class="history" aria-label="History">
      <h3>History</h3>
      {turns.length === 0 ? (
        <p class="quiet">Nothing yet: prompts, questions and answers appear here.</p>
      ) : (
        <input
          class="text"
          type="search"
          aria-label="Find in the history"
          placeholder="Find"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
      )}
      <ol>
        {shown.map((turn) => (
          <li key={turn.turn_id} class={turn.intent}>
            <p class="quiet">
              {INTENTS[turn.intent]} · <time dateTime={turn.timestamp}>{timeText(turn.timestamp)}</time>
            </p>
            <p class="turn-text">{turn.text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}

const timeText = (timestamp: string): string =>
  new Date(timestamp).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
