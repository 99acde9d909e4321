/** Every bound of sessions: the unit in the name, the reason beside the number. */

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
