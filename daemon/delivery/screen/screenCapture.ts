/** One exact capture of a pane and what it shows: the rows, the open dialog, the text in the prompt box. */
import type { SeenDialog } from "../../readiness/dialog.ts";
import type { Profile } from "../../readiness/profile.ts";
import { findPromptBox } from "../../readiness/promptBox.ts";
import { readScreen } from "../../readiness/screenReading.ts";
import { screenOf } from "../../readiness/screenRows.ts";
import { AppError } from "../../../protocol/errors.ts";
import { typedText } from "./boxText.ts";
import type { Capture } from "../../tmux/io.ts";
import type { Screen } from "./promptEcho.ts";
import type { PaneWatch } from "../pane/paneWatch.ts";

export interface ScreenCapture {
  readonly capture: Capture;
  readonly profile: Profile;
  /** Rows without frames at their ends, and without what the program writes behind a prompt. */
  readonly screen: Screen;
  readonly dialog: SeenDialog | undefined;
  /** The prompt box; undefined when none is drawn or the profile knows of none. */
  readonly box: Box | undefined;
}

interface Box {
  /** Its first row on the screen. */
  readonly row: number;
  /** Its last one with text. */
  readonly last: number;
  /** What somebody has typed into it, without the program's hints. Foreign text. */
  readonly typed: string;
}

export async function takeCapture(watch: PaneWatch, profile: Profile): Promise<ScreenCapture> {
  // Buttons show by their colours alone which one is chosen, hints in a box that nobody has typed them.
  return judge(
    await watch.capture(profile.dialog.buttons.length > 0 || profile.screen.promptBox !== undefined),
    profile,
  );
}

/** After a key that may end the program: undefined when the pane has gone. */
export async function captureIfThere(watch: PaneWatch, profile: Profile): Promise<ScreenCapture | undefined> {
  try {
    return await takeCapture(watch, profile);
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") return undefined;
    throw error;
  }
}

/**
 * A program that ends takes its question off the screen as well; one that has taken the answer shows what comes next, as far
 * as the profile knows how that looks.
 */
export const goesOn = ({ profile, dialog, box }: ScreenCapture): boolean =>
  profile.kind !== "agent" || profile.screen.promptBox === undefined || dialog !== undefined || box !== undefined;

export function judge(capture: Capture, profile: Profile): ScreenCapture {
  const all = screenOf(capture, Math.max(1, capture.lines.length));
  const bottom = { ...all, rows: all.rows.slice(-profile.screen.rows) };
  const reading = readScreen(profile, bottom);
  const box = findPromptBox(profile, bottom.rows);
  const { stamp } = profile.screen;
  const lines = all.rows.map(({ text }) => (stamp === undefined ? text : text.replace(stamp, "")));
  const above = all.rows.length - bottom.rows.length;
  const [row, last] = [above + (box?.first ?? 0), above + (box?.last ?? 0)];
  return {
    capture,
    profile,
    screen: { lines, cursor: capture.cursor },
    dialog: reading.state === "asking" ? reading.dialog : undefined,
    box:
      box === undefined ? undefined : { row, last, typed: typedText(profile, all.rows, { ...box, first: row, last }) },
  };
}
