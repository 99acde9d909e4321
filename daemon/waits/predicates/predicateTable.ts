/** The predicates there are, and what each means. The command line loads them for its flags: types and schemas only. */
import * as v from "valibot";
import type { PaneReadiness, Readiness, ReadinessState, ReadinessWatcher } from "../../readiness/readiness.ts";
import { latched, predicate, switched, type TargetState, tooMuch } from "./predicate.ts";
import type { FoundText } from "../text/textWatch.ts";
import type { WaitPane } from "../waitReading.ts";
import { type CheckedPattern, patternSchema } from "../waitPattern.ts";
import { READINESS_STATE_NAMES } from "../../../protocol/api/native/nativeReadiness.ts";
import { invalidArgument } from "../../../protocol/errors.ts";

/** Text in the output, and on the screen where the request asks for that. Latches. */
const pattern = predicate({
  name: "pattern",
  field: "pattern",
  schema: patternSchema("The output shows this text, or matches this regular expression (RE2)."),
  flags: [
    { name: "text", type: "text", value: "TEXT", description: "this text, as it is" },
    {
      name: "regex",
      type: "text",
      value: "REGEX",
      description: "this regular expression (RE2); ^ and $ at every line",
    },
    {
      name: "ignore-case",
      short: "i",
      type: "flag",
      description: "with --regex: upper and lower case are the same",
      isModifier: true,
    },
  ],
  asked: (given) => {
    const [text, regex] = [given.text("text"), given.text("regex")];
    return [
      ...(text === undefined ? [] : [{ literal: text }]),
      ...(regex === undefined ? [] : [{ regex, ...(given.flag("ignore-case") ? { ignoreCase: true } : {}) }]),
    ];
  },
  check: (value, context) => context.checkPattern(value),
  arm: (checked: CheckedPattern, reading) => {
    const latch = reading.latch();
    reading.readPattern(checked, latch);
    return latch;
  },
  ...latched,
});

interface Quiet {
  readonly quietMs: number;
  readonly isAfterExit: boolean;
}

const quietSinceMs = ({ isAfterExit }: Quiet, { registeredMs, lastOutputMs, exitedMs }: TargetState): number =>
  Math.max(registeredMs, lastOutputMs, isAfterExit ? (exitedMs ?? -Infinity) : -Infinity);

/**
 * No output for so many seconds, counted from registration at the earliest. With `exit` in the same set, counted from the
 * later of the exit and the last output. A level: it must hold when the wait ends.
 */
const stable = predicate({
  name: "stable",
  field: "stableSec",
  schema: v.pipe(
    v.number(),
    v.minValue(0.01),
    v.maxValue(3_600),
    v.description("No output for this many seconds, and since the exit where `exit` is asked for as well."),
  ),
  flags: [
    { name: "stable", type: "number", value: "SECONDS", description: "no output for this long", min: 0.01, max: 3_600 },
  ],
  asked: (given) => [given.number("stable")].filter((seconds) => seconds !== undefined),
  check: (seconds, { limits: { maxTimeoutSec }, set }): Quiet => {
    if (!(Number.isFinite(seconds) && seconds > 0)) throw invalidArgument("stable is a number of seconds above 0");
    if (seconds > maxTimeoutSec) throw tooMuch("stable seconds", seconds, maxTimeoutSec);
    return { quietMs: seconds * 1_000, isAfterExit: set["exit"] === true };
  },
  arm: (asked: Quiet) => asked,
  dueMs: (armed, state) => quietSinceMs(armed, state) + armed.quietMs,
  progress: (armed, state) => {
    const quietMs = Math.max(0, state.nowMs - quietSinceMs(armed, state));
    const satisfied = quietMs >= armed.quietMs && (!armed.isAfterExit || state.exitedMs !== undefined);
    return { satisfied, quietMs: Math.round(quietMs) };
  },
});

/** The program has ended; one that ended before counts. Latches. */
const exit = predicate({
  ...switched("exit", "The program has ended.", "the program has ended"),
  arm: () => undefined,
  dueMs: (_armed, { exitedMs, nowMs }) => (exitedMs === undefined ? undefined : nowMs),
  progress: (_armed, { exitedMs }) => exitedMs !== undefined,
});

