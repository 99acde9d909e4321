/** Every bound of the team adapter in one table: the unit in the name, the reason beside the number. */

/** Teams whose tmux servers we are connected to at once: each costs a control client and a few descriptors. */
export const MAX_OPEN_TEAMS = 32;
/** A team without requests for this long is disconnected; its sessions go on, and the next request connects again. */
export const TEAM_IDLE_MS = 900_000;
/** Starts under way at once in one team: each is a program that has yet to come up. */
export const MAX_STARTS_PER_TEAM = 32;
/** A worker whose screen looks ready, and whose hook has not said so by then, has no hook. */
export const HOOK_GRACE_MS = 1_500;
/** For the paste, its echo, Enter and two more tries. */
export const SUBMIT_TIMEOUT_MS = 15_000;
/** A program whose end is seen in the system is dead to tmux a moment later. */
export const EXIT_WITHIN_MS = 500;
/** tmux's report of how a program ended, once the system has reported that it is gone. */
export const EXIT_REPORTED_WITHIN_MS = 2_000;
/** A connection to a team's server that was lost: a server that has ended is made anew in less. */
export const RECONNECT_WITHIN_MS = 3_000;
/**
 * Of why a prompt was not taken, and of the prompt, as the record on the worker's pane keeps them: of the 1,024 characters
 * of an option (`MAX_USER_OPTION_CHARS`), digests, the thread and punctuation take the rest.
 */
export const MAX_DETAIL_ENCODED_CHARS = 400;
export const MAX_PROMPT_ENCODED_CHARS = 300;
/** Messages of a thread in which an announcement is looked for before it is posted again, soon after the first time. */
export const THREAD_TAIL_MESSAGES = 20;
/** Another client may take a name in the moment in which we do. */
export const MAX_NAME_TRIES = 8;
/** Characters of the prompt in the thread's first post. */
export const POSTED_PROMPT_CHARS = 200;
/** What a worker's terminal is, so that pi's lines are not wrapped at 80. */
export const WORKER_COLS = 120;
export const WORKER_ROWS = 40;
