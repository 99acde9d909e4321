/**
 * The title by which a program says that it has finished starting (`submit.startedTitle` of its profile). Such a program
 * draws its box and takes text before, and drops what is entered then.
 */
import type { OutputSource } from "../tmux/outputSource.ts";
import { MAX_ROW_CHARACTERS, type Profile } from "../readiness/profile.ts";
import { scanMarks } from "../panes/vt/streamMarks.ts";
import { STARTED_WITHIN_MS } from "./deliveryLimits.ts";
import type { PaneWatch } from "./paneWatch.ts";

/**
 * Such a title came after this point and was the program's first, so that what was entered before it is lost: it has only
 * just been started, or there was none before. False where this cannot be known.
 */
export function hasStartedSince({ source, isAddresseeNew }: PaneWatch, { submit }: Profile, seq: number): boolean {
  const title = submit.startedTitle;
  if (title === undefined || source.tailSeq > seq || !saysSo(source, title, seq, source.outputSeq)) return false;
  return isAddresseeNew || (source.tailSeq === 0 && !saysSo(source, title, 0, seq));
}

/**
 * Until the program says that it has started; not for longer than a start takes, for a user may have changed its title.
 * False when it has not said so by then. The stream alone does not tell: it may begin after the title. A pane keeps the title
 * of the program before: of one that is new it proves nothing.
 */
export async function untilStarted(watch: PaneWatch, { submit }: Profile, deadlineMs: number): Promise<boolean> {
  const { startedTitle } = submit;
  const { source, server, pane, clock } = watch;
  if (startedTitle === undefined) return true;
  const { title } = await server.describePane(pane);
  if (startedTitle.test(title.slice(0, MAX_ROW_CHARACTERS))) return !watch.isAddresseeNew;
  const isNew = watch.isAddresseeNew;
  if (source.tailSeq > 0 && !isNew) return true;
  // A shell may have put its own title into the place of the predecessor's, which the stream still holds.
  const from = isNew ? source.outputSeq : 0;
  const untilMs = Math.min(clock.nowMs() + STARTED_WITHIN_MS, deadlineMs);
  while (clock.nowMs() < untilMs) {
    const { version } = watch;
    watch.requireThere();
    if (!isNew && startedTitle.test((server.findPane(pane)?.title ?? "").slice(0, MAX_ROW_CHARACTERS))) return true;
    if (saysSo(source, startedTitle, from, source.outputSeq)) return true;
    await watch.next(version, untilMs);
  }
  return false;
}

function saysSo(source: OutputSource, title: RegExp, from: number, to: number): boolean {
  const titles: string[] = [];
  scanMarks(source, from, to, {
    mark: (mark) => void (mark.kind === "title" && titles.push(mark.title.slice(0, MAX_ROW_CHARACTERS))),
  });
  return titles.some((found) => title.test(found));
}