/**
 * The output ends in what looks like a shell prompt: `$`, `#`, `>` or `%`, blanks after it allowed, and nothing more for
 * `settleMs`. A shell that has just switched bracketed paste on (`?2004h`) is believed at once, whatever its prompt. Latches.
 *
 * Best effort, with false positives: a question that ends in `>`, a progress line that stops at `#`, a quoted mail, a
 * password prompt of `su` ending in `#`, a program that prints `$ ` and thinks. `50%` is not taken for one (a digit
 * before `%`). Never let a destructive step depend on it alone: add a pattern, or `exit`.
 */
const prompt = predicate({
  ...switched(
    "prompt",
    "The output ends in what looks like a shell's prompt. Best effort: other programs end a line so, too.",
    "the output ends in what looks like a shell's prompt",
  ),
  arm: (_checked, reading) => {
    const latch = reading.latch();
    reading.readPrompt(latch);
    return latch;
  },
  ...latched,
});

/** The pane itself is gone. Without this predicate that ends the wait with NOT_FOUND. */
const gone = predicate({
  ...switched("gone", "The pane is gone.", "the pane is gone"),
  arm: () => undefined,
  dueMs: (_armed, { isGone, nowMs }) => (isGone ? nowMs : undefined),
  progress: (_armed, { isGone }) => isGone,
});

function watcherOf(pane: WaitPane | undefined): ReadinessWatcher {
  if (pane?.readiness !== undefined) return pane.readiness;
  throw invalidArgument("this daemon does not report readiness");
}

/** Not the same stay in the same state. */
const isAnother = (before: Readiness, now: Readiness): boolean =>
  before.state !== now.state ||
  before.sinceUnixMs !== now.sinceUnixMs ||
  before.position?.outputSeq !== now.position?.outputSeq;

/**
 * The program is in a state of readiness. A level: it must hold when the wait ends. When something is typed, only a state
 * that began after it counts, the same one again included: the program has worked and is idle again.
 */
const ready = predicate({
  name: "ready",
  field: "ready",
  schema: v.pipe(
    v.union([v.literal(true), v.picklist(READINESS_STATE_NAMES)]),
    v.description("The program is in this state; `true` is `idle`. Refused where readiness is not reported."),
    v.transform((state): ReadinessState => (state === true ? "idle" : state)),
  ),
  flags: [
    {
      name: "ready",
      type: "text",
      value: "STATE",
      description: "its program is in this state",
      choices: READINESS_STATE_NAMES,
      implied: "idle",
    },
  ],
  asked: (given) => [given.text("ready") as ReadinessState | undefined].filter((state) => state !== undefined),
  check: (state, { pane }) => {
    watcherOf(pane);
    return state;
  },
  prepare: async (_state, pane) => {
    const watched = watcherOf(pane).watch(pane.server, pane.id);
    try {
      await watched.probe();
      return watched;
    } catch (error) {
      watched[Symbol.dispose]();
      throw error;
    }
  },
  arm: (state: ReadinessState, reading, watched: PaneReadiness) => {
    const before = reading.moment.isForSend ? watched.current : undefined;
    const isReady = ({ current }: PaneReadiness): boolean =>
      current.state === state && (before === undefined || isAnother(before, current));
    const armed = { isReady: isReady(watched) };
    reading.onEnd(
      watched.subscribe(() => {
        armed.isReady = isReady(watched);
        reading.changed();
      }),
    );
    return armed;
  },
  dueMs: ({ isReady }, { nowMs }) => (isReady ? nowMs : undefined),
  progress: ({ isReady }) => isReady,
});

/**
 * The program rings: a BEL in the output, but not one that ends an OSC or is inside another string. Reads from where
 * the request says, as patterns do. Latches.
 */
const bell = predicate({
  ...switched("bell", "The program rings: a BEL that does not end an OSC.", "the program rings the bell"),
  arm: (_checked, reading) => {
    const latch = reading.latch();
    reading.watchMarks({ bell: (at) => latch.found({ from: at, to: at + 1 }) }, latch);
    return latch;
  },
  ...latched,
});

/** As tmux had it before anything was typed. */
interface KnownTitle extends Partial<Disposable> {
  readonly title: string;
}

