/** Every bound of sessions: the unit in the name, the reason beside the number. */

/** Longest line of a program: a tool's result with a large file in it. Past it the stream is not what it should be. */
export const MAX_PROGRAM_LINE_BYTES = 8_388_608;
/** Programs that run at once: each is an agent of some hundred megabytes. */
export const MAX_SESSIONS = 32;
/** How long a session that has ended can be read, and how many of them: past it the oldest go. */
export const ENDED_SESSION_KEPT_MS = 1_800_000;
export const MAX_ENDED_SESSIONS = 64;
/** What is kept of a conversation: the newest so many messages, of so many bytes as JSON. */
export const MAX_HISTORY_MESSAGES = 1_000;
export const MAX_HISTORY_BYTES = 8_388_608;
/** A program that does not take its input for this long: whoever sent it is told. */
export const INPUT_TAKEN_WITHIN_MS = 30_000;
/** Input that a program has not taken yet: with more under way nothing is added. */
export const MAX_UNTAKEN_INPUT_BYTES = 8_388_608;
/** Permission requests of one session that wait for a person. */
export const MAX_OPEN_PERMISSIONS = 256;
/** A program that has ended leaves its output behind; others that hold the pipe are not waited for longer than this. */
export const OUTPUT_DRAINS_WITHIN_MS = 500;
/** The end of what a program said on its standard error: for the message that tells of its end. */
export const LAST_WORDS_CHARS = 1_000;
/** One piece of text goes into the ring in parts, so that a long one makes it no larger. */
export const TEXT_PART_BYTES = 65_536;
/** A tool call that was begun and not ended is remembered, so that it is told once; past so many it may be told twice. */
export const MAX_OPEN_TOOL_CALLS = 1_000;
