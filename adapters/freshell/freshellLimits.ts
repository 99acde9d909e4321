/** Every bound of the Freshell listener: the unit in the name, the reason beside the number. */

/** Ended terminals kept to be read; past it the oldest are dropped. */
export const MAX_ENDED_TERMINALS = 200;
/** Lines of history in a snapshot: as many as one capture of the other contracts may have. */
export const SNAPSHOT_HISTORY_LINES = 5_000;

/**
 * How far `outputSeq` is reserved on the pane in advance: after a kill the next daemon continues from the reserve. At tmux's
 * highest rate half of it lasts longer than setting the option takes.
 */
export const RESERVED_OUTPUT_BYTES = 67_108_864;

/** A program has this long after the hangup before it is killed, and the kernel this long to end it. */
export const END_WITHIN_MS = 500;
/** How often to look whether it has ended: the system tells only a process's parent. */
export const END_LOOK_MS = 10;
/** A program that has not begun by then is on a machine that is too busy to wait for; its pid is then unknown at first. */
export const BEGIN_WITHIN_MS = 1_000;
export const BEGIN_LOOK_MS = 5;

/** More than this unsent, and a client is not reading (upstream: `MAX_WS_BUFFERED_AMOUNT`). */
export const MAX_UNSENT_BYTES = 2_097_152;
/** All that may be unsent, requested data included: a session's history and two of its longest lines. */
export const MAX_BUFFERED_BYTES = 33_554_432;
/** A client that does not complete the close within this is cut off. */
export const CLOSE_WITHIN_MS = 2_000;
/** Creates of one connection in so many milliseconds (F236). */
export const MAX_CREATES = 10;
export const CREATES_WITHIN_MS = 10_000;
/** How long a create is remembered by its requestId, and how many are. */
export const CREATES_KEPT_MS = 600_000;
export const MAX_CREATES_KEPT = 1_000;
/** Longest incomplete sequence held back from a client: longer than any query. */
export const MAX_UNFINISHED_BYTES = 4_096;

/** Device sessions kept: past it those that expire first are dropped. */
export const MAX_DEVICE_SESSIONS = 1_000;
/** A refresh token expires after this long without use. */
export const REFRESH_KEPT_MS = 30 * 86_400_000;

/** Longest directory that a user option can hold (`MAX_USER_OPTION_CHARS`), which a respawn after a restart needs. */
export const MAX_CWD_CHARS = 1_000;

/** Devices kept: past it the offline one seen longest ago is forgotten. */
export const MAX_DEVICES = 1_000;
/** A device's file is written at most this often: it may change its layout a hundred times a second. */
export const DEVICE_FILE_EVERY_MS = 250;
/** Requests under way for one owner, and for all. */
export const MAX_REQUESTS_PER_OWNER = 64;
export const MAX_REQUESTS = 1_000;
/** Abandoned requests whose late results are still recognized, per connection of an owner. */
export const MAX_LATE_REQUESTS = 256;
/** `device.presence` frames of one connection in so many milliseconds: three per time to live are expected. */
export const MAX_PRESENCE_FRAMES = 50;
export const PRESENCE_FRAMES_WITHIN_MS = 1_000;
/** How long a result is kept under its idempotency key, how many are, and the longest one. */
export const RESULTS_KEPT_MS = 600_000;
export const MAX_RESULTS_KEPT = 10_000;
export const MAX_RESULT_CHARS = 65_536;
/** Size of an audit file, and how many there are with the rotated ones. */
export const AUDIT_FILE_BYTES = 10_485_760;
export const AUDIT_FILES = 5;
