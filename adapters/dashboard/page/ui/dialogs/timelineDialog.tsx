/** What was asked of an agent or of all, what they asked, by whom it was answered and how it ended; also of ended ones. */
import { useEffect, useState } from "preact/hooks";
import type { NativeTimeline, NativeTimelineEntry } from "../../../../../protocol/api/native/nativeTimeline.ts";
import { Button } from "../../../../pages/controls.tsx";
import { Dialog } from "../../../../pages/dialog.tsx";
import type { Api } from "../../net/api.ts";
import { Problem, useAttempts } from "../problem.tsx";
import { bodyOf, headOf, KIND_WORDS } from "../../words/timelineWords.ts";

/** Fewer than the daemon gives: a person reads them. */
const AT_ONCE = 50;

interface TimelineDialogProps {
  readonly api: Api;
  /** Whose: by id; undefined: everybody's. */
  readonly agent: Subject | undefined;
  /** Undefined: there is no pane to record. */
  readonly onRecordings: (() => void) | undefined;
  readonly onClose: () => void;
}

interface Subject {
  readonly id: string;
  readonly name: string;
}

interface Asked {
  readonly agent: Subject | undefined;
  readonly query: string;
  readonly kind: string;
}

type Loaded = Omit<NativeTimeline, "keptDays">;

export function TimelineDialog({ api, agent, onRecordings, onClose }: TimelineDialogProps) {
  const [asked, setAsked] = useState<Asked>({ agent, query: "", kind: "" });
  const [written, setWritten] = useState("");
  const [loaded, setLoaded] = useState<Loaded | undefined>(undefined);
  const { problem, attemptInstead } = useAttempts();
  const load = (before?: Loaded): Promise<void> => {
    const query = new URLSearchParams({ limit: String(AT_ONCE) });
    if (asked.agent !== undefined) query.set("agent", asked.agent.id);
    if (asked.query !== "") query.set("query", asked.query);
    if (asked.kind !== "") query.set("kind", asked.kind);
    if (before !== undefined) query.set("before", String(before.next));
    return attemptInstead(async (signal) => {
      const { entries, next, dropped } = (await api.timeline(query.toString(), signal)).body as NativeTimeline;
      if (!signal.aborted) setLoaded({ entries: [...(before?.entries ?? []), ...entries], next, dropped });
    });
  };
  useEffect(() => void load(), [asked]);
  const search = (event: Event): void => {
    event.preventDefault();
    setAsked({ ...asked, query: written.trim() });
  };
  const subject = asked.agent;
  return (
    <Dialog
      kind="details timeline"
      title={subject === undefined ? "Timeline" : `Timeline of ${subject.name}`}
      onClose={onClose}
    >
      <form class="timeline-search" role="search" onSubmit={search}>
        <input
          class="text"
          type="search"
          aria-label="Find in the timeline"
          placeholder="Find"
          value={written}
          maxLength={256}
          spellcheck={false}
          onInput={(event) => setWritten(event.currentTarget.value)}
        />
        <select
          class="text"
          aria-label="Show"
          value={asked.kind}
          onChange={(event) => setAsked({ ...asked, kind: event.currentTarget.value })}
        >
          <option value="">Everything</option>
          {Object.entries(KIND_WORDS).map(([kind, words]) => (
            <option key={kind} value={kind}>
              {words}
            </option>
          ))}
        </select>
        <Button>Find</Button>
        {subject === undefined ? null : (
          <Button kind="plain" onPress={() => setAsked({ ...asked, agent: undefined })}>
            All agents
          </Button>
        )}
        {subject !== undefined && subject.id === agent?.id && onRecordings !== undefined ? (
          <Button kind="plain" onPress={onRecordings}>
            Recordings
          </Button>
        ) : null}
      </form>
      <Problem words={problem} />
      {loaded === undefined ? null : (
        <Entries
          loaded={loaded}
          asked={asked}
          onAgent={(one) => setAsked({ ...asked, agent: one })}
          onOlder={() => load(loaded)}
        />
      )}
    </Dialog>
  );
}

interface EntriesProps {
  readonly loaded: Loaded;
  readonly asked: Asked;
  readonly onAgent: (agent: Subject) => void;
  readonly onOlder: () => Promise<void>;
}

function Entries({ loaded: { entries, next, dropped }, asked, onAgent, onOlder }: EntriesProps) {
  const isFiltered = asked.query !== "" || asked.kind !== "";
  return (
    <section class="history" aria-label="Entries">
      {entries.length === 0 ? (
        <p class="quiet">
          {isFiltered ? "Nothing has these words." : "Nothing yet: starts, prompts, questions and answers appear here."}
        </p>
      ) : (
        <ol tabIndex={0} aria-label="The newest first">
          {entries.map((entry) => (
            <Entry key={entry.number} entry={entry} onAgent={asked.agent === undefined ? onAgent : undefined} />
          ))}
        </ol>
      )}
      {next === null ? null : <Button onPress={onOlder}>Older</Button>}
      {dropped === null || next !== null ? null : (
        <p class="quiet">
          {dropped.entries} older entries, up to {timeText(dropped.untilUnixMs)}, were removed: there were too many.
        </p>
      )}
    </section>
  );
}

interface EntryProps {
  readonly entry: NativeTimelineEntry;
  /** Undefined: all are one agent's. */
  readonly onAgent: ((agent: Subject) => void) | undefined;
}

function Entry({ entry, onAgent }: EntryProps) {
  const { kind, agent, name, unixMs, options } = entry;
  const body = bodyOf(entry);
  return (
    <li class={CLASSES[kind]}>
      <p class="quiet">
        {onAgent === undefined ? null : (
          <>
            <Button
              kind="plain timeline-agent"
              label={`Timeline of ${name}`}
              onPress={() => onAgent({ id: agent, name })}
            >
              {name}
            </Button>
            {" · "}
          </>
        )}
        {headOf(entry)} · <time dateTime={new Date(unixMs).toISOString()}>{timeText(unixMs)}</time>
      </p>
      {body === "" ? null : <p class="turn-text">{body}</p>}
      {options === null || options.length === 0 ? null : <p class="quiet turn-text">{options.join("\n")}</p>}
    </li>
  );
}

/** Colours of the history, under names that no other part of the page has. */
const CLASSES: Readonly<Record<NativeTimelineEntry["kind"], string>> = {
  started: "",
  prompt: "",
  question: "asks",
  answer: "",
  done: "completion",
  ended: "",
  renamed: "",
};

const timeText = (unixMs: number): string =>
  new Date(unixMs).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
