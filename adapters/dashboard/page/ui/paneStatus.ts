/** A pane's status as its view shows it. */

export interface PaneStatus {
  readonly words: string;
  readonly live: boolean;
  readonly controlled: boolean;
  readonly size: string;
  /** What went wrong with typing; stays until control is taken again. */
  readonly problem: string | undefined;
}

/** Until the stream is open. */
export const FIRST_STATUS: PaneStatus = {
  words: "connecting…",
  live: false,
  controlled: false,
  size: "",
  problem: undefined,
};
