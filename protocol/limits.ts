/** Every bound of the core in one table: the unit in the name, the reason beside the number. */

/**
 * Longest control line kept. `%output` is far below; a `capture-pane -J` of 5,000 wrapped rows of 800 bytes can be one
 * line. A longer one inside a reply costs that reply; anywhere else the stream is not tmux's.
 */
export const MAX_LINE_BYTES = 4_194_304;
/**
 * Most bytes of one reply kept: 5,000 lines of 800 bytes, four times over. Past it the reply is dropped, not the
 * connection.
 */
export const MAX_REPLY_BYTES = 16_777_216;
/** Most commands written or waiting at once on one connection; at 38 k commands/s this is a quarter of a second. */
export const MAX_PENDING_COMMANDS = 10_000;
/** Most command bytes without a reply; an input job of 1 MiB encodes to at most 4 MiB, and four may be under way. */
export const MAX_PENDING_COMMAND_BYTES = 16_777_216;

/** Longest value of a user option, as tmux keeps it: ids and names, not documents. */
export const MAX_USER_OPTION_CHARS = 1_024;

/** Output kept per pane. The buffer behind it is twice as long, so that a read is always one contiguous view. */
export const DEFAULT_RING_BYTES = 524_288;
/** First size of that buffer: an idle pane costs this. */
export const INITIAL_RING_BYTES = 8_192;

/** Largest text or paste in one input job (1 MiB, issue "text of all kinds"). */
export const MAX_INPUT_BYTES = 1_048_576;
/** Most input jobs waiting in one pane's FIFO. */
export const MAX_INPUT_JOBS_PER_PANE = 1_024;
/** What the jobs that tmux has not taken yet come to as commands: of one pane, eight of the longest; tmux takes some 2 MB a second. */
export const MAX_INPUT_BYTES_PER_PANE = 8_388_608;
/** The same of all panes of a server. */
export const MAX_INPUT_BYTES_WAITING = 16_777_216;
/** Text up to this many bytes goes by `send-keys`; longer text is pasted from a buffer, which is 30 times faster per MB. */
export const MAX_SEND_KEYS_BYTES = 1_024;
/** Keys or hexadecimal bytes of one `send-keys`, whose time grows with the square of their number (docs/tmuxFacts.md 25). */
export const KEYS_PER_COMMAND = 32;
/** Between bytes that go as hexadecimal ones, shorter text goes with them: a buffer costs two commands. */
export const MIN_PASTED_BYTES = 16;
/** Bytes per `set-buffer` piece (docs/tmuxFacts.md 25). */
export const PASTE_PIECE_BYTES = 8_192;

/** Most lines one capture may ask for (docs/contracts/addin.md §2). */
export const MAX_CAPTURE_LINES = 5_000;
/** Captures during another pane's flood try this often for an exact position before they report `exact: false`. */
export const MAX_CAPTURE_TRIES = 3;

/** Heartbeat on the control connection and what its silence means. */
export const HEARTBEAT_INTERVAL_MS = 5_000;
export const HEARTBEAT_WARN_MS = 6_000;
export const HEARTBEAT_DEGRADED_MS = 12_000;
/** Reconnect back-off: first try at once, then doubling from the first to the second of these. */
export const RECONNECT_MIN_MS = 50;
export const RECONNECT_MAX_MS = 5_000;

/** sun_path holds 108 bytes with its NUL (unix(7)). */
export const MAX_SOCKET_PATH_BYTES = 107;
/** tmux pauses a pane whose output we have not read for this long (tmux(1) `pause-after`). */
export const PAUSE_AFTER_SEC = 10;
/** Lines of history an owned server keeps per pane: what `MAX_CAPTURE_LINES` may ask for, twice. */
export const HISTORY_LIMIT_LINES = 10_000;

/**
 * The attach client leaves a guest's session that nobody has watched or typed into for this long; attaching again takes
 * about 20 ms.
 */
export const GUEST_IDLE_MS = 60_000;
/** If tmux has not attached a control client within this time, the server is stopped. */
export const GUEST_ATTACH_WITHIN_MS = 5_000;
/** Control clients that start at once on a guest's server; each takes some 20 ms of a core, and the others wait. */
export const MAX_GUEST_ATTACHING = 8;
/**
 * Where attaching can end a guest's server, nothing attaches this soon after one of its sessions or clients came or went,
 * nor within so many times the longest pause of the last minute that was part of a burst.
 */
export const GUEST_CALM_MS = 500;
export const GUEST_CALM_PAUSES = 4;
export const GUEST_CALM_REMEMBERED_MS = 60_000;
export const GUEST_BURST_PAUSE_MS = 1_000;
/** Least time between two probes for panes whose programs have ended: terminals come and go in bursts. */
export const TTY_PROBE_INTERVAL_MS = 10;

/** Bounds of one recording: below the first there is no room for a screen. */
export const MIN_RECORDING_BYTES = 65_536;
export const MAX_RECORDING_BYTES = 1_073_741_824;
export const MAX_RECORDING_SEC = 604_800;
