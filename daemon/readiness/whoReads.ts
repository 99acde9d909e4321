/**
 * Who reads from a pane: what tmux calls the foreground, which processes the system says read from its terminal, the title
 * and the screen, put together into a profile. Behind a wrapper, a shim or a launcher the program counts, not what started
 * it; a shell counts as reading only when it is one that was given neither a script nor a command.
 */
import type { ForegroundProcess, PaneForeground } from "../tmux/processes.ts";
import { isCalled } from "../host/programNames.ts";
import { addresseeOf } from "../panes/foreground.ts";
import type { Capture, PaneDetails } from "../tmux/io.ts";
import type { Profile } from "./profile.ts";
import { type Profiles, programName, SHELL_PROFILE } from "./profiles.ts";
import { findPromptBox } from "./promptBox.ts";
import { readScreen } from "./screenReading.ts";
import { screenOf } from "./screenRows.ts";

/** What tmux and the system said at one probe. */
export type PaneReaders = PaneForeground & Pick<PaneDetails, "title">;

/** @param current the profile so far: a program that shows another one (`ssh`, `tmux`) still shows it while its screen fits */
export function profileOf(
  profiles: Profiles,
  { command, title, processes = [] }: PaneReaders,
  capture: Capture,
  current: Profile,
): Profile {
  const isShown = (profile: Profile): boolean => {
    const screen = screenOf(capture, profile.screen.rows);
    return readScreen(profile, screen).state !== "none" && !isPromptOfShell(profile, capture);
  };
  const guess = profiles.guess({
    command,
    title,
    rows: capture.lines,
    processes: processes.map(({ names }) => names),
    isShown,
  });
  return guess.kind === "generic" && current.kind === "agent" && isShown(current) ? current : guess;
}

/** A shell that has been given neither a script nor a command reads; undefined where the system does not report it. */
export function isShellReading({ processes = [] }: PaneForeground): boolean | undefined {
  if (processes.length === 0) return undefined;
  return processes.some(
    ({ isInteractiveShell, isShell, names }) =>
      isInteractiveShell || (!isShell && isCalled(names, SHELL_PROFILE.programs)),
  );
}

/** The pane's own process reads, and is no shell: one that was there has become what it had been told to `exec`. */
export const isShellGone = ({ pid, processes = [] }: PaneReaders): boolean =>
  processes[0] !== undefined && processes[0].pid === pid && !processes[0].isShell;

/**
 * The process that the profile is about: of its name, or whatever shows its screen under another one; of an agent no shell.
 * @param before an agent that was called so is not followed by what has taken its place
 */
export function processOf(
  { kind, programs }: Profile,
  { processes = [] }: PaneReaders,
  before?: ForegroundProcess,
): ForegroundProcess | undefined {
  const reader = addresseeOf(processes, programs);
  if (kind !== "agent" || reader === undefined || isCalled(reader.names, programs)) return reader;
  if (before !== undefined && isCalled(before.names, programs)) return before;
  return reader.isShell ? undefined : reader;
}

/**
 * Whether a pane whose profile says that an agent should be there has only a shell left. Where the system does not tell of
 * processes, a shell's name and a prompt at the cursor say so; the name may also be a wrapper's: then the cursor is the
 * agent's, in its box.
 * @param hasEnded the agent's process was seen, and runs no more
 * @param isReadingAgain a shell's line editor was switched on after it had been off
 */
export function hasOnlyShell(
  profile: Profile,
  who: PaneReaders,
  capture: Capture,
  { hasEnded, isReadingAgain }: { readonly hasEnded: boolean; readonly isReadingAgain: boolean },
): boolean {
  const { command, processes = [] } = who;
  if (processes.length > 0) {
    if (processOf(profile, who) !== undefined || processes.some(({ isShell }) => !isShell)) return false;
    return isShellReading(who) === true || hasEnded;
  }
  if (!SHELL_PROFILE.programs.has(programName(command))) return false;
  return isPromptOfShell(profile, capture, isReadingAgain);
}

function isPromptOfShell(profile: Profile, capture: Capture, isReadingAgain = false): boolean {
  const screen = screenOf(capture, profile.screen.rows);
  if (SHELL_PROFILE.screen.cursor?.prompt.test(screen.beforeCursor) !== true) return false;
  const box = findPromptBox(profile, screen.rows);
  return isReadingAgain || box === undefined || screen.cursorRow < box.first || screen.cursorRow > box.last;
}