/**
 * A pattern on the pane's title: the one it has when the wait begins, each one that the program sets from then on (OSC
 * 0 and 2, as they arrive), and any set otherwise (`select-pane -T`), once tmux has reported it. When something is
 * typed, only titles set after it count. Latches.
 */
const title = predicate({
  name: "title",
  field: "title",
  schema: patternSchema("The pane's title shows this text, or matches this regular expression (RE2)."),
  flags: [{ name: "title", type: "text", value: "REGEX", description: "the pane's title matches this (RE2)" }],
  asked: (given) => {
    const regex = given.text("title");
    return regex === undefined ? [] : [{ regex }];
  },
  check: (value, context) => {
    requirePane(context.pane, "a title");
    return context.checkPattern(value);
  },
  prepare: async (_checked, { server, id }): Promise<KnownTitle> => ({ title: (await server.describePane(id)).title }),
  arm: (checked: CheckedPattern, reading, known: KnownTitle) => {
    const latch = reading.latch();
    const search = reading.searcher(checked);
    const probe = (shown: string, found: (text: string) => FoundText, from: number, to: number): void => {
      const skipped = (): void => latch.missed({ from, to, reason: "evicted" });
      if (latch.match === undefined) search(shown, (text) => latch.found(found(text)), skipped);
    };
    reading.watchMarks(
      {
        mark: (mark, from, to) => {
          if (mark.kind === "title") probe(mark.title, (text) => ({ text, from, to }), from, to);
        },
      },
      latch,
    );
    const reported = (shown: string): void => {
      const { outputSeq } = reading.source;
      probe(shown, (text) => ({ text }), outputSeq, outputSeq);
    };
    // tmux may report only now what was set before.
    let before: string | undefined = known.title;
    const { server, id } = requirePane(reading.pane, "a title");
    reading.onEnd(
      server.layout.watch((events) => {
        for (const event of events) {
          if (event.type !== "pane-title-changed" || event.pane !== id) continue;
          if (event.title !== before) reported(event.title);
          before = undefined;
        }
      }),
    );
    if (!reading.moment.isForSend) reported(known.title);
    return latch;
  },
  ...latched,
});

/**
 * The cursor has stood in the same cell for so many seconds, counted from registration at the earliest, whatever is
 * drawn elsewhere (`cursorWatch.ts`). A level: it must hold when the wait ends.
 */
const cursor = predicate({
  name: "cursor",
  field: "cursorStillSec",
  schema: v.pipe(
    v.number(),
    v.minValue(0.01),
    v.maxValue(3_600),
    v.description("The cursor has not moved for this many seconds, whatever is drawn elsewhere."),
  ),
  flags: [
    {
      name: "cursor",
      type: "number",
      value: "SECONDS",
      description: "the cursor has not moved for this long",
      min: 0.01,
      max: 3_600,
    },
  ],
  asked: (given) => [given.number("cursor")].filter((seconds) => seconds !== undefined),
  check: (seconds, { limits: { maxTimeoutSec }, pane }) => {
    requirePane(pane, "a cursor");
    if (seconds > maxTimeoutSec) throw tooMuch("cursor seconds", seconds, maxTimeoutSec);
    return seconds * 1_000;
  },
  arm: (wantedMs: number, reading) => {
    const watch = reading.cursorOf(requirePane(reading.pane, "a cursor"));
    const armed = { wantedMs, watch, registeredMs: reading.host.clock.nowMs(), changed: reading.changed };
    reading.onEnd(watch.add(armed));
    return armed;
  },
  dueMs: ({ wantedMs, watch, registeredMs }, { nowMs }) =>
    watch.stillMs(registeredMs) >= wantedMs && watch.isCurrent ? nowMs : undefined,
  progress: ({ wantedMs, watch, registeredMs }) => {
    const stillMs = watch.stillMs(registeredMs);
    return { satisfied: stillMs >= wantedMs && watch.isCurrent, stillMs: Math.round(stillMs) };
  },
});

function requirePane(pane: WaitPane | undefined, what: string): WaitPane {
  if (pane === undefined) throw invalidArgument(`only a pane has ${what}`);
  return pane;
}

/** In the order in which help, schemas and results name them. */
export const PREDICATES = [pattern, stable, exit, prompt, gone, ready, bell, title, cursor] as const;
