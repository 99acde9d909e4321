/**
 * What is known of one kind of program: how to recognise it, what its titles and screens mean, how its dialogs are answered,
 * how text is given to it. Profiles are data (`profiles/*.json`, from docs/agentFacts.md) and are checked when they are
 * loaded. Their patterns are ours and run on foreign text: on one row at a time, cut to `MAX_ROW_CHARACTERS`.
 */
import * as v from "valibot";
import { faultText } from "../../protocol/api/faultWords.ts";
import { parse } from "../../protocol/api/parse.ts";
import { isRange } from "./versions.ts";

/** A row longer than any terminal is wide enough to need; what a pattern looks for stands far in front. */
export const MAX_ROW_CHARACTERS = 512;

/** A pattern for one row or title. Without the `u` flag's surprises: rows hold whole characters. */
const pattern = v.pipe(
  v.string(),
  v.check((source) => isPattern(source), "not a regular expression"),
  v.transform((source) => new RegExp(source, "u")),
);
const patterns = v.array(pattern);
const keys = v.array(v.pipe(v.string(), v.nonEmpty()));
const ms = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(1_000));

const profileSchema = v.strictObject({
  name: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,31}$/)),
  /** `agent`: a prompt box and dialogs. `shell`: marks and `?2004`. `generic`: whatever it is. */
  kind: v.picklist(["agent", "shell", "generic"]),
  /** `recorded`: held against screens of these versions (`test/golden/agents`). */
  source: v.optional(v.picklist(["recorded", "own"]), "own"),
  /** Versions of the program that it was tested with. */
  seenWith: v.optional(v.array(v.pipe(v.string(), v.regex(/^[\w.+-]{1,64}$/))), []),
  /** Only for these versions of the program, such as `>=2.1.300 <3`; several profiles of one name differ in this. */
  versions: v.optional(v.pipe(v.string(), v.maxLength(200), v.check(isRange, "not a range such as `>=2.1.300 <3`"))),
  /** Names of the program in the foreground (`pane_current_command`). */
  programs: v.pipe(
    v.array(v.string()),
    v.transform((names): ReadonlySet<string> => new Set(names)),
  ),
  /** Titles that nothing else sets. */
  titleHints: patterns,
  /** Rows that nothing else draws: for a program that runs under another's name (`node`). A group is the version. */
  signatures: patterns,
  /** What a title says; the first that matches. `ambiguous`: idle, or asking: only the screen knows. */
  titles: v.array(
    v.strictObject({
      pattern,
      state: v.picklist(["idle", "busy", "asking"]),
      ambiguous: v.optional(v.boolean(), false),
    }),
  ),
  screen: v.strictObject({
    /** How many rows from the bottom are read. */
    rows: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(200)),
    asking: patterns,
    busy: patterns,
    /** Rows under the prompt box that say that it works. */
    busyFooter: v.optional(patterns, []),
    ready: patterns,
    /** How the row with the cursor ends, up to the cursor, when a command or an answer is read. */
    cursor: v.optional(v.strictObject({ prompt: pattern, asking: patterns })),
    /**
     * Where text is typed: a row that begins with `prefix`, directly under one that matches `above` and up to one that
     * matches `below`, where these are given. Else it ends at a blank row.
     */
    promptBox: v.optional(
      v.strictObject({
        prefix: pattern,
        above: v.optional(pattern),
        below: v.optional(pattern),
        /** Instead of a prefix: its rows have a stroke on the left, the last of them says this, `below` ends it. */
        footer: v.optional(pattern),
        /** A prefix, or footer, that stands for a mode in which a text is no prompt (a shell's command, a note). */
        mode: v.optional(pattern),
        /** What the program writes into an empty box; what it draws dim there is never text. */
        hints: v.optional(patterns, []),
        /** It suggests a prompt in an empty box: the first letter underlined like its cursor, the rest in a colour. */
        ghost: v.optional(v.boolean(), false),
      }),
    ),
    /** What stands behind a prompt that was taken, in its row: the time, for instance. */
    stamp: v.optional(pattern),
    /** While the box is drawn no dialog is open, whatever stands above it. */
    boxExcludesDialog: v.boolean(),
  }),
  dialog: v.strictObject({
    /** Characters that mark the option that Enter would choose. */
    marks: v.pipe(v.string(), v.nonEmpty()),
    /** `number`: an option's number chooses it at once. `arrows`: walk to it, then Enter. */
    choose: v.picklist(["number", "arrows"]),
    /** Labels of options that stand side by side in one row; Left and Right walk. */
    buttons: v.optional(v.array(v.string()), []),
    /** Rows with which what is asked begins, where no rule stands above it: what is above them went by. */
    begins: v.optional(patterns, []),
    /** Labels of the option behind which free text is taken. */
    other: patterns,
  }),
  submit: v.strictObject({
    /** Least time between the text and Enter. */
    gapMs: ms,
    /** Time without output before Enter. */
    quietMs: ms,
    /** A prompt given while it is busy is kept for later. */
    queues: v.boolean(),
    /** What stands in the box for a long paste. */
    placeholders: patterns,
    /**
     * Titles that it sets when it has finished starting and at no time before: until then it drops what is entered,
     * although it draws its box and takes text.
     */
    startedTitle: v.optional(pattern),
    /** What it shows in its history it may have lost: it has to be seen to work on it. */
    mayLose: v.optional(v.boolean(), false),
    /** A row above the box: the prompts below it wait until the program has time for them. */
    waiting: v.optional(patterns, []),
    /** Rows that say why a prompt came to nothing: no key, no model, a limit. */
    failures: v.optional(patterns, []),
    /** What keeps a text a text whose first character is one of `!/#@`; a character that no field names cannot be kept so. */
    literal: v.optional(
      v.strictObject({
        /** They mean nothing in a paste. */
        plain: v.string(),
        /** They do, unless `with` stands before them. */
        starts: v.optional(v.string(), ""),
        with: v.optional(v.string(), ""),
        /** Files that `@` names are read, wherever it begins a word. */
        attaches: v.optional(v.boolean(), false),
      }),
    ),
  }),
  /** tmux's key names. `clear` empties a line of the box, `interrupt` stops a turn. */
  keys: v.strictObject({
    clear: keys,
    interrupt: keys,
    /** What the screen says when the next of several `interrupt` keys is due. */
    again: v.optional(pattern),
  }),
});

export type Profile = v.InferOutput<typeof profileSchema>;
export type ProfileKind = Profile["kind"];

/** @throws Error that names the field at fault */
export function loadProfile(source: unknown): Profile {
  return parse(profileSchema, source, (fault) => new Error(faultText(fault, "the profile")), { noun: "member" });
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, "u") instanceof RegExp;
  } catch {
    return false;
  }
}
