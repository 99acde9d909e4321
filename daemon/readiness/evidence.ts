/**
 * What has been reported and seen of one program, and the state that follows from it.
 *
 * Statements are what the program says itself: hooks, marks in its output, titles. Each holds until the same source says
 * something else, and the newest of all decides, because each of them lags or is silent at times (docs/agentFacts.md):
 * a hook may come late or, after an interrupt, never. The screen is captured after output and can only
 *  - say `asking`, which no statement overrules: a dialog that is drawn is open until a capture no longer finds it;
 *  - let an `idle` pass, which is believed only when a capture made after it found no dialog;
 *  - say what nobody else says, for programs that are silent;
 *  - put an end to a statement that does not come true: a `busy` or `asking` is dropped when the box is drawn, nothing says
 *    busy there, and no byte has come for `DOUBT_MS`. A program at work shows that it is, several times a second.
 *
 * Quiet never makes a state by itself. Nothing here keeps time: `judge` says when it wants to be asked again.
 */
import type { ProfileKind } from "./profile.ts";
import type { ReadinessSource, ReadinessState } from "./readiness.ts";
import type { ScreenReading } from "./screenReading.ts";

/** Spinners turn at least once a second; this is half as long again. */
const DOUBT_MS = 1_500;
/** A title goes out at once, the frame that belongs to it within this: Ink draws 30 times a second. */
const FRAME_MS = 40;
/** A title that means idle or asking, on a screen that shows neither: a dialog is drawn within this (docs/agentFacts.md 10). */
const AMBIGUOUS_MS = 300;
/** A program that has drawn nothing we know and then nothing at all for this long is not starting any more. */
const STARTING_MS = 3_000;
/** The same again from one source weighs against a newer word of another one only when it is no straggler of its own. */
const STRAGGLER_MS = 500;

type StatementState = "starting" | "idle" | "busy" | "asking";
type StatementSource = Extract<ReadinessSource, "hook" | "osc7501" | "osc133" | "title" | "bracketedPaste">;

interface Statement {
  readonly source: StatementSource;
  readonly state: StatementState;
  readonly atMs: number;
  /** In the order of all that was heard. */
  readonly order: number;
  readonly ambiguous: boolean;
}

interface Seen {
  readonly reading: ScreenReading;
  /** What had been heard when the capture began. */
  readonly order: number;
  readonly askedMs: number;
  /** The row of the cursor up to it. */
  readonly beforeCursor: string;
}

export interface Verdict {
  readonly state: ReadinessState;
  readonly source: ReadinessSource;
  /** Time alone would change it then, unless something is heard or seen before. */
  readonly againAtMs?: number | undefined;
  /** No state is known before the first capture. */
  readonly needsProbe?: boolean | undefined;
  /** A guess until the next capture, which is about to come. */
  readonly isPassing?: boolean | undefined;
}

export class Evidence {
  readonly #kind: ProfileKind;
  readonly #statements = new Map<StatementSource, Statement>();
  #order = 0;
  #seen: Seen | undefined;
  /** No byte has come since the screen looked as it was seen. */
  #isCurrent = false;
  #lastOutputMs: number;
  #hadOutput = false;
  #hasMatched = false;
  /** The last prompt at the cursor: a row that begins with it is one that is being typed. */
  #prompt: string | undefined;
  #activity = 0;

  constructor(kind: ProfileKind, nowMs: number) {
    this.#kind = kind;
    this.#lastOutputMs = nowMs;
  }

  /** Counts what was anything but idle: an idle after some of it is another idle than the one before. */
  get activity(): number {
    return this.#activity;
  }

  /** A shell's last statement is that it runs a command. */
  get isShellsCommand(): boolean {
    const { atMs: readMs = -1, state: read } = this.#statements.get("bracketedPaste") ?? {};
    const { atMs: markMs = -1, state: mark } = this.#statements.get("osc133") ?? {};
    return (readMs > markMs ? read : (mark ?? read)) === "busy";
  }

  /** For a capture that begins now. */
  get order(): number {
    return this.#order;
  }

