/** Bounds of SSE and WebSocket connections, the unit in the name, the reason beside the number. */

/** Bytes buffered in this process for one reader before writing pauses: a tenth of a second of a flood. */
export const STREAM_BUFFER_BYTES = 1_048_576;
/** Responses are not held back by that bound, so they need one of their own: past it the reader does not read. */
export const STREAM_MAX_BUFFERED_BYTES = 8_388_608;
/** A reader that reads nothing for this long while data is pending is gone. */
export const STREAM_STALL_MS = 30_000;
/** Between two keep-alives: below the minute after which proxies and NATs drop an idle connection. */
export const STREAM_KEEP_ALIVE_MS = 15_000;
