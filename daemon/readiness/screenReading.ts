/**
 * What the screen says of a program's state. A dialog is looked for first, and only under the prompt box when the program
 * has no box while a dialog is open: text that went by cannot pass for a question.
 */
import { cursorDialog, dialogOf, type SeenDialog } from "./dialog.ts";
import { findMenu, type Menu } from "./menu.ts";
import type { Profile } from "./profile.ts";
import { findPromptBox, type PromptBox } from "./promptBox.ts";
import type { Screen } from "./screenRows.ts";

export type ScreenReading =
  | { readonly state: "asking"; readonly dialog: SeenDialog }
  | { readonly state: "busy" }
  /** `prompt`: the row with the cursor, for programs that have no box. */
  | { readonly state: "idle"; readonly prompt?: string | undefined }
  | { readonly state: "none" };

export function readScreen(profile: Profile, screen: Screen): ScreenReading {
  const { rows, beforeCursor } = screen;
  const rules = profile.screen;
  const box = findPromptBox(profile, rows);
  const from = box !== undefined && rules.boxExcludesDialog ? box.last + 1 : 0;
  const shows = (patterns: readonly RegExp[], first = 0): boolean =>
    rows.slice(first).some(({ text }) => patterns.some((pattern) => pattern.test(text)));

  const isKnownQuestion = shows(rules.asking, from);
  const menu = findMenu(profile, screen, from);
  const isMenu = menu !== undefined && menu.marked !== undefined && isAlone(profile, menu, box);
  if (isKnownQuestion || isMenu) return { state: "asking", dialog: dialogOf(profile, screen, menu, from) };
  if (rules.cursor?.asking.some((pattern) => pattern.test(beforeCursor)) === true) {
    return { state: "asking", dialog: cursorDialog(beforeCursor) };
  }
  const isAtWork = shows(rules.busy) || (box !== undefined && shows(rules.busyFooter, box.last + 1));
  if (isAtWork) return { state: "busy" };
  if (box !== undefined || shows(rules.ready)) return { state: "idle" };
  if (rules.cursor?.prompt.test(beforeCursor) === true) return { state: "idle", prompt: beforeCursor };
  return { state: "none" };
}

/** Whether a menu is a question by itself, without any words of one. */
function isAlone(
  { kind, screen }: Profile,
  { layout, first, markColumn = 0 }: Menu,
  box: PromptBox | undefined,
): boolean {
  if (kind === "shell" || layout === "buttons") return false;
  // A prompt that was given is drawn like the box it was typed in; the box is below whatever went by.
  const isUnderBox = box === undefined || box.last < first;
  if (layout === "numbered") return screen.boxExcludesDialog || isUnderBox;
  // Prompts that went by bear the mark too, at the edge; a dialog is set in.
  return kind === "generic" || (screen.boxExcludesDialog && isUnderBox && markColumn > 0);
}
