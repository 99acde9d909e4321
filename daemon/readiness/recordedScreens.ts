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
  /** With their attributes. */
  readonly lines: readonly string[];
}

export function readRecordedScreens(document: string): RecordedScreen[] {
  return document
    .split(/^## /mu)
    .slice(1)
    .map((section) => {
      const [head = "", rest = ""] = section.split("\n```\n", 2);
      const [name = "", ...entries] = head.split("\n");
      const fields = new Map(entries.map((entry) => [entry.split(": ", 1)[0]!, entry.slice(entry.indexOf(": ") + 2)]));
      const [row = 0, col = 0] = (fields.get("cursor") ?? "").split(",").map(Number);
      const [cols = 80, rows = 24] = (fields.get("size") ?? "").split("x").map(Number);
      const state = (fields.get("state") ?? "unknown") as ReadinessState;
      const drawn = rest
        .replace(/\n```\s*$/u, "")
        .replaceAll("␛", "\u001b")
        .split("\n");
      while (drawn.length > 0 && drawn.at(-1) === "") drawn.pop();
      return {
        name,
        state,
        judged: (fields.get("judged") ?? state) as ReadinessState,
        title: fields.get("title") ?? "",
        command: fields.get("command") ?? "",
        cursor: { row, col },
        cols,
        rows,
        labels: (fields.get("options") ?? "").split(" | ").filter((label) => label !== ""),
        lines: drawn,
      };
    });
}

/** One section. */
export function writeRecordedScreen({
  name,
  state,
  title,
  command,
  cursor,
  cols,
  rows,
  lines,
}: RecordedScreen): string {
  const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  const head = [`state: ${state}`, `title: ${oneLine(title)}`, `command: ${oneLine(command)}`];
  const place = [`cursor: ${cursor.row},${cursor.col}`, `size: ${cols}x${rows}`];
  const drawn = lines.map((line) => line.replaceAll("\u001b", "␛").trimEnd());
  return [`## ${oneLine(name)}`, ...head, ...place, "```", ...drawn, "```", "", ""].join("\n");
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
