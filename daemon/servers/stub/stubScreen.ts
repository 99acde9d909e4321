/** The screen of a stub pane: its newest lines on a screen of its size, and the lines above as history. */
import { headOf } from "../../tmux/outputSource.ts";
import type { PaneInfo } from "../../tmux/inventory.ts";
import type { Capture, CaptureOptions, PaneDetails, Snapshot } from "../../tmux/io.ts";
import type { BoundedLines } from "./boundedLines.ts";
import type { StubSession } from "./stubSession.ts";

/** RIS: resets the terminal (ECMA-48). */
const FULL_RESET = "\u001bc";

const encoder = new TextEncoder();

export const captureStub = ({ lines, stream, pane }: StubSession, options: CaptureOptions): Capture => ({
  lines: isPrinted(options) ? wholeScreen(lines, pane, options) : lines.last(options.lines ?? pane.rows),
  position: headOf(stream),
  exact: true,
  cols: pane.cols,
  rows: pane.rows,
  cursor: { col: 0, row: Math.min(lines.count, pane.rows - 1) },
  alternateScreen: false,
  historyLines: historyOf(lines, pane),
});

export function snapshotStub({ lines, stream, pane }: StubSession): Snapshot {
  const shown = lines.last(pane.rows - 1).map((line) => `${line}\r\n`);
  return {
    position: headOf(stream),
    exact: true,
    cols: pane.cols,
    rows: pane.rows,
    alternateScreen: false,
    data: encoder.encode(FULL_RESET + shown.join("")),
  };
}

export const describeStub = ({ cwd, lines, pane }: StubSession): PaneDetails => ({
  command: "",
  cwd,
  title: pane.title,
  tty: "",
  historyLines: historyOf(lines, pane),
  alternateScreen: false,
  inMode: false,
});

const historyOf = ({ count }: BoundedLines, { rows }: PaneInfo): number => Math.max(0, count - rows);

const isPrinted = ({ whole, start }: CaptureOptions): boolean => whole === true || start !== undefined;

/** The screen with its blank rows, and the requested history above it. */
function wholeScreen(kept: BoundedLines, { rows }: PaneInfo, { lines = 0, start = -lines }: CaptureOptions): string[] {
  const above = start === "oldest" ? kept.count : Math.max(0, -start);
  const shown = kept.last(above + rows).slice(start === "oldest" ? 0 : Math.max(0, start));
  return [...shown, ...Array<string>(Math.max(0, rows - shown.length)).fill("")];
}
