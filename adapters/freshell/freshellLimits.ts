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

/** Longest line of a program: a tool's result with a large file in it. Past it the stream is broken. */
export const MAX_PROGRAM_LINE_BYTES = 8_388_608;
/** Programs that run at once: each is an agent of some hundred megabytes. */
export const MAX_SESSIONS = 32;
/** How long a session that has ended can be read, and how many of them: past these the oldest are dropped. */
export const ENDED_SESSION_KEPT_MS = 1_800_000;
export const MAX_ENDED_SESSIONS = 64;
/** What is kept of a conversation: the newest messages, up to these bounds on count and bytes of JSON. */
export const MAX_HISTORY_MESSAGES = 1_000;
export const MAX_HISTORY_BYTES = 8_388_608;
/** How long a program may take to read its input before the sender gets an error. */
export const INPUT_TAKEN_WITHIN_MS = 30_000;
/** Input that a program has not taken yet; past it more is refused. */
export const MAX_UNTAKEN_INPUT_BYTES = 8_388_608;
/** Permission requests of one session that wait for a person. */
export const MAX_OPEN_PERMISSIONS = 256;
/** How long to wait, after a program's end, for others that hold its output pipe. */
export const OUTPUT_DRAINS_WITHIN_MS = 500;
/** How much of the end of a program's standard error is kept, for the message on its end. */
export const LAST_WORDS_CHARS = 1_000;
/** One piece of text goes into the ring in parts, so that a long one makes it no larger. */
export const TEXT_PART_BYTES = 65_536;
