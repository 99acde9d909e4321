/** Every bound of the core in one table: the unit in the name, the reason beside the number. */

/**
 * The longest control line kept. `%output` is far shorter; a `capture-pane -J` of 5,000 wrapped rows of 800 bytes can be one
 * line. A longer one inside a reply loses that reply; anywhere else it means that the stream is not tmux's.
 */
export const MAX_LINE_BYTES = 4_194_304;
/**
 * The largest reply kept: 20,000 lines of 800 bytes. A larger reply is dropped, but not the connection.
 */
export const MAX_REPLY_BYTES = 16_777_216;
/** Most commands without a reply on one connection; at 38,000 commands/s this is a quarter of a second. */
export const MAX_PENDING_COMMANDS = 10_000;
/** Most command bytes without a reply; an input job of 1 MiB encodes to at most 4 MiB, and four may be pending. */
export const MAX_PENDING_COMMAND_BYTES = 16_777_216;

/** Longest encoded value of a user option, which holds ids and names, not documents. */
export const MAX_USER_OPTION_CHARS = 1_024;

/** Output kept per pane. The buffer is twice as long, so that a read is always one contiguous view. */
export const DEFAULT_RING_BYTES = 524_288;
/** The initial size of that buffer, which is the cost of an idle pane. */
export const INITIAL_RING_BYTES = 8_192;

/** Largest text or paste in one input job (1 MiB, issue "text of all kinds"). */
export const MAX_INPUT_BYTES = 1_048_576;
/** Most input jobs waiting in one pane's FIFO. */
export const MAX_INPUT_JOBS_PER_PANE = 1_024;
/** Bytes of commands for one pane's jobs that tmux has not taken yet: eight of the longest jobs; tmux takes some 2 MB a second. */
export const MAX_INPUT_BYTES_PER_PANE = 8_388_608;
/** The same, for all panes of a server together. */
export const MAX_INPUT_BYTES_WAITING = 16_777_216;
/** Text of up to this many bytes is sent with `send-keys`; longer text is pasted from a buffer, 30 times faster per MB. */
export const MAX_SEND_KEYS_BYTES = 1_024;
/** Keys or hexadecimal bytes of one `send-keys`, whose time grows with the square of their number (docs/tmuxFacts.md 25). */
export const KEYS_PER_COMMAND = 32;
/** Between bytes that go as hexadecimal ones, shorter text goes with them: a buffer costs two commands. */
export const MIN_PASTED_BYTES = 16;
/** Bytes per `set-buffer` piece (docs/tmuxFacts.md 25). */
export const PASTE_PIECE_BYTES = 8_192;

/** Most lines of one capture: what is kept of a reply (`MAX_REPLY_BYTES`). */
export const MAX_CAPTURE_LINES = 20_000;
/** How often a capture retries for an exact position, while panes print, before it reports `exact: false`. */
export const MAX_CAPTURE_TRIES = 3;

/** The heartbeat of a control connection, and how long a silence is tolerated. */
export const HEARTBEAT_INTERVAL_MS = 5_000;
export const HEARTBEAT_WARN_MS = 6_000;
export const HEARTBEAT_DEGRADED_MS = 12_000;
/** Reconnect back-off: the first attempt is made at once, then the delay doubles from the first of these to the second. */
export const RECONNECT_MIN_MS = 50;
export const RECONNECT_MAX_MS = 5_000;

/** sun_path has 108 bytes including its NUL (unix(7)). */
export const MAX_SOCKET_PATH_BYTES = 107;
/** tmux pauses a pane if we have not read its output for this long (tmux(1) `pause-after`). */
export const PAUSE_AFTER_SEC = 10;
/** Lines of history that an owned server keeps per pane: twice what the add-in may ask for (docs/contracts/addin.md §2). */
export const HISTORY_LIMIT_LINES = 10_000;

/**
 * The attach client detaches from a guest's session that nobody has watched or typed into for this long; attaching again
 * takes about 20 ms.
 */
export const GUEST_IDLE_MS = 60_000;
/** If tmux has not attached a control client within this time, the server's process is probably stopped. */
export const GUEST_ATTACH_WITHIN_MS = 5_000;
/** Control clients that start at once on a guest server; each takes some 20 ms of a core, and further ones wait. */
export const MAX_GUEST_ATTACHING = 8;
/**
 * If attaching can crash a guest server, no client attaches within this time after a session or client was added or removed,
 * nor within a multiple of the longest pause inside a burst during the last minute.
 */
export const GUEST_CALM_MS = 500;
export const GUEST_CALM_PAUSES = 4;
export const GUEST_CALM_REMEMBERED_MS = 60_000;
export const GUEST_BURST_PAUSE_MS = 1_000;
/** Minimum time between two probes for panes whose programs have ended, because terminals appear and disappear in bursts. */
export const TTY_PROBE_INTERVAL_MS = 10;

/** Bounds of one recording's size; below the first there is no room for a screen. */
export const MIN_RECORDING_BYTES = 65_536;
export const MAX_RECORDING_BYTES = 1_073_741_824;
export const MAX_RECORDING_SEC = 604_800;