  get reading(): ScreenReading | undefined {
    return this.#seen?.reading;
  }

  /** When the capture began in which it was read; -Infinity: none. */
  get readMs(): number {
    return this.#seen?.askedMs ?? -Infinity;
  }

  say(source: StatementSource, state: StatementState, atMs: number, ambiguous = false): void {
    const last = this.#statements.get(source);
    if (last?.state === state && last.ambiguous === ambiguous) {
      const newest = this.#newest();
      if (newest === last || newest === undefined || atMs - newest.atMs < STRAGGLER_MS) return;
    }
    this.#order += 1;
    this.#statements.set(source, { source, state, atMs, order: this.#order, ambiguous });
    if (state !== "idle") this.#activity += 1;
  }

  /** The source makes no statement any more. */
  withdraw(source: StatementSource): void {
    this.#statements.delete(source);
  }

  /** Carries over what another program profile had heard from this source. */
  inherit(from: Evidence, source: StatementSource): void {
    const statement = from.#statements.get(source);
    if (statement !== undefined) this.say(source, statement.state, statement.atMs, statement.ambiguous);
  }

  output(atMs: number): void {
    this.#lastOutputMs = atMs;
    this.#hadOutput = true;
    this.#isCurrent = false;
  }

  /** @param isCurrent nothing has come since the screen looked like this */
  saw(seen: Seen, isCurrent: boolean): void {
    const before = this.#seen?.reading;
    const { reading } = seen;
    if (before?.state === "asking" && reading.state !== "asking") this.#answered(this.#seen!.order);
    if (reading.state !== "none") this.#hasMatched = true;
    if (reading.state === "idle") this.#prompt = reading.prompt;
    if (reading.state === "busy" || reading.state === "asking") this.#activity += 1;
    else if (reading.state === "none" && before?.state === "idle" && !this.#isTyping(seen)) this.#activity += 1;
    this.#seen = seen;
    this.#isCurrent = isCurrent;
  }

  judge(nowMs: number, previous: ReadinessState): Verdict {
    const newest = this.#newest();
    if (this.#seen?.reading.state === "asking") {
      return { state: "asking", source: newest?.state === "asking" ? newest.source : "screen" };
    }
    if (newest === undefined) return this.#bySilence(nowMs, previous);
    switch (newest.state) {
      case "starting":
        return this.#isSeenAfter(newest) && this.#seen?.reading.state !== "none"
          ? this.#bySilence(nowMs, previous)
          : { state: "starting", source: newest.source };
      case "asking":
      case "busy": {
        const doubtAtMs = this.#doubtAtMs(newest);
        if (doubtAtMs > nowMs) return { state: newest.state, source: newest.source, againAtMs: finite(doubtAtMs) };
        return { state: "idle", source: "screen" };
      }
      case "idle":
        return this.#idle(newest, nowMs, previous);
    }
  }

  #newest(): Statement | undefined {
    let newest: Statement | undefined;
    for (const statement of this.#statements.values()) {
      if (!COUNTS[this.#kind].has(statement.source)) continue;
      const isNewer =
        newest === undefined ||
        statement.atMs > newest.atMs ||
        (statement.atMs === newest.atMs && statement.order > newest.order);
      if (isNewer) newest = statement;
    }
    return newest;
  }

  #isSeenAfter({ order }: Statement): boolean {
    return this.#seen !== undefined && this.#seen.order >= order;
  }

  /** A dialog that was seen is gone: who said `asking` before that capture meant this one. */
  #answered(order: number): void {
    for (const statement of this.#statements.values()) {
      if (statement.state === "asking" && statement.order <= order) this.#statements.delete(statement.source);
    }
  }

