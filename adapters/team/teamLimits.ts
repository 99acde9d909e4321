/** Every bound of the team adapter in one table: the unit in the name, the reason beside the number. */

/** Teams to whose tmux servers we are connected at once: each costs a control client and a few descriptors. */
export const MAX_OPEN_TEAMS = 32;
/** A team without requests for this long is disconnected; its sessions keep running, and the next request reconnects. */
export const TEAM_IDLE_MS = 900_000;
/** Starts in progress at once in one team: each is a program that is still starting. */
export const MAX_STARTS_PER_TEAM = 32;
/** Time for the paste, its echo, Enter and two retries. */
export const SUBMIT_TIMEOUT_MS = 15_000;
/** A program that has ended on the host is reported dead by tmux within this time. */
export const EXIT_WITHIN_MS = 500;
/** Time for tmux to report how a program ended, once the host has reported that it is gone. */
export const EXIT_REPORTED_WITHIN_MS = 2_000;
/** A worker that is killed writes its conversation and ends within this time; one that does not is not waited for. */
export const GONE_WITHIN_MS = 10_000;
/** Time to restore a lost connection to a team's server; restarting an ended server takes less. */
export const RECONNECT_WITHIN_MS = 3_000;
/**
 * Bound on each of the two texts in the record on the worker's pane: the prompt, and why it was not taken. Digests, the
 * thread and punctuation take the rest of an option's 1,024 characters (`MAX_USER_OPTION_CHARS`).
 */
export const MAX_DETAIL_ENCODED_CHARS = 400;
export const MAX_PROMPT_ENCODED_CHARS = 300;
/** How many of a thread's last messages are searched for an announcement before it is posted again. */
export const THREAD_TAIL_MESSAGES = 20;
/** Attempts at a name, because another client may take it at the same time. */
export const MAX_NAME_TRIES = 8;
/** Characters of the prompt in the thread's first post. */
export const POSTED_PROMPT_CHARS = 200;
/** Of what a worker that has ended printed last. */
export const LAST_WORDS_ROWS = 5;
export const LAST_WORDS_CHARS = 500;
/** teamd responds within milliseconds; if it takes this long, it will not respond at all. */
export const RESPONSE_WITHIN_MS = 5_000;
export const MAX_RESPONSE_BYTES = 4_194_304;
export const MAX_REASON_CHARS = 200;
/** How many teams are searched for the newest; nobody has more. */
export const MAX_TEAMS = 1_000;
export const MAX_TEAMD_FILE_CHARS = 65_536;
/** Tool calls that the extension's handler has allowed and pi has not executed yet. */
export const MAX_ALLOWED_CALLS = 256;
/** How many workers' directories the extension remembers. */
export const MAX_REMEMBERED_WORKERS = 1_024;
