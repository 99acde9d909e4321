/**
 * What was asked of each agent, what it asked, how that was answered and by whom, and how it ended; each once. It watches
 * nothing itself: the directory tells what agents do (`AgentDirectory.subscribe`, `onEvent`), the delivery engine what is
 * typed for whom (`typing`). Where both tell of the same prompt they are joined: by its text, or by the delivery's key.
 *
 * A *turn* begins with a prompt or with work, and is over when the agent has taken a prompt again for `SETTLE_MS`. A
 * *question* is open as long as the agent asks it; whoever typed an answer meanwhile has answered it, else it was answered in
 * the pane. Both are continued by the next daemon from what is on disk.
 */
import type { DeliveryOutcome, DialogAnswer, Typing } from "../../../daemon/delivery/delivery.ts";
import { significant } from "../../../daemon/delivery/screen/promptEcho.ts";
import { dialogDigest } from "../../../daemon/readiness/dialog.ts";
import type { Dialog } from "../../../daemon/readiness/readiness.ts";
import type { Surroundings } from "../../../daemon/ops/log.ts";
import type { Timer } from "../../../daemon/time/clock.ts";
import type { TimelineKind, TimelineOutcome } from "../../../protocol/api/native/nativeTimeline.ts";
import { AppError } from "../../../protocol/errors.ts";
import { clip } from "../../../protocol/text/clip.ts";
import type { AgentDirectory } from "../running/agentDirectory.ts";
import { stateOf } from "../running/agentState.ts";
import { type AgentChange, type AgentEvent, keptPrompt, type RunningAgent } from "../running/runningAgent.ts";
import { type TimelineEntry, type TimelineFilter, TimelineStore } from "./timelineStore.ts";

/** A state that lasts no longer ends no turn, and is no question unless its text was read. */
const SETTLE_MS = 2_000;
/** What is on a screen follows what was typed within this. */
const DRAWN_WITHIN_MS = 500;
/** A turn that nobody has seen begin is over if the agent takes a prompt this long after it took the last. */
const UNSEEN_TURN_MS = 5_000;
/** A hook may tell this late of a prompt that was typed: a program that is busy keeps it until its turn is over. */
const REPORTED_WITHIN_MS = 3_600_000;
/** Last words may come this long after the end of their turn. */
const WORDS_WITHIN_MS = 30_000;
/** Typed prompts of an agent that its hook has not told of; the oldest are forgotten. */
const MAX_EXPECTED = 16;
/** Looked through for what an earlier daemon has left open. */
const RESTORED_ENTRIES = 32;
/** Of a text; what was cut is not kept. */
const MAX_TEXT_CHARS = 4_000;
const MAX_OPTIONS = 20;
const MAX_OPTION_CHARS = 200;

interface TimelineOptions extends Surroundings {
  readonly agents: AgentDirectory;
}

interface TimelineRequest extends Omit<TimelineFilter, "agent" | "server"> {
  readonly agent?: string | undefined;
  readonly server?: string | undefined;
}

/** Typed by us; a hook may tell of it as a prompt. */
interface Expected {
  readonly text: string;
  readonly by: string;
  readonly key: string | undefined;
  readonly isAnswer: boolean;
  readonly atMs: number;
  readonly atUnixMs: number;
  /** Its entry's. */
  readonly number: number;
  isKept: boolean;
}

interface OpenQuestion {
  readonly number: number;
  readonly openedMs: number;
  /** Undefined until its text has been read. */
  dialogId: string | undefined;
  /** It was open when this daemon began: its dialog has another id now, with the same end. */
  readonly isEarlier: boolean;
}

/** What may have answered a question. */
interface Typed {
  readonly by: string;
  readonly text?: string | undefined;
  readonly outcome?: TimelineOutcome | undefined;
  readonly dialogId?: string | undefined;
  readonly atMs: number;
  /** Until then a dialog that is redrawn, or its next page, is no other question. */
  isUnderWay: boolean;
}

