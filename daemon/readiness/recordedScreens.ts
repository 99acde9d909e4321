/** Screens of a program as they were recorded, and what a profile makes of each; the format stands in docs/profiles.md. */
import { Evidence } from "./evidence.ts";
import { MAX_ROW_CHARACTERS, type Profile } from "./profile.ts";
import type { ReadinessState } from "./readiness.ts";
import { readScreen } from "./screenReading.ts";
import { screenOf } from "./screenRows.ts";

export interface RecordedScreen {
  readonly name: string;
  /** What the program was doing. */
  readonly state: ReadinessState;
  /** What the engine has to say: the same, or `unknown` where the screen alone cannot tell. */
  readonly judged: ReadinessState;
  readonly title: string;
  readonly command: string;
  readonly cursor: { readonly row: number; readonly col: number };
  readonly cols: number;
  readonly rows: number;
  /** Of the options that a dialog has to be read with; empty when the section names none. */
  readonly labels: readonly string[];
  /** The rows that a dialog's text has to be, blank ones left out; empty when the section names none. */
  readonly question: readonly string[];
  /** With their attributes. */
  readonly lines: readonly string[];
}

/** Sections begin outside of fences only: what a program prints is no section, whatever it looks like. */
export function readRecordedScreens(document: string): RecordedScreen[] {
  const screens: RecordedScreen[] = [];
  let section: { readonly head: string[]; readonly drawn: string[] } | undefined;
  let fence: string | undefined;
  let place: "head" | "rows" | "after" = "after";
  const finish = (): void => {
    if (section !== undefined) screens.push(screenOfSection(section.head, section.drawn));
  };
  for (const line of document.split("\n")) {
    if (place === "rows") {
      if (line.startsWith(fence!) && /^`+\s*$/u.test(line)) place = "after";
      else section!.drawn.push(line);
    } else if (line.startsWith("## ")) {
      finish();
      section = { head: [line.slice(3)], drawn: [] };
      place = "head";
    } else if (place === "head") {
      if (/^`{3,}$/u.test(line)) [fence, place] = [line, "rows"];
      else section!.head.push(line);
    }
  }
  finish();
  return screens;
}

function screenOfSection([name = "", ...entries]: readonly string[], drawn: readonly string[]): RecordedScreen {
  const fields = new Map(entries.map((entry) => [entry.split(": ", 1)[0]!, entry.slice(entry.indexOf(": ") + 2)]));
  const [row = 0, col = 0] = (fields.get("cursor") ?? "").split(",").map(Number);
  const [cols = 80, rows = 24] = (fields.get("size") ?? "").split("x").map(Number);
  const state = (fields.get("state") ?? "unknown") as ReadinessState;
  const lines = drawn.map((line) => line.replace(/␐([␛␐])|␛/gu, (_, literal?: string) => literal ?? "\u001b"));
  // Captures have no blank rows at their end.
  while (lines.length > 0 && lines.at(-1) === "") lines.pop();
  return {
    name,
    state,
    judged: (fields.get("judged") ?? state) as ReadinessState,
    title: fields.get("title") ?? "",
    command: fields.get("command") ?? "",
    cursor: { row, col },
    cols,
    rows,
    labels: partsOf(fields.get("options")),
    question: partsOf(fields.get("question")),
    lines,
  };
}

const partsOf = (field = ""): readonly string[] => field.split(" | ").filter((part) => part !== "");

/** One section, from which the same screen is read. `judged`, `labels` and `question` are for a person to add. */
export function writeRecordedScreen(recorded: RecordedScreen): string {
  const { name, state, title, command, cursor, cols, rows, lines } = recorded;
  const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  const head = [`state: ${state}`, `title: ${oneLine(title)}`, `command: ${oneLine(command)}`];
  const place = [`cursor: ${cursor.row},${cursor.col}`, `size: ${cols}x${rows}`];
  const drawn = lines.map((line) => line.replace(/[␛␐]/gu, "␐$&").replaceAll("\u001b", "␛"));
  // Longer than any in the rows.
  const runs = drawn.flatMap((line) => line.match(/`+/gu) ?? []);
  const fence = "`".repeat(Math.max(3, ...runs.map((run) => run.length + 1)));
  return [`## ${oneLine(name)}`, ...head, ...place, fence, ...drawn, fence, "", ""].join("\n");
}

/** What a profile makes of a screen that has not changed for a second. */
export function judgeRecorded(profile: Profile, { title, lines, cursor, cols }: RecordedScreen): ReadinessState {
  const screen = screenOf({ lines, cursor, cols }, profile.screen.rows);
  const evidence = new Evidence(profile.kind, 0);
  const rule = profile.titles.find(({ pattern }) => pattern.test(title.slice(0, MAX_ROW_CHARACTERS)));
  if (rule !== undefined) evidence.say("title", rule.state, Number.NEGATIVE_INFINITY, rule.ambiguous);
  const reading = readScreen(profile, screen);
  const { beforeCursor } = screen;
  evidence.saw({ reading, order: evidence.order, askedMs: STILL_MS, beforeCursor }, true);
  return evidence.judge(STILL_MS, "unknown").state;
}

const STILL_MS = 1_000;
