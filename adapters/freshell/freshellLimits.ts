/** Every bound of the Freshell listener: the unit in the name, the reason beside the number. */

/** Terminals that have ended and are kept to be read; past it the oldest go. */
export const MAX_ENDED_TERMINALS = 200;
/** Lines of history in a snapshot: as many as one capture of the other contracts may have. */
export const SNAPSHOT_HISTORY_LINES = 5_000;

/**
 * `outputSeq` that a terminal may reach without noting it on its pane: after a kill the next daemon goes on from there. At
 * the highest rate that tmux delivers half of it lasts longer than the note takes.
 */
export const RESERVED_OUTPUT_BYTES = 67_108_864;

/** A program that is told to end has this long before it is killed, and the kernel this long to end it. */
export const END_WITHIN_MS = 500;

/** More than this unsent, and a client is not reading (upstream: `MAX_WS_BUFFERED_AMOUNT`). */
export const MAX_UNSENT_BYTES = 2_097_152;
/** A client that is told to go and does not take the news is cut off. */
export const CLOSE_WITHIN_MS = 2_000;
/** Creates of one connection in so many milliseconds (F236). */
export const MAX_CREATES = 10;
export const CREATES_WITHIN_MS = 10_000;
/** How long a create is the same create when its requestId comes again, and how many are remembered. */
export const CREATES_KEPT_MS = 600_000;
export const MAX_CREATES_KEPT = 1_000;
/** Waits that one connection may have open: as many as the whole adapter. */
export const MAX_UNFINISHED_BYTES = 4_096;

/** Device sessions known at once: past it the ones that expire first go. */
export const MAX_DEVICE_SESSIONS = 1_000;
/** A refresh token that nobody has used for this long is no longer good. */
export const REFRESH_KEPT_MS = 30 * 86_400_000;

/** Longest directory that a pane's mark can carry (`MAX_USER_OPTION_CHARS`), which a respawn after a restart needs. */
export const MAX_CWD_CHARS = 1_000;