/** What is known of an agent that runs. */
interface Followed {
  readonly agent: RunningAgent;
  turn: "none" | "begun" | "worked";
  turnMs: number;
  words?: string | undefined;
  question?: OpenQuestion | undefined;
  readonly expected: Expected[];
  typed?: Typed | undefined;
  /** The end of the last turn. */
  done?: { readonly number: number; readonly atMs: number; words: string | undefined } | undefined;
  /** Its `started` has nobody yet. */
  started?: number | undefined;
  endingBy?: string | undefined;
  settling?: Timer | undefined;
  /** Since what was typed last. */
  drawing?: Timer | undefined;
}

export class Timeline {
  readonly #options: TimelineOptions;
  readonly #followed = new Map<string, Followed>();
  readonly #unsubscribes: readonly (() => void)[];
  #store: TimelineStore | undefined;
  #isClosed = false;

  constructor(options: TimelineOptions) {
    this.#options = options;
    const { agents } = options;
    this.#unsubscribes = [
      agents.subscribe((change) => this.#guarded(() => this.#changed(change))),
      agents.onEvent((event) => this.#guarded(() => this.#happened(event))),
    ];
  }

  /** In the turn of a delivery's first write; what it returns is called at its end (`DeliveryOptions.onTyping`). */
  typing(typing: Typing): (outcome: DeliveryOutcome | undefined) => void {
    let end: ((outcome: DeliveryOutcome | undefined) => void) | undefined;
    this.#guarded(() => {
      const agent = this.#options.agents.inPane(typing.server, typing.pane);
      const followed = agent === undefined ? undefined : this.#followed.get(agent.id);
      if (followed !== undefined) end = this.#typing(followed, typing);
    });
    return (outcome) => this.#guarded(() => end?.(outcome));
  }

  /** Somebody ends it, until the returned function is called. */
  ending({ id }: RunningAgent, by: string): () => void {
    const followed = this.#followed.get(id);
    if (followed !== undefined) followed.endingBy = by;
    return () => {
      if (followed?.endingBy === by) followed.endingBy = undefined;
    };
  }

  /**
   * Of an agent by its name or id: of one that runs, whatever it was called, and of all that were called so.
   * @throws AppError NOT_FOUND: nothing is known of such an agent
   */
  find({ agent, server: on, ...rest }: TimelineRequest): ReturnType<TimelineStore["find"]> {
    const store = this.#entries();
    const { agents } = this.#options;
    const server = on === undefined ? undefined : { name: on, socket: agents.socketOf(on) };
    const filter = { ...rest, server };
    if (agent === undefined) return store.find(filter);
    const known = agents.running(agent) ?? (store.knows(agent) ? undefined : agents.find(agent));
    return store.find({ ...filter, agent: { id: known?.id ?? agent, name: agent } });
  }

  /** Safe to call twice. */
  close(): void {
    if (this.#isClosed) return;
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    for (const { settling, drawing } of this.#followed.values()) {
      settling?.cancel();
      drawing?.cancel();
    }
    this.#store?.close();
    this.#isClosed = true;
  }

  #entries(): TimelineStore {
    const { agents, clock, nowUnixMs, log } = this.#options;
    if (this.#isClosed) throw new AppError("SHUTTING_DOWN", "the daemon is stopping");
    return (this.#store ??= new TimelineStore({ database: agents.database, clock, nowUnixMs, log }));
  }

  #changed({ kind, agent }: AgentChange): void {
    if (kind === "ended") return this.#ended(agent);
    const followed = this.#followed.get(agent.id) ?? this.#follow(agent);
    this.#noteStart(followed);
    return this.#look(followed);
  }

  #follow(agent: RunningAgent): Followed {
    const { clock, agents } = this.#options;
    const followed: Followed = { agent, turn: "none", turnMs: clock.nowMs(), expected: [] };
    // Those that the directory does not know any more.
    for (const id of this.#followed.keys()) if (agents.known(id) === undefined) this.#followed.delete(id);
    this.#followed.set(agent.id, followed);
    const known = this.#entries().newest(agent.id, RESTORED_ENTRIES);
    if (known.length === 0 || this.#entries().marked(agent.id, STARTED) === undefined) {
      const by = agent.launch?.startedBy;
      const number = this.#add(followed, "started", { by, text: startOf(agent), mark: STARTED });
      if (by === undefined) followed.started = number;
    }
    this.#restore(followed, known);
    return followed;
  }

  /** What an earlier daemon has left open. */
  #restore(followed: Followed, known: readonly TimelineEntry[]): void {
    const last = known.find(({ kind }) => IN_TURN.has(kind));
    if (last === undefined || last.kind === "done") return;
    followed.turn = "worked";
    if (last.kind !== "question") return;
    const dialogId = last.mark?.split(" ")[1];
    followed.question = { number: last.number, openedMs: -Infinity, dialogId, isEarlier: true };
  }

  /** Who started it may be said after it was seen. */
  #noteStart(followed: Followed): void {
    const { agent, started } = followed;
    if (started === undefined || agent.launch === undefined) return;
    followed.started = undefined;
    this.#entries().change(started, { by: agent.launch.startedBy, text: cut(startOf(agent)) });
  }

  #look(followed: Followed): void {
    const { agent, question } = followed;
    if (agent.endedUnixMs !== undefined) return;
    const { state } = stateOf(agent);
    followed.settling?.cancel();
    followed.settling = undefined;
    if (question !== undefined && followed.typed?.isUnderWay === true) return;
    if (state === "asking") {
      this.#work(followed);
      const dialog = agent.readiness?.dialog;
      if (dialog !== undefined) this.#asks(followed, dialog);
      else if (question === undefined) this.#settle(followed, SETTLE_MS);
      return;
    }
    if (state !== "busy" && state !== "ready") return;
    if (question !== undefined) this.#close(followed, question);
    if (state === "busy") this.#work(followed);
    else if (followed.turn !== "none") this.#settle(followed, this.#patience(followed));
  }

  #work(followed: Followed): void {
    if (followed.turn === "none") this.#begin(followed);
    followed.turn = "worked";
  }

  #begin(followed: Followed): void {
    followed.turn = "begun";
    followed.turnMs = this.#options.clock.nowMs();
    followed.words = undefined;
  }

  #patience({ turn, turnMs, words }: Followed): number {
    if (turn === "worked" || words !== undefined) return SETTLE_MS;
    return Math.max(SETTLE_MS, turnMs + UNSEEN_TURN_MS - this.#options.clock.nowMs());
  }

  #settle(followed: Followed, afterMs: number): void {
    const { clock } = this.#options;
    followed.settling?.cancel();
    followed.settling = clock.callAt(clock.nowMs() + afterMs, () => {
      followed.settling = undefined;
      this.#guarded(() => this.#settled(followed));
    });
  }

  /** Its state has lasted. */
  #settled(followed: Followed): void {
    const { state } = stateOf(followed.agent);
    if (state === "asking" && followed.question === undefined) this.#open(followed, undefined);
    if (state === "ready" && followed.turn !== "none") this.#turnOver(followed);
  }

  #turnOver(followed: Followed): void {
    const { words, typed, turnMs } = followed;
    const isInterrupted = typed?.outcome === "interrupted" && typed.atMs >= turnMs && words === undefined;
    const outcome = isInterrupted ? "interrupted" : undefined;
    const by = isInterrupted ? typed?.by : undefined;
    const number = this.#add(followed, "done", { by, text: words, outcome });
    followed.done = { number, atMs: this.#options.clock.nowMs(), words };
    followed.turn = "none";
    followed.words = undefined;
  }

  #asks(followed: Followed, dialog: Dialog): void {
    const { question } = followed;
    if (question !== undefined) {
      const isSame =
        question.dialogId === undefined ||
        question.dialogId === dialog.id ||
        (question.isEarlier && dialogDigest(question.dialogId) === dialogDigest(dialog.id));
      if (isSame) {
        if (question.dialogId === undefined) this.#entries().change(question.number, textsOf(dialog));
        question.dialogId = dialog.id;
        return;
      }
      this.#close(followed, question);
    }
    this.#open(followed, dialog);
  }

  #open(followed: Followed, dialog: Dialog | undefined): void {
    const texts = dialog === undefined ? {} : textsOf(dialog);
    // Another daemon counts its dialogs anew.
    const mark = dialog === undefined ? undefined : `${QUESTION}${this.#options.nowUnixMs()} ${dialog.id}`;
    const number = this.#add(followed, "question", { ...texts, mark });
    const openedMs = this.#options.clock.nowMs();
    followed.question = { number, openedMs, dialogId: dialog?.id, isEarlier: false };
  }

  #close(followed: Followed, { openedMs, dialogId }: OpenQuestion): void {
    const { typed } = followed;
    followed.question = undefined;
    const isTheirs =
      typed !== undefined &&
      typed.atMs >= openedMs &&
      (typed.dialogId === undefined || dialogId === undefined || typed.dialogId === dialogId);
    const { by, text, outcome } = isTheirs ? typed : { by: IN_PANE, text: undefined, outcome: undefined };
    this.#add(followed, "answer", { by, text, outcome });
  }

  #typing(followed: Followed, { what, by = "api", idempotencyKey: key }: Typing) {
    // The words with which an agent is told to end.
    if (by === ENDING) return undefined;
    switch (what.kind) {
      case "prompt":
        return this.#typingPrompt(followed, { text: what.text, by, key });
      case "answer": {
        const dialog = followed.agent.readiness?.dialog;
        const dialogId = what.dialogId ?? dialog?.id;
        if (what.answer.kind === "other") this.#expect(followed, { text: what.answer.text, by, key, isAnswer: true });
        return this.#typed(followed, { by, text: chosen(dialog, what.answer), dialogId });
      }
      case "keys": {
        const pasted = what.steps.flatMap((step) => (step.kind === "paste" ? [step.text] : []));
        for (const text of pasted) this.#expect(followed, { text, by, key, isAnswer: true });
        const text = pasted.length > 0 ? pasted.join("\n") : undefined;
        return this.#typed(followed, { by, text });
      }
      case "interrupt":
        return this.#typed(followed, { by, outcome: "interrupted" });
    }
  }

  #typed(followed: Followed, typed: Omit<Typed, "atMs" | "isUnderWay">): () => void {
    const made: Typed = { ...typed, atMs: this.#options.clock.nowMs(), isUnderWay: true };
    followed.typed = made;
    followed.drawing?.cancel();
    followed.drawing = undefined;
    return () => {
      const { clock } = this.#options;
      if (followed.typed !== made || this.#isClosed) return;
      followed.drawing = clock.callAt(clock.nowMs() + DRAWN_WITHIN_MS, () => {
        followed.drawing = undefined;
        made.isUnderWay = false;
        this.#guarded(() => this.#look(followed));
      });
    };
  }

  #typingPrompt(followed: Followed, prompt: Pick<Expected, "text" | "by" | "key">) {
    const over = this.#typed(followed, { by: prompt.by, text: prompt.text });
    const expected = this.#expect(followed, { ...prompt, isAnswer: false });
    return (outcome: DeliveryOutcome | undefined): void => {
      over();
      const how = outcome === undefined ? undefined : OUTCOMES[outcome];
      if (how === undefined) {
        // A hook may still tell of it, if its Enter was pressed.
        if (outcome === "not_echoed" && followed.expected.includes(expected)) {
          followed.expected.splice(followed.expected.indexOf(expected), 1);
        }
        return;
      }
      if (!expected.isKept) this.#prompted(followed, expected, how);
    };
  }

  #expect(followed: Followed, given: Omit<Expected, "atMs" | "atUnixMs" | "number" | "isKept">): Expected {
    const { expected } = followed;
    const nowMs = this.#options.clock.nowMs();
    const atUnixMs = this.#options.nowUnixMs();
    const made: Expected = { ...given, atMs: nowMs, atUnixMs, number: this.#entries().reserve(), isKept: false };
    while (expected.length > 0 && (expected.length >= MAX_EXPECTED || nowMs - expected[0]!.atMs > REPORTED_WITHIN_MS)) {
      expected.shift();
    }
    expected.push(made);
    return made;
  }

  /** In the place of its first write: what it led to may have been told before it is certain. */
  #prompted(
    followed: Followed,
    prompt: Pick<Expected, "text" | "by" | "key"> & Partial<Expected>,
    outcome: TimelineOutcome,
  ): void {
    const { text, by, key, number, atUnixMs } = prompt;
    if (followed.turn === "none") this.#begin(followed);
    const mark = key === undefined ? undefined : `${PROMPT}${key}`;
    this.#add(followed, "prompt", { by, text, outcome, mark }, atUnixMs, number);
    if (number !== undefined) prompt.isKept = true;
    this.#look(followed);
  }

  #happened(event: AgentEvent): void {
    if (event.kind === "gone") return this.#gone(event);
    if (event.kind === "serverEnded") {
      const ended = this.#entries().marked(event.agent.id, ENDED);
      if (ended !== undefined && ended.by === undefined) this.#entries().change(ended.number, { by: "server" });
      return undefined;
    }
    const followed = this.#followed.get(event.agent.id);
    if (followed === undefined) return undefined;
    switch (event.kind) {
      case "prompted":
        return event.by === undefined ? this.#reported(followed, event) : this.#confirmed(followed, event, event.by);
      case "said":
        return this.#said(followed, event.words);
      case "renamed":
        return void this.#add(followed, "renamed", { by: event.by, text: event.before });
    }
  }

  /** Its hook tells of a prompt: one that we have typed, or one of a person's. */
  #reported(followed: Followed, { text }: { readonly text: string }): void {
    const { expected } = followed;
    const nowMs = this.#options.clock.nowMs();
    const at = expected.findIndex(
      (one) => nowMs - one.atMs <= REPORTED_WITHIN_MS && isSame(keptPrompt(one.text), keptPrompt(text)),
    );
    const ours = expected[at];
    if (ours === undefined) {
      this.#prompted(followed, { text, by: IN_PANE, key: undefined }, "taken");
      return;
    }
    expected.splice(at, 1);
    if (ours.isAnswer) return;
    if (!ours.isKept) this.#prompted(followed, ours, "taken");
    else this.#entries().change(ours.number, { outcome: "taken" });
  }

  /** Whoever gave it knows now that it was taken, maybe of a delivery of an earlier daemon. */
  #confirmed(
    followed: Followed,
    {
      text,
      sinceUnixMs,
      key,
    }: { readonly text: string; readonly sinceUnixMs: number; readonly key?: string | undefined },
    by: string,
  ): void {
    const entries = this.#entries().newest(followed.agent.id, RESTORED_ENTRIES);
    const mark = key === undefined ? undefined : `${PROMPT}${key}`;
    const known = entries.find(
      (entry) =>
        entry.kind === "prompt" &&
        ((mark !== undefined && entry.mark === mark) ||
          (entry.unixMs >= sinceUnixMs && isSame(beginningOf(entry.text ?? ""), beginningOf(text)))),
    );
    if (known === undefined) this.#prompted(followed, { text, by, key }, "taken");
    else if (known.outcome === "unconfirmed" || known.by === IN_PANE) {
      this.#entries().change(known.number, { by, outcome: "taken" });
    }
  }

  #said(followed: Followed, words: string): void {
    const { done, turn } = followed;
    const isLate = done !== undefined && this.#options.clock.nowMs() - done.atMs <= WORDS_WITHIN_MS;
    if (turn === "none" && isLate) {
      if (done.words === undefined) this.#entries().change(done.number, { text: cut(words) });
      done.words ??= words;
      return;
    }
    if (turn === "none") this.#begin(followed);
    followed.words = words;
    this.#look(followed);
  }

  #ended(agent: RunningAgent): void {
    const followed = this.#followed.get(agent.id);
    if (followed === undefined) return;
    followed.settling?.cancel();
    followed.settling = undefined;
    followed.drawing?.cancel();
    if (followed.question !== undefined && followed.typed?.isUnderWay === true) {
      this.#close(followed, followed.question);
    }
    const { state } = agent.server.status();
    const by = followed.endingBy ?? (state === "ready" ? undefined : "server");
    this.#add(followed, "ended", { by, mark: ENDED });
  }

  #gone({ id, name, serverName, socket }: Extract<AgentEvent, { readonly kind: "gone" }>): void {
    const entry = {
      agent: id,
      name,
      server: serverName,
      socket,
      kind: "ended",
      unixMs: this.#options.nowUnixMs(),
    } as const;
    const unknown = { by: undefined, text: undefined, options: undefined };
    this.#entries().add({ ...entry, ...unknown, outcome: "unseen", mark: ENDED });
  }

  #add(
    { agent: { id, name, serverName, server: on } }: Followed,
    kind: TimelineKind,
    { by, text, options, outcome, mark }: Partial<Pick<TimelineEntry, "by" | "text" | "options" | "outcome" | "mark">>,
    unixMs = this.#options.nowUnixMs(),
    number?: number,
  ): number {
    const server = { server: serverName, socket: on.status().socketPath };
    const entry = { agent: id, name, ...server, kind, unixMs: Math.round(unixMs) };
    return this.#entries().add({ ...entry, by, text: cut(text), options, outcome, mark }, number);
  }

  /** A disk that is full ends nothing but the record. */
  #guarded(run: () => void): void {
    if (this.#isClosed) return;
    try {
      run();
    } catch (error) {
      this.#options.log.error("timeline.failed", { error });
    }
  }
}