  /** When the statement is no longer believed against the screen. */
  #doubtAtMs(statement: Statement): number {
    if (this.#seen?.reading.state !== "idle" || !this.#isSeenAfter(statement) || !this.#isCurrent) return Infinity;
    // A shell's marks come with every command, and a prompt may be drawn by what it runs.
    if (this.#kind === "shell") return Infinity;
    return Math.max(this.#lastOutputMs, statement.atMs) + DOUBT_MS;
  }

  #idle(statement: Statement, nowMs: number, previous: ReadinessState): Verdict {
    const { source } = statement;
    const idle: Verdict = { state: "idle", source };
    // A shell at its prompt has nobody in the foreground who could ask.
    if (this.#kind === "shell" && (source === "osc133" || source === "bracketedPaste")) return idle;
    if (!this.#isSeenAfter(statement)) return { ...this.#meanwhile(previous, statement), needsProbe: true };
    const seen = this.#seen!;
    const drawnAtMs = statement.ambiguous ? statement.atMs + FRAME_MS : 0;
    if (seen.askedMs < drawnAtMs) {
      const isDrawn = drawnAtMs <= nowMs;
      return {
        ...this.#meanwhile(previous, statement),
        ...(isDrawn ? { needsProbe: true } : { againAtMs: drawnAtMs }),
      };
    }
    if (seen.reading.state === "idle") return idle;
    if (!statement.ambiguous) {
      const isContradicted =
        source !== "title" && seen.reading.state === "busy" && seen.askedMs - statement.atMs >= STRAGGLER_MS;
      return isContradicted ? { state: "busy", source: "screen" } : idle;
    }
    // Some keep this title while they work (docs/agentFacts.md 21).
    if (seen.reading.state === "busy") return { state: "busy", source: "screen" };
    const sureAtMs = Math.max(this.#lastOutputMs, statement.atMs) + AMBIGUOUS_MS;
    if (sureAtMs > nowMs) return { ...this.#meanwhile(previous, statement), againAtMs: sureAtMs };
    return { state: "unknown", source };
  }

  /** Until more is known. What was asked has been answered, or the screen would still show it. */
  #meanwhile(previous: ReadinessState, statement: Statement): Verdict {
    const state = previous === "asking" || previous === "dead" ? "busy" : previous;
    return { state, source: state === "unknown" ? "none" : statement.source, isPassing: true };
  }

  /** No statement: the screen alone decides. */
  #bySilence(nowMs: number, previous: ReadinessState): Verdict {
    const seen = this.#seen;
    if (seen === undefined)
      return {
        state: this.#kind === "agent" && this.#hadOutput ? "starting" : "unknown",
        source: "none",
        needsProbe: true,
      };
    const { state } = seen.reading;
    if (state === "idle" || state === "busy") return { state, source: "screen" };
    if (this.#kind !== "agent") {
      if (this.#prompt === undefined) return { state: "unknown", source: "none" };
      return { state: this.#isTyping(seen) ? "idle" : "busy", source: "screen" };
    }
    if (!this.#hasMatched) {
      const untilMs = this.#lastOutputMs + STARTING_MS;
      const isStarting = this.#hadOutput && untilMs > nowMs;
      return isStarting
        ? { state: "starting", source: "screen", againAtMs: untilMs }
        : { state: "unknown", source: "none" };
    }
    const untilMs = this.#lastOutputMs + AMBIGUOUS_MS;
    const kept = previous === "asking" || previous === "dead" || previous === "unknown" ? undefined : previous;
    if (kept !== undefined && untilMs > nowMs) return { state: kept, source: "screen", againAtMs: untilMs };
    return { state: "unknown", source: "screen" };
  }

  #isTyping({ beforeCursor }: Seen): boolean {
    const prompt = this.#prompt?.trimEnd();
    return prompt !== undefined && prompt !== "" && beforeCursor.startsWith(prompt);
  }
}

/** Which statement counts. What a shell says is kept for the moment in which one turns out to be in the foreground. */
const COUNTS: Readonly<Record<ProfileKind, ReadonlySet<StatementSource>>> = {
  agent: new Set(["hook", "osc7501", "title"]),
  shell: new Set(["hook", "osc7501", "osc133", "bracketedPaste"]),
  generic: new Set(["hook", "osc7501", "osc133"]),
};

const finite = (ms: number): number | undefined => (Number.isFinite(ms) ? ms : undefined);
