/** Bounds of SSE and WebSocket connections, the unit in the name, the reason beside the number. */

/** Bytes buffered in this process for one reader before writing pauses: a tenth of a second at full output rate. */
export const STREAM_BUFFER_BYTES = 1_048_576;
/** Responses are not limited by that bound, so they need their own: above it, the reader is not reading. */
export const STREAM_MAX_BUFFERED_BYTES = 8_388_608;
/** A reader that reads nothing for this long while data is pending is disconnected. */
export const STREAM_STALL_MS = 30_000;
/** Interval of keep-alives: below the minute after which proxies and NATs drop an idle connection. */
export const STREAM_KEEP_ALIVE_MS = 15_000;
