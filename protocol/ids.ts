/**
 * tmux's own ids. `%0`, `@1` and `$2` are strings on the wire and distinct types here. A plain string becomes one only through
 * its type guard, because tmux's output is external input too (tmux(1) COMMANDS, "target").
 */
declare const brand: unique symbol;

/** A pane id, `%` and a number, unique for the life of a tmux server. */
export type PaneId = string & { readonly [brand]: "PaneId" };
/** A window id, `@` and a number. */
export type WindowId = string & { readonly [brand]: "WindowId" };
/** A session id, `$` and a number. */
export type SessionId = string & { readonly [brand]: "SessionId" };

export const isPaneId = (text: string): text is PaneId => /^%\d{1,10}$/.test(text);
export const isWindowId = (text: string): text is WindowId => /^@\d{1,10}$/.test(text);
export const isSessionId = (text: string): text is SessionId => /^\$\d{1,10}$/.test(text);

/** The id of the pane with this number, as `%output %5 …` gives it. */
export const paneIdOf = (paneNumber: number): PaneId => `%${paneNumber}` as PaneId;
/** Sorts by age, oldest first, because tmux numbers things in order of creation. */
export const byAge = <Id extends PaneId | WindowId | SessionId>(a: Id, b: Id): number =>
  Number(a.slice(1)) - Number(b.slice(1));
/** The number in a pane id. */
export const paneNumberOf = (pane: PaneId): number => Number(pane.slice(1));
