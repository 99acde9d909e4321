/**
 * What the screen says of a program's state. A dialog is looked for first, and only under the prompt box when the program
 * has no box while a dialog is open: text that went by cannot pass for a question.
 */
import { cursorDialog, dialogOf, type SeenDialog } from "./dialog.ts";
import { findMenu } from "./menu.ts";
import type { Profile } from "./profile.ts";
import { findPromptBox } from "./promptBox.ts";
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
  const isMenu = menu !== undefined && menu.marked !== undefined && isAlone(profile, menu.layout, box !== undefined);
  if (isKnownQuestion || isMenu) return { state: "asking", dialog: dialogOf(profile, screen, menu, from) };
  if (rules.cursor?.asking.some((pattern) => pattern.test(beforeCursor)) === true) {
    return { state: "asking", dialog: cursorDialog(beforeCursor) };
  }
  if (shows(rules.busy)) return { state: "busy" };
  if (box !== undefined || shows(rules.ready)) return { state: "idle" };
  if (rules.cursor?.prompt.test(beforeCursor) === true) return { state: "idle", prompt: beforeCursor };
  return { state: "none" };
}

/** Whether a menu is a question by itself, without any words of one. */
function isAlone(profile: Profile, layout: "numbered" | "list" | "buttons", hasBox: boolean): boolean {
  if (profile.kind === "shell" || layout === "buttons") return false;
  return layout === "numbered" ? profile.screen.boxExcludesDialog || !hasBox : profile.kind === "generic";
}
