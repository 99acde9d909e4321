/** Every bound of recordings: the unit in the name, the reason beside the number. */

/** Default size limit: hours of a working agent. */
export const DEFAULT_RECORDING_BYTES = 67_108_864;
/** Default time limit: a working day. */
export const DEFAULT_RECORDING_SEC = 28_800;
/** Concurrent recordings; each is a subscriber of its pane. */
export const MAX_RECORDINGS_UNDER_WAY = 32;
/** Most bytes in the folder; an active recording counts with its size limit. */
export const MAX_FOLDER_BYTES = 4_294_967_296;
/** Older recordings are removed when the daemon starts and when another recording starts. */
export const MAX_RECORDING_AGE_MS = 2_592_000_000;
/** Bytes of lines not on the disk yet; above this, the pane is read later, from its ring. */
export const MAX_UNWRITTEN_BYTES = 1_048_576;
/** How much of a file is read for its first line. */
export const MAX_HEADER_BYTES = 16_384;
/** The longest possible line; how much of a truncated file's end is searched. */
export const MAX_LINE_BYTES = 8_388_608;
