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
/** All that may be unsent, with what was asked for: a session's history and two of its longest lines. */
export const MAX_BUFFERED_BYTES = 33_554_432;
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

/** Devices known at once: past it the one that was seen longest ago and is not online is forgotten. */
export const MAX_DEVICES = 1_000;
/** A device's file is written at most this often: it may change its layout a hundred times a second. */
export const DEVICE_FILE_EVERY_MS = 250;
/** Requests under way for one owner, and for all. */
export const MAX_REQUESTS_PER_OWNER = 64;
export const MAX_REQUESTS = 1_000;
/** Requests given up whose results are still recognized when they come, per connection of an owner. */
export const MAX_LATE_REQUESTS = 256;
/** `device.presence` of one connection in so many milliseconds: three in the time to live are meant. */
export const MAX_PRESENCE_FRAMES = 50;
export const PRESENCE_FRAMES_WITHIN_MS = 1_000;
/** How long a result is remembered under its idempotency key, how many are, and the longest that is. */
export const RESULTS_KEPT_MS = 600_000;
export const MAX_RESULTS_KEPT = 10_000;
export const MAX_RESULT_CHARS = 65_536;
/** One file of the audit, and how many there are with the ones before it. */
export const AUDIT_FILE_BYTES = 10_485_760;
export const AUDIT_FILES = 5;
