/** Every bound of recordings: the unit in the name, the reason beside the number. */

/** Default bound: hours of an agent at work. */
export const DEFAULT_RECORDING_BYTES = 67_108_864;
/** A working day. */
export const DEFAULT_RECORDING_SEC = 28_800;
/** Concurrent recordings; each is a subscriber of its pane. */
export const MAX_RECORDINGS_UNDER_WAY = 32;
/** Most bytes in the folder; a recording under way counts with its bound. */
export const MAX_FOLDER_BYTES = 4_294_967_296;
/** Older ones are removed when the daemon starts and when another one begins. */
export const MAX_RECORDING_AGE_MS = 2_592_000_000;
/** Lines not on the disk yet: past this the pane is read later, from its ring. */
export const MAX_UNWRITTEN_BYTES = 1_048_576;
/** How much of a file is searched for its first line. */
export const MAX_HEADER_BYTES = 16_384;
/** The longest possible line, searched from the end of a file that was cut off. */
export const MAX_LINE_BYTES = 8_388_608;
