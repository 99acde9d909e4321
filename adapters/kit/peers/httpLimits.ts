/** Every bound of the HTTP listeners in one table: the unit in the name, the reason beside the number. */

/**
 * Bodies and messages under way in the process, from the first byte read until their response has ended: what is made of
 * them takes three to four times as much.
 */
export const MAX_BODY_BYTES_UNDER_WAY = 25_165_824;
/** The same on one path (a pane's input, a hook) or one WebSocket. */
export const MAX_BODY_BYTES_EACH = 8_388_608;
/** The same where nothing else is under way: the largest body that a listener takes (a file that the device page writes). */
export const MAX_BODY_BYTES_ALONE = 23_068_672;
/** Of these, only for small ones: keystrokes, hooks and questions get through beside large ones. */
export const BODY_BYTES_FOR_LITTLE = 2_097_152;
/** Read past a body limit so that the connection stays usable after a 413: four times the add-in's limit, one more try. */
export const MAX_DRAIN_BYTES = 1_048_576;
/** How long that reading may take; a client that trickles is not worth a connection. */
export const MAX_DRAIN_MS = 2_000;
/** From a 413 to the end of its connection: a client on this machine reads it at once. */
export const LINGER_MS = 500;

/**
 * Connections at once on one listener: the lasting ones plus the kernel's backlog (listen(2): 511), so that a burst of
 * silent ones displaces none that sends a request.
 */
export const MAX_CONNECTIONS = 768;
/** Past this, newcomers are closed. A browser opens six per host; forty browsers are more than one person's. */
export const CROWDED_CONNECTIONS = 256;
/** Of these, unauthenticated ones of one user who is neither ours nor root. */
export const OTHER_USERS_CONNECTIONS = 32;
/** A client that connects has a request to send; a browser reopens its spare connection when it needs one. */
export const FIRST_BYTE_WITHIN_MS = 2_000;
/** Request line and headers. Node's own default, stated because the guard echoes one header. */
export const MAX_HEADER_BYTES = 16_384;
/** Time to receive the headers. Loopback needs microseconds; a client that holds a connection open needs a bound. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Time to receive a whole request. The response may take as long as its wait. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** How often Node checks connections for those two. */
export const CONNECTIONS_CHECK_MS = 5_000;
/** Time for a TLS handshake. */
export const HANDSHAKE_TIMEOUT_MS = 10_000;
/** An idle connection is kept this long: a POST that meets a closing connection cannot be sent again safely. */
export const KEEP_ALIVE_MS = 65_000;
/** A closing listener lets requests under way finish for this long; the process must be gone within 2 s of SIGTERM. */
export const CLOSE_GRACE_MS = 1_000;
/** How often a closing listener closes connections that have become idle. */
export const CLOSE_SWEEP_MS = 20;

/** Most read of the kernel's table of TCP sockets, some 100,000 rows: past it the peer's user is unknown. */
export const PEER_TABLE_MAX_BYTES = 16_777_216;
/** Reads before a row counts as missing: one read can skip it while others come and go. */
export const PEER_TABLE_READS = 3;
