/** From what a dialog shows to what can be answered: its text, its options and the keys that choose each of them. */
import { createHash } from "node:crypto";
import type { Menu } from "./menu.ts";
import type { Profile } from "./profile.ts";
import type { Dialog, DialogOption } from "./readiness.ts";
import type { Screen } from "./screenRows.ts";

/** A dialog before it is known whether it is a new one. */
export interface SeenDialog extends Omit<Dialog, "id"> {
  /** The same for the same text and options, wherever the mark is. */
  readonly digest: string;
}

/** Rows above the options that are read, and lines of them that are kept: the last ones, the question is there. */
const MAX_TEXT_ROWS = 36;
const MAX_TEXT_LINES = 10;
/** Of a dialog whose beginning is known: its command first, its question last. */
const MAX_WHOLE_LINES = 20;
const INNER_FRAME = /^[│┃] ?|\s*[│┃]$/gu;
const RULE = /^[─━═╭╮╰╯┌┐┄▔▁▀▄]{4,}/u;
/** Drawn around a command or a file within a dialog. */
const INNER_RULE = /^╌{4,}$/u;

/** @param from the first row that may belong to it */
export function dialogOf(profile: Profile, screen: Screen, menu: Menu | undefined, from: number): SeenDialog {
  const { rows } = screen;
  const end = menu?.first ?? rows.length;
  const drawn = rows.slice(Math.max(from, end - MAX_TEXT_ROWS), end);
  const above = drawn.map((row) => row.text);
  const begins = above.findLastIndex((row) => profile.dialog.begins.some((pattern) => pattern.test(row)));
  // An agent draws a rule above its question; what is framed on both sides lies within one.
  const rule = drawn.findLastIndex(({ text, frame }) => frame !== "both" && RULE.test(text));
  const begin = begins < 0 && rule >= 0 && profile.kind === "agent" ? rule + 1 : begins;
  const text = begin < 0 ? linesAbove(above) : linesFrom(above.slice(begin));
  const options = menu === undefined ? [] : optionsOf(profile, menu);
  const other = options.findIndex(({ label }) => profile.dialog.other.some((pattern) => pattern.test(label)));
  return {
    text,
    options,
    ...(other < 0 ? {} : { otherIndex: other }),
    ...(menu?.marked === undefined ? {} : { marked: menu.marked }),
    multi: menu?.multi === true,
    digest: digestOf([text, ...options.map(({ label }) => label)]),
  };
}

/** A question at the cursor: `Continue? [Y/n]`, a password. */
export function cursorDialog(line: string): SeenDialog {
  const text = line.trim();
  const letters = /[[(]([yY])(?:es)?\/([nN])(?:o)?[^\])]{0,24}[\])]/.exec(text);
  const options = (letters?.slice(1) ?? []).map((letter, index) => ({
    index,
    label: letter,
    keys: [letter.toLowerCase(), "Enter"],
  }));
  return { text, options, multi: false, digest: digestOf([text]) };
}

/** Of a dialog's id (`Dialog.id`): the same for the same text and options. */
export const dialogDigest = (id: string): string => id.slice(id.indexOf("-") + 1);

const digestOf = (parts: readonly string[]): string =>
  createHash("sha256").update(parts.join("\u0000")).digest("hex").slice(0, 12);

/** The whole question, without the frame it draws around a part of it: the command that is to be approved stands in a frame. */
function linesFrom(texts: readonly string[]): string {
  const bare = texts
    .filter((text) => !RULE.test(text) && !INNER_RULE.test(text))
    .map((text) => text.replaceAll(INNER_FRAME, "").trimEnd());
  const lines = bare.filter((text, index) => text !== "" || (bare[index - 1] ?? "") !== "");
  if (lines.length <= MAX_WHOLE_LINES) return lines.join("\n").trim();
  const half = MAX_WHOLE_LINES / 2;
  return [...lines.slice(0, half), "…", ...lines.slice(1 - half)].join("\n").trim();
}

/** Down to the nearest rule above; blanks at both ends dropped, runs of them one. */
function linesAbove(texts: readonly string[]): string {
  const rule = texts.findLastIndex((text) => RULE.test(text));
  const lines = texts
    .slice(rule + 1)
    .filter((text) => !INNER_RULE.test(text))
    .filter((text, index, all) => text !== "" || (all[index - 1] ?? "") !== "");
  return lines.slice(-MAX_TEXT_LINES).join("\n").trim();
}

function optionsOf({ dialog }: Profile, menu: Menu): DialogOption[] {
  return menu.options.map(({ number, label, checked }, index) => ({
    index,
    ...(number === undefined ? {} : { number }),
    label,
    ...(checked === undefined ? {} : { checked }),
    keys: keysFor(menu, index, dialog.choose === "number" ? number : undefined),
  }));
}

/** Empty when nothing shows where the mark is: no way to choose is better than choosing the wrong option. */
function keysFor({ marked, multi, layout }: Menu, index: number, number: string | undefined): readonly string[] {
  if (number !== undefined && number.length === 1 && !multi) return [number];
  if (marked === undefined) return [];
  const [back, on] = layout === "buttons" ? ["Left", "Right"] : ["Up", "Down"];
  const steps = Math.abs(index - marked);
  return [...Array.from({ length: steps }, () => (index < marked ? back : on)), multi ? "Space" : "Enter"];
}
