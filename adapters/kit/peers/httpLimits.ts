/** Every bound of the HTTP listeners in one table: the unit in the name, the reason beside the number. */

/**
 * Bytes of bodies and messages held in the process, each from its first byte until its response has ended. The objects
 * parsed from them take three to four times as much.
 */
export const MAX_BODY_BYTES_UNDER_WAY = 25_165_824;
/** The same, for one path (a pane's input, a hook) or one WebSocket. */
export const MAX_BODY_BYTES_EACH = 8_388_608;
/** The same, while nothing else is held: the largest body a listener takes (a file that the device page writes). */
export const MAX_BODY_BYTES_ALONE = 23_068_672;
/** The part reserved for small ones, so that keystrokes, hooks and queries get through beside large bodies. */
export const BODY_BYTES_FOR_LITTLE = 2_097_152;
/** Read past a body limit so that the connection stays usable after a 413: four times the add-in's limit. */
export const MAX_DRAIN_BYTES = 1_048_576;
/** How long that reading may take, so that a slow client cannot hold the connection. */
export const MAX_DRAIN_MS = 2_000;
/** Time from a 413 to the end of its connection; a client on this machine reads the response at once. */
export const LINGER_MS = 500;

/**
 * Connections at once on one listener: `CROWDED_CONNECTIONS` plus the kernel's backlog (listen(2): 511), so that a burst of
 * silent connections displaces none that sends a request.
 */
export const MAX_CONNECTIONS = 768;
/** Above this, connections that are not known are closed. A browser opens six per host; nobody uses forty browsers. */
export const CROWDED_CONNECTIONS = 256;
/** The unauthenticated ones among these from one user other than ours and root. */
export const OTHER_USERS_CONNECTIONS = 32;
/** A client that connects has a request to send; a browser reopens a spare connection when it needs one. */
export const FIRST_BYTE_WITHIN_MS = 2_000;
/** Request line and headers. Node's own default, set explicitly because the guard echoes one header. */
export const MAX_HEADER_BYTES = 16_384;
/** Time to receive the headers. Loopback needs microseconds; the bound is for clients that hold a connection open. */
export const HEADERS_TIMEOUT_MS = 10_000;
/** Time to receive a whole request. The response may take as long as its wait. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** How often Node checks connections for these two timeouts. */
export const CONNECTIONS_CHECK_MS = 5_000;
/** Time for a TLS handshake. */
export const HANDSHAKE_TIMEOUT_MS = 10_000;
/** How long an idle connection is kept: a POST sent on a closing connection cannot be repeated safely. */
export const KEEP_ALIVE_MS = 65_000;
/** How long a closing listener lets active requests finish; the process must end within 2 s of SIGTERM. */
export const CLOSE_GRACE_MS = 1_000;
/** How often a closing listener closes connections that have become idle. */
export const CLOSE_SWEEP_MS = 20;

/** Read at most this much of the kernel's table of TCP sockets (some 100,000 rows); beyond it, the peer's user is unknown. */
export const PEER_TABLE_MAX_BYTES = 16_777_216;
/** Reads before a row counts as missing: a single read can skip a row while others come and go. */
export const PEER_TABLE_READS = 3;
