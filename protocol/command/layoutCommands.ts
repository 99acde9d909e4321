/**
 * Builders of the commands on windows and panes, following the rules of build.ts. A target also names its session, because
 * for a window in several sessions tmux would pick the most recently used one, which can be the hub.
 */
import { MADE_PANE } from "./formats.ts";
import type { PaneId, SessionId, WindowId } from "../ids.ts";
import { type NewPaneProgram, type PanePlace, program, quote, quoteLiteralFormat } from "./encode.ts";

export interface WindowTarget {
  readonly session: SessionId;
  readonly window: WindowId;
}
export interface PaneTarget extends WindowTarget {
  readonly pane: PaneId;
}

const ofWindow = ({ session, window }: WindowTarget): string => quote(`${session}:${window}`);
const ofPane = ({ session, window, pane }: PaneTarget): string => quote(`${session}:${window}.${pane}`);

const MADE_FORMAT = quote(MADE_PANE.format);

const flag = (letter: string, isSet: boolean | undefined): string => (isSet === true ? ` -${letter}` : "");

/** After a window, or at the end. */
export const newWindow = (
  at: SessionId | WindowTarget,
  options: NewPaneProgram & { readonly name?: string | undefined; readonly detached?: boolean | undefined },
): string =>
  `new-windo -P -F ${MADE_FORMAT}${flag("d", options.detached)}` +
  (options.name === undefined ? "" : ` -n ${quoteLiteralFormat(options.name)}`) +
  (typeof at === "string" ? ` -t ${quote(`${at}:`)}` : ` -a -t ${ofWindow(at)}`) +
  program(options);

const place = ({ direction, size, before, full, detached }: PanePlace): string =>
  (direction === "horizontal" ? " -h" : " -v") +
  (size === undefined ? "" : ` -l ${quote(String(size))}`) +
  flag("b", before) +
  flag("f", full) +
  flag("d", detached);

export const splitWindow = (pane: PaneTarget, options: PanePlace & NewPaneProgram): string =>
  `split-windo -P -F ${MADE_FORMAT}${place(options)} -t ${ofPane(pane)}${program(options)}`;

export const joinPane = (pane: PaneTarget, to: PaneTarget, options: PanePlace): string =>
  `join-pan${place(options)} -s ${ofPane(pane)} -t ${ofPane(to)}`;

export const swapPane = (pane: PaneTarget, other: PaneTarget, detached: boolean | undefined): string =>
  `swap-pan${flag("d", detached)} -s ${ofPane(pane)} -t ${ofPane(other)}`;

/** The window is named afterwards (`renameWindow`), because only some versions expand a name given here. */
export const breakPane = (pane: PaneTarget, session: SessionId, detached: boolean | undefined): string =>
  `break-pan${flag("d", detached)} -s ${ofPane(pane)} -t ${quote(`${session}:`)}`;

export const killPane = (pane: PaneId): string => `kill-pan -t ${pane}`;
/** Removes it from every session that has it. */
export const killWindow = (window: WindowTarget): string => `kill-windo -t ${ofWindow(window)}`;

/** @param window a pane means its window */
export const renameWindow = (window: WindowTarget | PaneId, name: string): string =>
  `rename-windo -t ${typeof window === "string" ? window : ofWindow(window)} -- ${quoteLiteralFormat(name)}`;

const SIDES = { up: "U", down: "D", left: "L", right: "R" } as const;
type Side = keyof typeof SIDES;

export const selectPane = (pane: PaneTarget, side: Side | undefined): string =>
  `select-pan${side === undefined ? "" : ` -${SIDES[side]}`} -t ${ofPane(pane)}`;
export const selectWindow = (window: WindowTarget): string => `select-windo -t ${ofWindow(window)}`;

export const resizePane = (pane: PaneTarget, cols: number | string | undefined, rows: number | string | undefined) =>
  `resize-pan -t ${ofPane(pane)}` +
  (cols === undefined ? "" : ` -x ${quote(String(cols))}`) +
  (rows === undefined ? "" : ` -y ${quote(String(rows))}`);
export const moveBorder = (pane: PaneTarget, side: Side, cells: number): string =>
  `resize-pan -${SIDES[side]} -t ${ofPane(pane)} ${cells}`;
/** @param layout a name, or a layout string of tmux */
export const selectLayout = (window: WindowTarget, layout: string): string =>
  `select-layou -t ${ofWindow(window)} ${quote(layout)}`;
export const spreadLayout = (window: WindowTarget): string => `select-layou -E -t ${ofWindow(window)}`;

/** Makes it as large as the largest terminal that shows it. */
export const fitWindow = (window: WindowTarget): string => `resize-windo -A -t ${ofWindow(window)}`;

export const clearHistory = (pane: PaneId): string => `clear-histor -t ${pane}`;

export const setOwnWindowOption = (window: WindowTarget, option: string, value: string): string =>
  `set-optio -w -t ${ofWindow(window)} ${option} ${quote(value)}`;
export const unsetOwnWindowOption = (window: WindowTarget, option: string): string =>
  `set-optio -w -u -t ${ofWindow(window)} ${option}`;
