/** Every bound of the dashboard in one table: the unit in the name, the reason beside the number. */

/** A hook's body: a prompt of 1 MB, every character escaped, and the rest of the JSON. */
export const HOOK_MAX_BODY_BYTES = 8_388_608;
/** An answer's body: one input job (1 MiB) with the escapes that text usually has. */
export const RESPOND_MAX_BODY_BYTES = 2_097_152;
/** Registrations and raw keystrokes. */
export const SMALL_MAX_BODY_BYTES = 65_536;

/** Agents that have not ended. A person answers tens; a runaway loop must stay bounded. */
export const MAX_AGENTS = 1_000;
/** An agent without a pane that nobody has heard of for so long is over: over a weekend it may only be forgotten. */
export const UNSEEN_MS = 7 * 86_400_000;
/** Names and paths that a client gives. */
export const MAX_NAME_CHARS = 4_096;

/** Events kept for readers that come back (docs/contracts/dashboard.md §4). */
export const EVENT_RING = 500;
/** And their bytes: 500 of the usual size are a tenth of this. */
export const EVENT_RING_BYTES = 8_388_608;
/** Text in an event; the whole of it is in the database. */
export const MAX_EVENT_TEXT_CHARS = 16_384;
/** The message of a `state_changed`: a line for a card. */
export const MAX_EVENT_MESSAGE_CHARS = 1_000;
/** Of what a tool would change in files: a person reads some screens before a decision, and then opens the pane. */
export const MAX_DIFF_LINES = 200;
export const MAX_DIFF_CHARS = 16_384;
export const MAX_DIFF_LINE_CHARS = 500;
export const MAX_DIFF_FILES = 20;
/** Prompts that are kept under a name: more than a person looks through. */
export const MAX_TEMPLATES = 100;
/** Messages on a card; the others follow when these are gone. */
export const MAX_CARD_MESSAGES = 10;
/** A task, last words or a waiting message on a card: some lines. */
export const MAX_CARD_TEXT_CHARS = 600;
/** Concurrent readers of the event stream, and the Retry-After of one past them. */
export const MAX_EVENT_CLIENTS = 100;
export const RETRY_AFTER_SEC = 5;
/** Of a page's WebSocket, over which it sends nothing. */
export const MAX_PAGE_MESSAGE_BYTES = 1_024;
/** Between two heartbeats of the event stream. */
export const HEARTBEAT_MS = 30_000;
/** Event ids taken from the database at once: a crash skips at most as many, and never repeats one. */
export const EVENT_ID_BLOCK = 1_000;

/** Of writes kept in memory while the database is locked: eight of the largest prompts. Past it hooks are refused, too. */
export const MAX_PENDING_BYTES = 67_108_864;
/** Tasks and turns of agents that ended longer ago are removed at start. */
export const KEEP_HISTORY_MS = 90 * 86_400_000;

/** Answers of ours whose prompt hook has not come yet, per agent. */
export const MAX_EXPECTED_PROMPTS = 16;
/** Idempotency keys are kept for a day, more of them than a person could use. */
export const KEEP_ANSWERS_MS = 86_400_000;
export const MAX_KEPT_ANSWERS = 10_000;
export const MAX_KEY_CHARS = 256;
/** The page of the contract retries a 502 or 503 three times within seven seconds, without a key. */
export const REPEAT_WITHOUT_KEY_MS = 30_000;
/** Questions answered in one `multi_select`, options in one of them, keys in one answer. */
export const MAX_ANSWERS = 64;
export const MAX_OPTION_INDEX = 200;
export const MAX_KEYS = 64;

/** A pane named by a hook may be listed a moment later: probed again after these. */
export const PANE_RETRY_MS = [100, 500, 2_000] as const;
/** An unknown agent's hook waits for its pane's listing, probed in memory after these; it has 2 s in all. */
export const LISTED_PROBES_MS = [5, 10, 20, 40, 80, 160, 320] as const;
/** Panes that were never listed, so that no hook waits for them again. */
export const MAX_UNLISTED_PANES = 1_000;
/** The screen overrides a hook only after it has held this long: programs repaint around a dialog. */
export const SCREEN_SETTLE_MS = 1_500;
/** Least time between two captures of an agent's status line. */
export const CONTEXT_CAPTURE_MS = 15_000;
/** Without a hook for this long and without a pane, an agent counts as inactive. */
export const ACTIVE_MS = 300_000;

/** A lost connection is usually back within this; an answer waits for it. */
export const RECONNECT_WITHIN_MS = 1_500;
/** Probed in memory after each of these: is the server known to be gone? After the last it counts as gone. */
export const GONE_PROBES_MS = [5, 10, 20, 40, 80, 160, 320, 640, 1_280] as const;