const STARTED = "started";
const ENDED = "ended";
const PROMPT = "prompt:";
const QUESTION = "question:";
const ENDING = "end";
/** By its own keys: by a person who sits at it, or by input that is only typed. */
const IN_PANE = "pane";

/** An entry of one of these says whether a turn is open. */
const IN_TURN: ReadonlySet<TimelineKind> = new Set(["prompt", "question", "answer", "done"]);

const OUTCOMES: Readonly<Record<DeliveryOutcome, TimelineOutcome | undefined>> = {
  submitted: "taken",
  queued: "queued",
  echoed_unconfirmed: "unconfirmed",
  indeterminate: "unconfirmed",
  not_echoed: undefined,
};

const isSame = (one: string, other: string): boolean => significant(one, true) === significant(other, true);

const startOf = ({ kind, launch }: RunningAgent): string =>
  launch === undefined ? kind.title : [launch.program, ...launch.args].join(" ");

const cut = (text: string | undefined): string | undefined => (text === undefined ? text : clip(text, MAX_TEXT_CHARS));

/** Of a prompt, without the ellipsis of one that was cut. */
const beginningOf = (prompt: string): string => keptPrompt(prompt).slice(0, MAX_TEXT_CHARS - 1);

const textsOf = ({ text, options }: Dialog) => ({
  text: cut(text),
  options: options.slice(0, MAX_OPTIONS).map(({ label }) => label.slice(0, MAX_OPTION_CHARS)),
});

/** The labels of what is chosen; of later pages of a dialog only the places are known, from 1. */
function chosen(dialog: Dialog | undefined, answer: DialogAnswer): string {
  if (answer.kind === "other") return answer.text;
  const pages = answer.kind === "option" ? [[answer.index]] : answer.answers;
  return pages
    .map((page, at) =>
      page.map((index) => (at === 0 ? dialog?.options[index]?.label : undefined) ?? `option ${index + 1}`).join(", "),
    )
    .join("; ");
}
