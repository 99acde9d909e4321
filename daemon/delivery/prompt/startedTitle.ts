/**
 * The title by which a program says that it has finished starting (`submit.startedTitle` of its profile). Such a program
 * draws its box and takes text before, and drops what is entered then.
 */
import { type OutputSource, slicesOf } from "../../tmux/outputSource.ts";
import { MAX_ROW_CHARACTERS, type Profile } from "../../readiness/profile.ts";
import { scanMarks } from "../../panes/vt/streamMarks.ts";
import { trackerOf } from "../../panes/vt/vtTracker.ts";
import { STARTED_WITHIN_MS } from "../deliveryLimits.ts";
import type { PaneWatch } from "../pane/paneWatch.ts";
import type { Work } from "../work.ts";

/**
 * Until the program says that it has started; not for longer than a start takes, for a user may have changed its title. A pane
 * keeps the title of the program before: of one that is new it proves nothing, and one that comes in its own output does.
 * False where it is certain that it has not said so: it is new, all its output is known, and there is no such title in it.
 */
export async function untilStarted({ watch, reader, deadlineMs }: Work, { submit }: Profile): Promise<boolean> {
  const { startedTitle } = submit;
  const { source, server, pane, clock } = watch;
  if (startedTitle === undefined) return true;
  const isNew = reader.isNew;
  const startSeq = isNew ? startIn(source) : undefined;
  // A shell may have put its own title into the place of the predecessor's, which the stream still holds.
  const from = isNew ? (startSeq ?? source.outputSeq) : 0;
  const { title } = await server.describePane(pane);
  const isTitled = startedTitle.test(title.slice(0, MAX_ROW_CHARACTERS));
  if (isTitled && startSeq === undefined) return true;
  if (source.tailSeq > 0 && !isNew) return true;
  const untilMs = Math.min(clock.nowMs() + STARTED_WITHIN_MS, deadlineMs);
  while (saidIn(source, startedTitle, from) === undefined) {
    const { version } = watch;
    watch.requireThere();
    if (!isNew && startedTitle.test((server.findPane(pane)?.title ?? "").slice(0, MAX_ROW_CHARACTERS))) return true;
    if (clock.nowMs() >= untilMs)
      return isTitled || startSeq === undefined || saidIn(source, startedTitle, 0) !== undefined;
    await watch.next(version, untilMs);
  }
  return true;
}

/**
 * Its first such title came after this point. What it had taken out of its box by then it has dropped, if it had not said so
 * before (`untilStarted`): a program does not start twice. A gap could hide an earlier one.
 */
export function hasStartedSince({ source }: PaneWatch, { submit }: Profile, seq: number): boolean {
  const title = submit.startedTitle;
  if (title === undefined || !isWhole(source)) return false;
  return (saidIn(source, title, 0) ?? 0) > seq;
}

/** Where the program began to read: it turns on pastes in brackets once it does, and a shell turns them off before it. */
function startIn(source: OutputSource): number | undefined {
  const { bracketedPaste, bracketedPasteSeq } = trackerOf(source).readOn();
  return bracketedPaste === true && bracketedPasteSeq >= source.tailSeq ? bracketedPasteSeq : undefined;
}

function isWhole(source: OutputSource): boolean {
  for (const { kind } of slicesOf(source, 0, source.outputSeq)) if (kind !== "bytes") return false;
  return true;
}

/** Where the first such title ends. */
function saidIn(source: OutputSource, title: RegExp, from: number): number | undefined {
  const ends: number[] = [];
  scanMarks(source, from, source.outputSeq, {
    mark: (mark, _from, to) => {
      if (mark.kind === "title" && title.test(mark.title.slice(0, MAX_ROW_CHARACTERS))) ends.push(to);
    },
  });
  return ends[0];
}
